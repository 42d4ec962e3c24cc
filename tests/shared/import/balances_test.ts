/** An opening balance plus all lines must equal the closing balance; a difference is reported. */
import type { Json } from "../../_support/books.ts";
import { assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import { presentMapping } from "../../../functions/mcp/tools/import_expenses/answer.ts";
import { type Mapping, readImport } from "../../../shared/import/read_import.ts";
import { en } from "../../../shared/words/en/mod.ts";

function read(text: string, mapping?: Mapping) {
  const result = readImport(text, mapping, "2026-11-23");
  if ("code" in result) throw new Error(JSON.stringify(result));
  return result;
}
const proofOf = (text: string, mapping?: Mapping) => {
  const { balances = {}, balance_proof } = read(text, mapping);
  return [balances.opening, balances.closing, balance_proof];
};
const days = (rows: string[]) => rows.map((row, i) => `2026-10-0${i + 1},${row}`).join("\n");
const table = (rows: string[]) => `Date,Description,Amount,Balance\n${days(rows)}`;

const ROWS = ["Pay,900,1000", "Rent,-700,300", "Umbuchung,-50,250", "Tea,-5,245"];
/** 100.00 before, 245.00 after; the transfer and the pay count. */
const SECTIONS = {
  mt940: (closing: string) =>
    ":20:1\n:25:12030000/202051\n:60F:C261001EUR100,00\n:61:261001C900,00NTRF\n:86:Pay\n:61:261002D700,00NTRF\n:86:Rent\n" +
    `:61:261003D50,00NTRF\n:86:Umbuchung\n:61:261004D5,00NTRF\n:86:Tea\n:62F:C261031EUR${
      closing.replace(".", ",")
    }\n-\n`,
  camt: (closing: string) => {
    const balance = (type: string, amount: string) =>
      `<Bal><Tp><CdOrPrtry><Cd>${type}</Cd></CdOrPrtry></Tp><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>CRDT</CdtDbtInd></Bal>`;
    const entry = (amount: string, side: string, status = "BOOK") =>
      `<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>${side}</CdtDbtInd><Sts>${status}</Sts>` +
      "<BookgDt><Dt>2026-10-01</Dt></BookgDt><AddtlNtryInf>Something</AddtlNtryInf></Ntry>";
    return `<Document><BkToCstmrStmt><Stmt>${balance("OPBD", "100.00")}${balance("CLBD", closing)}` +
      entry("900", "CRDT") + entry("755", "DBIT") + entry("60", "DBIT", "PDNG") + "</Stmt></BkToCstmrStmt></Document>";
  },
  table: (closing: string) =>
    `Opening balance,,100.00\nClosing balance,,${closing}\n\nDate,Description,Debit,Credit\n` +
    "2026-10-01,Pay,,900\n2026-10-02,Rent,755,\n",
  footer: (closing: string) =>
    `"Neuer Kontostand";"${
      closing.replace(".", ",")
    } EUR"\n\n"Buchungstag";"Vorgang";"Buchungstext";"Umsatz in EUR";"Wertstellung"\n` +
    '"01.10.2026";"x";"Pay";"900,00";"1"\n"02.10.2026";"x";"Rent";"-755,00";"1"\n"offen";"x";"Gas";"-60,00";"--"\n\n' +
    '"Alter Kontostand";"100,00 EUR"\n',
};

for (const [format, write] of Object.entries(SECTIONS)) {
  Deno.test(`opening and closing balances are checked against all lines: ${format}`, () => {
    assertEquals(proofOf(write("245.00")), ["100.00", "245.00", "proven"]);
    const wrong = read(write("240.00"));
    const currency = wrong.balances?.currency;
    assertEquals(wrong.balance_proof, { difference: "-5.00", ...(currency && { currency }) });
    const { assumed } = presentMapping(wrong.mapping as Json, en);
    assertMatch(assumed[0], /^The balances in the file moved by -(€?5.00|5.00 EUR) more than its rows say/);
  });
}

Deno.test("a closing balance has the file's day, its last line's if the lines prove it, or none", () => {
  const dayOf = (text: string) => read(text).balances?.closing_on;
  assertEquals(dayOf(SECTIONS.mt940("245.00")), "2026-10-31");
  assertEquals(dayOf(SECTIONS.mt940("240.00")), undefined, "the lines contradict it");
  assertEquals(dayOf(SECTIONS.table("245.00")), "2026-10-02");
  assertEquals(dayOf(SECTIONS.table("245.00").replace(/^.*\n/, "")), undefined, "nothing says or proves its day");
  assertEquals(dayOf(SECTIONS.footer("245.00").replace("Kontostand", "Kontostand vom 05.10.2026")), "2026-10-05");
});

Deno.test("a card's balances that its lines show to be a debt are negative, with or without a sign", () => {
  for (const sign of ["-", ""]) {
    const text =
      `"Karte";"Visa Kreditkarte";"4998 •••• •••• 1234"\n""\n"Alter Saldo:";"${sign}100,00 €"\n"Neuer Saldo:";"${sign}150,00 €"\n` +
      `""\n"Belegdatum";"Wertstellung";"Status";"Beschreibung";"Umsatztyp";"Betrag (€)";"Fremdwährungsbetrag"\n` +
      `"13.10.26";"13.10.26";"Gebucht";"REWE Markt";"Im Geschäft";"-50,00";""\n`;
    assertEquals(proofOf(text), ["-100.00", "-150.00", "proven"]);
  }
});

Deno.test("a balance in each row is checked against all lines, in any order of days", () => {
  const newestFirst = table(ROWS).replace(days(ROWS), days(ROWS).split("\n").toReversed().join("\n"));
  for (const csv of [table(ROWS), newestFirst]) assertEquals(proofOf(csv), ["100.00", "245.00", "proven"]);
  const mixed = [ROWS[1]!, ROWS[0]!, ROWS[3]!, ROWS[2]!];
  assertEquals(proofOf(table(mixed), { negative_is_expense: true }), ["100.00", "245.00", "proven"]);
  // The bank states it once a day.
  const daily = ["Pay,900,", "Rent,-700,300", "Umbuchung,-50,", "Tea,-5,245"];
  assertEquals(proofOf(table(daily)), ["100.00", "245.00", "proven"]);
  // A row with only a balance did not move money.
  assertEquals(proofOf(table(["Opening balance,100,100", ...ROWS])), ["100.00", "245.00", "proven"]);
  // One balance proves nothing; a card's balance may be a debt.
  assertEquals(proofOf(table(["Rent,-700,300", "Tea,-5,"]), { negative_is_expense: true }).at(-1), undefined);
  const owed = "Date,Description,Card no,Amount,Balance\n" + days(["A,1,-20,120", "B,1,-5,125", "C,1,50,75"]);
  assertEquals(proofOf(owed, { negative_is_expense: true }).at(-1), "proven");
});

Deno.test("a missing row or a reversed sign is a difference", () => {
  const missing = table([ROWS[0]!, ...ROWS.slice(2)]);
  assertEquals(proofOf(missing, { negative_is_expense: true }).at(-1), { difference: "-700.00" });
  // With a wrong answer, incoming money counts as spending.
  assertEquals(typeof proofOf(table(ROWS), { negative_is_expense: false }).at(-1), "object");
  // Nothing is reported until the answer.
  assertEquals(proofOf(missing), [undefined, undefined, undefined]);
});

Deno.test("accounts and currencies of one file have separate balances", () => {
  const head = "Type,Product,Started Date,Completed Date,Description,Amount,Fee,Currency,State,Balance\n";
  const row = (product: string, currency: string, amount: string, balance: string, fee = "0.00") =>
    `CARD_PAYMENT,${product},2026-10-13 12:00:00,2026-10-13 12:00:00,Shop,${amount},${fee},${currency},COMPLETED,${balance}\n`;
  const both = head + row("Current", "EUR", "-10.00", "90.00") + row("Current", "USD", "-1.00", "9.00") +
    row("Savings", "EUR", "-5.00", "5.00") + row("Current", "EUR", "-10.00", "79.50", "0.50") +
    row("Current", "USD", "-1.00", "8.00") + row("Savings", "EUR", "-5.00", "0.00");
  const { balances, balance_proof, account } = read(both);
  assertEquals([balances, balance_proof, account], [undefined, "proven", { name: "Revolut", kind: "account" }]);
  const { balance_proof: wrong } = read(both.replace("8.00", "7.00"));
  assertEquals(wrong, { difference: "-1.00", currency: "USD" });
});

Deno.test("a balance beside a pending row may or may not include its amount", () => {
  const pending = (balance: string, last: string) => {
    const rows = [
      "1,Shop,-5,95,Booked",
      "2,Work,50,145,Booked",
      `3,Hotel,-20,${balance},Pending`,
      `4,Tea,-1,${last},Booked`,
    ];
    const csv = `Date,Description,Amount,Balance,Status\n${rows.map((row) => `2026-10-0${row}`).join("\n")}`;
    const read = readImport(csv, { negative_is_expense: true });
    return "rows" in read && read.balance_proof;
  };
  assertEquals([pending("125", "124"), pending("125", "144"), pending("145", "144")], Array(3).fill("proven"));
  assertEquals(pending("125", "143"), { difference: "19.00" });
});

Deno.test("consecutive statements are checked as one, in either order", () => {
  const part = (opening: string, amount: string, closing: string) =>
    `:20:1\n:25:1/2\n:60F:C261001EUR${opening}\n:61:261001D${amount}NTRF\n:86:Shop\n:62F:C261002EUR${closing}\n-\n`;
  const [first, second] = [part("100,", "10,", "90,"), part("90,", "20,", "70,")];
  assertEquals(proofOf(first + second), ["100.00", "70.00", "proven"]);
  assertEquals(proofOf(second + first), ["100.00", "70.00", "proven"]);
  // A month is missing between them, so no line is at fault.
  assertEquals(proofOf(first + part("55,", "5,", "50,")), [undefined, undefined, "proven"]);
  assertEquals(proofOf(first + part("90,", "20,", "71,")), ["100.00", "71.00", {
    difference: "1.00",
    currency: "EUR",
  }]);
});

Deno.test("a balance in every row proves exactly the present rows", () => {
  const cents = fc.integer({ min: -90_000, max: 90_000 }).filter((value) => value !== 0);
  const money = (value: number) => (value / 100).toFixed(2);
  fc.assert(
    fc.property(
      fc.array(cents, { minLength: 3, maxLength: 9 }),
      fc.nat({ max: 8 }),
      fc.boolean(),
      (all, at, isNewest) => {
        let balance = 1_000_000;
        const rows = all.map((value) => `2026-10-01,Shop,${money(value)},${money(balance += value)}`);
        // A repeated balance allows another order of the same rows.
        fc.pre(new Set([money(1_000_000), ...rows.map((row) => row.split(",")[3])]).size > rows.length);
        const write = (kept: string[]) =>
          `Date,Description,Amount,Balance\n${(isNewest ? kept.toReversed() : kept).join("\n")}`;
        const read = (kept: string[]) => readImport(write(kept), { negative_is_expense: true });
        const whole = read(rows);
        if ("code" in whole) return assertEquals(whole.code, "invalid_argument.nothing_to_import");
        assertEquals(whole.balance_proof, "proven");
        // Without the row in the middle.
        const gone = 1 + at % (all.length - 2);
        const part = read(rows.filter((_, i) => i !== gone));
        if (!("code" in part)) assertEquals(typeof part.balance_proof, "object");
      },
    ),
    { numRuns: 300 },
  );
});
