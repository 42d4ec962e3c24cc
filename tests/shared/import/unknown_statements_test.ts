/** Statements of unknown layouts: proofs by columns, words, balances and future dates, and questions. */
import { assertEquals, assertMatch } from "@std/assert";
import { presentError } from "../../../functions/mcp/present/error.ts";
import { withoutBooking } from "../../../shared/import/kinds.ts";
import { decodeFile } from "../../../shared/import/decode_file.ts";
import { currencyInName } from "../../../shared/import/formats/csv_account.ts";
import { LAYOUTS } from "../../../shared/import/layouts/mod.ts";
import { type Mapping, readImport } from "../../../shared/import/read_import.ts";
import { en } from "../../../shared/words/en/mod.ts";

function read(csv: string, mapping: Mapping = {}, latest?: string) {
  const result = readImport(csv, mapping, latest);
  if (!("rows" in result)) throw new Error(JSON.stringify(result));
  return {
    spent: result.rows.map(({ amount, is_refund }) => (is_refund ? "-" : "") + amount).join(" "),
    left: result.left_out.map(({ kind, count }) => `${count} ${kind}`).join(", "),
    asked: result.questions.map(({ id }) => id).join(),
  };
}
const refused = (text: string) => {
  const result = readImport(text);
  if (!("code" in result)) throw new Error(JSON.stringify(result));
  // deno-lint-ignore no-explicit-any -- details differ by code
  return presentError(result, en) as any;
};
const days = (rows: string[]) => rows.map((row, i) => `2026-10-0${i + 1},${row}`).join("\n");

const newestFirst = (rows: string[]) => days(rows).split("\n").toReversed().join("\n");

Deno.test("balances before the rows prove the sign by the order of days", () => {
  const rows = ["Pay,900,100", "Rent,-700,1000", "Tea,-5,300", "Bus,-4,295"];
  const expected = { left: "1 income", asked: "" };
  assertEquals(read(`Date,Description,Amount,Saldo\n${days(rows)}`), { ...expected, spent: "700 5 4" });
  assertEquals(read(`Date,Description,Amount,Saldo\n${newestFirst(rows)}`), { ...expected, spent: "4 5 700" });
  const sides = ["Pay,,900,100", "Rent,700,,1000", "Tea,5,,300", "Bus,4,,295"];
  assertEquals(read(`Date,Description,X,Y,Z\n${days(sides)}`).spent, "700 5 4");
  assertEquals(read(`Date,Description,X,Y,Z\n${newestFirst(sides)}`).spent, "4 5 700");
  // With the other interpretation, these days descend. While that is a question, they prove nothing.
  const slashed = ["01/09/2026,Pay,900,1000", "02/08/2026,Rent,-700,300", "03/07/2026,Tea,-5,295"];
  const { spent, asked } = read(`Date,Description,Amount,Saldo\n${slashed.join("\n")}`);
  assertEquals([spent, asked], ["700 5", "date_format"]);
  // Unsigned amounts lead to a question instead of a reversal.
  const plain = ["Pay,900,100", "Rent,700,1000", "Tea,5,300", "Bus,4,295"];
  const unsigned = `Date,Description,Amount,Saldo\n${days(plain)}`;
  assertEquals(read(unsigned).asked, "negative_is_expense");
  assertEquals(read(unsigned, { negative_is_expense: false }).spent, "900 700 5 4");
});

Deno.test("two unknown letters mark sides in a file without a header, too", () => {
  const row = (i: number) => `1${i % 9}.10.2026;Shop ${i};16.10.2026;${i + 1},50;${i % 4 ? "O" : "I"}`;
  const rows = Array.from({ length: 12 }, (_, i) => row(i));
  assertEquals(read(rows.join("\n")).asked, "negative_is_expense");
  const odd = "19.10.2026;Shop;16.10.2026;12,50;EUR";
  assertEquals(read([...rows, odd].join("\n")).asked, "negative_is_expense");
});

Deno.test("account numbers, times and yes/no values do not become names", () => {
  const names = (csv: string) => {
    const result = readImport(csv, { negative_is_expense: true });
    if (!("rows" in result)) throw new Error(JSON.stringify(result));
    return result.rows.map(({ name, payee }) => [name, payee].filter(Boolean).join("/"));
  };
  assertEquals(names(`Date,Recipient,Category,Amount\n${days(["55501,Tea,-3", "55502,Bus,-4"])}`), ["Tea", "Bus"]);
  const answers = ["No,Beach,-3", "Yes,Beach,-3", "Yes,Beach,-3"];
  assertEquals(names(`Date,Billed,Description,Amount\n${days(answers)}`), ["Beach", "Beach", "Beach"]);
  const times = ["POS 6.49 at 09:53,FORSTER,-3", "POS 7.96 at 10:15,EDER,-4", "POS 9.90 at 13:04,BIPA,-5"];
  assertEquals(names(days(times)), ["FORSTER", "EDER", "BIPA"]);
});

Deno.test("a balance proves the sign, with the oldest row first or last, whatever the majority", () => {
  const rows = ["Pay,900,1000", "Rent,-700,300", "Pay,50,350", "Pay,60,410"];
  const expected = { spent: "700", left: "3 income", asked: "" };
  assertEquals(read(`Date,Description,Amount,Balance\n${days(rows)}`), expected);
  assertEquals(read(`Date,Description,Amount,Balance\n${newestFirst(rows)}`), expected);
  // A bank states it once a day, or lists a day in its own order.
  const daily = ["Pay,900,", "Rent,-700,300", "Tea,-5,295"];
  assertEquals(read(`Date,Description,Amount,Balance\n${days(daily)}`).asked, "");
  assertEquals(read(`Date,Description,Amount,Balance\n${newestFirst(daily)}`).asked, "");
  assertEquals(read(`Date,Description,Amount,Balance\n${days([rows[1]!, rows[0]!, rows[3]!, rows[2]!])}`), expected);
  // One row that doesn't add up ends the proof. A card's balance is a debt, so it proves nothing either.
  assertEquals(read(`Date,Description,Amount,Balance\n${days([...rows, "Tea,-5,1"])}`).asked, "negative_is_expense");
  assertEquals(
    read(`Date,Description,Card no,Amount,Balance\n${days(["A,1,20,120", "B,1,-5,115"])}`).asked,
    "negative_is_expense",
  );
});

Deno.test("a word for the direction in every row decides, in eight languages", () => {
  const pairs = ["Debit/Credit", "Soll/Haben", "Dépense/Revenu", "Gasto/Ingreso", "Uscita/Entrata", "Af/Bij"];
  for (const [out, into] of [...pairs, "Despesa/Receita", "Wydatek/Przychód"].map((pair) => pair.split("/"))) {
    const csv = `Date,Description,Amount,X\n${days([`Shop,12,${out}`, `Work,900,${into}`, `Work,900,${into}`])}`;
    assertEquals(read(csv), { spent: "12", left: "2 income", asked: "" }, out);
  }
  // A word without a direction changes the role of the column.
  assertEquals(
    read(`Date,Description,Amount,X\n${days(["Shop,-12,Debit", "Work,900,Giro"])}`).asked,
    "negative_is_expense",
  );
});

Deno.test("mixed signs raise a question, and a single sign does so only in a possible statement", () => {
  for (const rows of [["Shop,-12", "Tea,-3", "Work,900"], ["Shop,12", "Tea,3", "Back,-1"]]) {
    assertEquals(read(`Date,Description,Amount\n${days(rows)}`).asked, "negative_is_expense");
  }
  const list = `Date,Description,Amount\n${days(["Shop,12", "Tea,3"])}`;
  assertEquals(read(list), { spent: "12 3", left: "", asked: "" });
  assertEquals(read(list.replace("Tea", "Salary October")).asked, "negative_is_expense");
  assertEquals(read(list.replace("Date,", "Value date,")).asked, "negative_is_expense");
  assertEquals(read(list, { negative_is_expense: false }).spent, "12 3");
});

Deno.test("a sign that contradicts the balance raises a question, even in a known export", () => {
  const csv = "Date,Counter Party,Reference,Type,Amount (GBP),Balance (GBP)\n" +
    "13/10/2026,Shop,x,CONTACTLESS,12.00,88.00\n14/10/2026,Tea,x,CONTACTLESS,3.00,85.00\n";
  const { code, details } = refused(csv);
  assertEquals([code, details!.questions.map(({ id }: { id: string }) => id)], ["needs_answer", [
    "negative_is_expense",
  ]]);
  assertEquals(read(csv, { negative_is_expense: false }).spent, "12 3");
});

Deno.test("pending rows, reverted rows and own transfers of unknown banks are skipped by their words", () => {
  const rows = ["Shop,-12,Booked", "Gas,-60,Vorgemerkt", "Bar,-9,Reverted", "Umbuchung Sparen,-50,Booked"];
  const { spent, left } = read(`Date,Description,Amount,Status\n${days(rows)}`, { negative_is_expense: true });
  assertEquals([spent, left], ["12", "1 pending, 1 reverted, 1 own_transfer"]);
});

Deno.test("the balance of a closed account is an own transfer, but the bonus for the switch is not", () => {
  const rows = ["Shop,-12", "Kontowechsel,-500", "Kontowechsel Prämie,100", "Overstapservice bank,-30"];
  const { spent, left } = read(`Date,Description,Amount\n${days(rows)}`, { negative_is_expense: true });
  assertEquals([spent, left], ["12 30", "1 own_transfer, 1 income"]);
});

Deno.test("an incoming amount equal to a payment to the same payee is its refund; any other is income", () => {
  const rows = ["Shoe Shop,-129.99", "Shoe Shop,129.99", "Zara,-40.00", "Zara,39.90", "Employer,129.99"];
  assertEquals(read(`Date,Payee,Amount\n${days(rows)}`, { negative_is_expense: true }), {
    spent: "129.99 -129.99 40",
    left: "2 income",
    asked: "",
  });
});

Deno.test("German words are read even without umlauts", () => {
  const csv = "Buchungstag;Auftraggeber/Empfaenger;Betrag;Waehrung\n01.10.2026;Rueckzahlung Zalando;39,90;EUR";
  const { rows } = readImport(csv, { negative_is_expense: true }) as { rows: { payee?: string; is_refund?: true }[] };
  assertEquals(rows.map(({ payee, is_refund }) => [payee, is_refund]), [["Rueckzahlung Zalando", true]]);
});

Deno.test("a received payment shows the sign of credits, and one minus in a card's list is a refund", () => {
  const list = (rows: string[], above = "") => `${above}Date,Description,Amount\n${days(rows)}`;
  const charges = ["Shop,60", "Tea,50", "Bus,40"];
  assertEquals(read(list([...charges, "Payment received - thank you,-90"])), {
    ...{ spent: "60 50 40", left: "1 card_payment", asked: "" },
  });
  // Among many negative amounts, it is a returned payment. `autopay` means nothing in an account's statement.
  for (const rows of [["Shop,-60", "Tea,-50", "Payment received,-90", "Work,900"], [...charges, "Autopay,-90"]]) {
    assertEquals(read(list(rows)).asked, "negative_is_expense");
  }
  assertEquals(read(list(["Shop,-60", "Tea,-50", "Payment received,90"])).spent, "60 50");
  assertEquals(read(list(["Shop,60", "Tea,50", "Refund,-5", "Payment received,90"])).asked, "negative_is_expense");
  assertEquals(
    read(list(["Shop,60", "Tea,50", "Refund,-5", "Back,-6", "Payment received,90"])).asked,
    "negative_is_expense",
  );
  const card = "Credit card,1234\n";
  assertEquals(read(list([...charges, "Shop,-5"], card)).spent, "60 50 40 -5");
  assertEquals(read(list([...charges, "Autopay,-90"], card)).left, "1 card_payment");
  for (const rows of [["Shop,60", "Tea,50", "Shop,-5"], [...charges, "Salary,40", "Shop,-5"]]) {
    assertEquals(read(list(rows, card)).asked, "negative_is_expense");
  }
  // Any account may have a card.
  assertEquals(read(list([...charges, "Shop,-5"], "Card,1234\n")).asked, "negative_is_expense");
});

Deno.test("the balance shows whether fees in their own column are added or contained; otherwise they are reported", () => {
  const warned = (rows: string[], header = "Date,Description,Amount,Fee,Balance") => {
    const result = readImport(`${header}\n${days(rows)}`, {}, "2026-11-27");
    if ("code" in result) throw new Error(JSON.stringify(result));
    const said = result.mapping.assumed as { code: string; params: unknown }[];
    return [
      result.rows.map(({ amount }) => amount).join(" "),
      said.find(({ code }) => code === "fees_left_out")?.params,
    ];
  };
  assertEquals(warned(["Pay,900,0,1000", "Wire,-100,2.50,897.50", "Tea,-7,0,890.50"]), ["102.5 7", undefined]);
  assertEquals(warned(["Pay,900,0,1000", "Wire,-100,2.50,900", "Tea,-7,0,893"]), ["100 7", undefined]);
  const params = { count: 1, column: "Fee" };
  // The balance before the first row is unknown.
  assertEquals(warned(["Wire,-100,2.50,900", "Pay,900,0,1800", "Tea,-7,0,1793"]), ["100 7", params]);
  assertEquals(warned(["Wire,100,2.50", "Tea,7,0"], "Date,Description,Amount,Fee"), ["100 7", params]);
  assertEquals(warned(["Wire,100,0", "Tea,7,0"], "Date,Description,Amount,Fee"), ["100 7", undefined]);
  assertEquals(warned(["Pay,900,0,1000", "Fee of the month,,2.50,997.50", "Tea,-7,0,990.50"]), ["2.5 7", undefined]);
  assertMatch(en.assumptions.fees_left_out(params), /1 cell of "Fee" left out/);
});

Deno.test("a second table with other columns is reported, a repeated header in another language is skipped", () => {
  const table = `Date,Description,Amount,Balance\n${days(["Shop,-5,95", "Pay,50,145", "Tea,-2,143"])}\n`;
  const other = readImport(`${table}Date,Merchant,Category,Amount\n2026-10-09,Flowers,Gift,40\n${table}`);
  assertEquals("rows_bad" in other && other.rows_bad.map(({ line, error }) => [line, error.code]), [
    [6, "invalid_argument.row_of_other_table"],
  ]);
  assertEquals(read(table.replace("\n", "\nDatum,Beschreibung,Betrag,Saldo\n")).spent, "5 2");
  // A row of texts isn't a sum, so it is reported, and the following rows count.
  const broken = readImport(`${table}Some,text,of,someone\n2026-10-09,Bun,-1,142\n`, {}, "2026-11-27");
  assertEquals("rows_bad" in broken && [broken.rows_bad.map(({ line }) => line), broken.rows.length], [[5], 3]);
});

Deno.test("a row called total is skipped only if it sums up rows, and a balance column makes a list a statement", () => {
  const list = (rows: string[]) => read(`Date,Description,Amount\n${days(rows)}`);
  assertEquals(list(["Shop,5", "Tea,3", "Total Access 44,60"]), { spent: "5 3 60", left: "", asked: "" });
  assertEquals(list(["Shop,5", "Tea,3", "Total,8"]), { spent: "5 3", left: "1 split", asked: "" });
  assertEquals(list(["Opening balance,100", "Shop,5", "Tea,3", "Total,8"]).left, "1 balance, 1 split");
  // A row without a day whose word means a total is omitted only if it is a sum.
  const undated = (row: string) => {
    const result = readImport(`Date,Description,Place,Amount\n2026-10-01,Shop,Ulm,5\n${row}\n2026-10-03,Tea,Ulm,3\n`);
    return "rows_bad" in result && result.rows_bad.length;
  };
  assertEquals([undated(",Total,,5"), undated(",Total Access,Ulm,5")], [0, 1]);
  assertEquals(
    read(`Date,Description,Amount,Balance\n${days(["Shop,5,100", "Tea,3,50"])}`).asked,
    "negative_is_expense",
  );
});

Deno.test("withoutBooking() removes the bank's own words only from both ends", () => {
  const texts = {
    "VISA Debitkartenumsatz vom 12.10. REWE SAGT DANKE": "rewe sagt danke",
    "Zakup przy użyciu karty BIEDRONKA": "biedronka",
    "NOBU BERLIN Card Payment": "nobu berlin",
    "Hotel Visa Plaza": "hotel visa plaza",
    "Kartenzahlung": "",
  };
  for (const [text, rest] of Object.entries(texts)) assertEquals(withoutBooking(text), rest, text);
});

Deno.test("only an owner's label above the table names the owner of an account", () => {
  const mayBeOwn = (label: string) => {
    const above = `${label};Erika Muster\n\nBuchungstag;Empfänger;Zweck;Betrag;IBAN\n`;
    const result = readImport(`${above}01.10.2026;Erika Muster;Sparen;-5,00;DE1\n02.10.2026;Rewe;Danke;-6,00;DE2\n`);
    return "rows" in result && result.rows.map(({ may_be_own }) => may_be_own);
  };
  assertEquals(mayBeOwn("Kontoinhaber"), [true, undefined]);
  assertEquals(mayBeOwn("Berater"), [undefined, undefined]);
});

Deno.test("a section's title sets the direction only for amounts without signs", () => {
  const sections = (refund: string, charge: string) =>
    read(`Date,Description,Amount\nRefunds\n2026-10-01,Zara,${refund}\nPurchases\n2026-10-02,Shop,${charge}\n`);
  assertEquals(sections("20", "50"), { spent: "-20 50", left: "", asked: "" });
  assertEquals(sections("20", "-50").asked, "negative_is_expense");
});

Deno.test("a column of payments beside charges is money in, and two other columns of money out are refused", () => {
  const sides = (header: string) => `Date,Description,${header}\n${days(["Hotel,100,", "Fee,3,", "Payment,,500"])}`;
  const right = { spent: "100 3", left: "1 income", asked: "" };
  assertEquals(read(sides("Charges,Payments")), right);
  assertEquals(read(`Date,Description,Payments,Charges\n${days(["Hotel,,100", "Fee,,3", "Bill,500,"])}`), right);
  assertEquals(read(sides("Payments,Deposits")), right);
  assertEquals(refused(sides("Spent,Charges")).code, "invalid_argument");
});

Deno.test("letters that may mark incoming money make a list a question, unless they mean yes or no", () => {
  const list = (cells: string[]) => `Date,Description,Mark,Amount\n${days(cells)}`;
  assertEquals(read(list(["Shop,N,5", "Work,P,900"])).asked, "negative_is_expense");
  assertEquals(read(list(["Shop,Buy,5", "Work,Deposit,900"])).asked, "negative_is_expense");
  for (const cells of [["Shop,Y,5", "Book,N,9"], ["Shop,N,5", "Book,N,9"], ["Shop,Card,5", "Book,Cash,9"]]) {
    assertEquals(read(list(cells)).asked, "");
  }
});

Deno.test("files of other kinds are refused by name", () => {
  const kinds = {
    "XLSX or ZIP": "PK\u0003\u0004abc",
    PDF: "%PDF-1.7",
    HTML: "<!DOCTYPE html><table>",
    JSON: '[{"a":1}]',
    XML: "<?xml version='1.0'?><a/>",
  };
  for (const [kind, text] of Object.entries(kinds)) assertMatch(refused(text).message, new RegExp(kind));
  assertMatch(refused("%PDF-1.7").hint!, /CSV, TSV, XLSX, OFX, QFX, QIF, MT940 and camt/);
  // A document type may define entities that grow endlessly.
  const camt =
    '<?xml version="1.0"?><!DOCTYPE a [<!ENTITY b "c">]><Document><BkToCstmrStmt><Stmt/></BkToCstmrStmt></Document>';
  assertEquals(refused(camt).message.includes("damaged"), true);
});

Deno.test("decodeFile() reads bytes in any encoding that banks use", () => {
  const text = "Datum;Empfänger;Betrag\n01.10.2026;Café;-5,00\n";
  const wide = (isBig: boolean) => {
    const bytes = new Uint8Array(text.length * 2);
    [...text].forEach((letter, i) => new DataView(bytes.buffer).setUint16(i * 2, letter.charCodeAt(0), !isBig));
    return bytes;
  };
  const latin = Uint8Array.from(text, (letter) => letter.charCodeAt(0));
  const utf8 = new TextEncoder().encode(text);
  const mojibake = new TextEncoder().encode(new TextDecoder("windows-1252").decode(utf8));
  const files = {
    utf8,
    marked: Uint8Array.from([0xef, 0xbb, 0xbf, ...utf8]),
    latin,
    mojibake,
    le: wide(false),
    be: wide(true),
  };
  for (const [name, bytes] of Object.entries(files)) assertEquals(decodeFile(bytes).text, text, name);
  assertEquals(decodeFile(Uint8Array.from([0x35, 0x20, 0x80])).text, "5 €");
});

Deno.test("currencyInName() returns the only currency code in a file's name", () => {
  const names = {
    "statement_SEK_2026-10.csv": "SEK",
    "CHF Konto.csv": "CHF",
    "EUR-USD.csv": undefined,
    "ALL accounts.csv": undefined,
    "CSVEURO.csv": undefined,
  };
  for (const [name, currency] of Object.entries(names)) assertEquals(currencyInName(name), currency, name);
});

Deno.test("layout names are unique, and every layout has fixtures", async () => {
  const names = LAYOUTS.filter(({ refused }) => !refused).map(({ name }) => name);
  assertEquals(new Set(names).size, names.length);
  const folder = new URL("../../fixtures/statements/", import.meta.url);
  const tried = await Promise.all(
    [...Deno.readDirSync(folder)].map(async ({ name }) =>
      JSON.parse(await Deno.readTextFile(new URL(`${name}/expected.json`, folder))).layout
    ),
  );
  // tests/db/list_expenses_test.ts tests our own.
  assertEquals(names.filter((name) => name !== "list_expenses" && !tried.includes(name)), []);
});

Deno.test("an unreadable file is refused with the expected formats and its first lines", () => {
  const files = {
    "Dear customer\n\nhere is your statement.": ["a date, an amount and a name", "Dear customer"],
    "Date;Description;Amount\n": ["a date, an amount and a name", "Date;Description;Amount"],
    "OFXHEADER:100\n<OFX><BANKTRANLIST></BANKTRANLIST></OFX>": ["No payments", "OFXHEADER:100"],
  };
  for (const [text, parts] of Object.entries(files)) {
    const { message } = refused(text);
    for (const part of parts) assertEquals([part, message.includes(part)], [part, true], message);
  }
  assertEquals(refused(`Hello ${"x".repeat(500)}`).message.length < 400, true);
});
