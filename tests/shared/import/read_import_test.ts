/** Files as banks, programs and people write them, parsed to the same plain rows; the result reports assumptions. */
import type { Json } from "../../_support/books.ts";
import process from "node:process";
import { assert, assertEquals, assertMatch } from "@std/assert";
import fc from "fast-check";
import { presentError } from "../../../functions/mcp/present/error.ts";
import {
  presentBadRows,
  presentLeftOut,
  presentMapping,
  presentQuestions,
} from "../../../functions/mcp/tools/import_expenses/answer.ts";
import type { ToolError } from "../../../shared/connector/result.ts";
import { type ImportRow, type Mapping, MAX_ROWS, readImport } from "../../../shared/import/read_import.ts";
import { en } from "../../../shared/words/en/mod.ts";
import { repairText } from "../../../shared/import/repair_text.ts";

/** The result in words. */
type Told = ReturnType<typeof read>;
function read(csv: string, mapping?: Mapping, latest?: string) {
  const result = readImport(csv, mapping, latest);
  if (!("rows" in result)) throw new Error(JSON.stringify(result));
  return {
    ...result,
    rows_bad: presentBadRows(result.rows_bad, en) as { line: number; reason: string }[],
    left_out: presentLeftOut(result.left_out, en) as { kind: string; message: string; lines: number[] }[],
    questions: presentQuestions(result.questions, en) as { id: string; message: string; default?: unknown }[],
    mapping: presentMapping(result.mapping as Json, en),
  };
}
function problem(csv: string, mapping?: Mapping): ToolError {
  const result = readImport(csv, mapping);
  if (!("code" in result)) throw new Error(JSON.stringify(result));
  return presentError(result, en);
}
const short = ({ rows }: Told) =>
  rows.map(({ date, amount, name, currency = "", is_refund }: ImportRow) =>
    `${date} ${is_refund ? "-" : ""}${amount}${currency} ${name}`
  );
const assumed = ({ mapping }: Told) => mapping.assumed as string[];
const asked = ({ questions }: Told) => questions.map(({ id }) => id);

Deno.test("readImport() knows the header words of eight languages", () => {
  const headers: Record<string, string> = {
    English: "Date,Description,Merchant,Amount,Currency,Category,Notes",
    German: "Buchungstag;Verwendungszweck;Empfänger;Betrag;Währung;Kategorie;Notiz",
    French: "Date d'opération;Libellé;Bénéficiaire;Montant;Devise;Catégorie;Commentaire",
    Spanish: "Fecha operación;Concepto;Comercio;Importe;Divisa;Categoría;Observaciones",
    Italian: "Data operazione;Descrizione;Esercente;Importo;Divisa;Categoria;Nota",
    Dutch: "Boekdatum;Omschrijving;Tegenpartij;Bedrag;Munt;Categorie;Opmerking",
    Portuguese: "Data movimento;Descrição;Estabelecimento;Montante;Moeda;Categoria;Observações",
    Polish: "Data operacji;Opis;Sprzedawca;Kwota;Waluta;Kategoria;Uwagi",
  };
  for (const [language, header] of Object.entries(headers)) {
    const delimiter = header.includes(";") ? ";" : ",";
    const cells = ["2026-10-05", "Lunch", "Café", "14.50", "EUR", "Food", "nice"];
    const { rows, mapping } = read(`${header}\n${cells.join(delimiter)}\n`);
    assertEquals(rows, [
      {
        line: 2,
        date: "2026-10-05",
        amount: "14.5",
        name: "Lunch",
        currency: "EUR",
        payee: "Café",
        category: "Food",
        note: "nice",
        text: "Lunch Café nice",
      },
    ], language);
    const columns = header.split(delimiter);
    assertEquals(
      [mapping.date, mapping.name, mapping.payee, mapping.amount, mapping.note],
      [0, 1, 2, 3, 6].map((i) => columns[i]),
      language,
    );
    assertEquals(mapping.assumed, [], language);
  }
});

Deno.test("readImport() reads bank statements with a preamble", () => {
  const german = read(
    `"Kontonummer:";"DE00 / Girokonto"\n\n"Kontostand vom 06.10.2026:";"1.000,00 EUR"\n\n` +
      `"Buchungstag";"Wertstellung";"Auftraggeber / Begünstigter";"Verwendungszweck";"Betrag (EUR)"\n` +
      `"05.10.2026";"05.10.2026";"REWE";"EINKAUF SAGT DANKE";"-1.234,56"\n"01.10.26";"01.10.26";"ACME";"GEHALT";"2.500,00"\n`,
  );
  assertEquals(short(german), ["2026-10-05 1234.56EUR EINKAUF SAGT DANKE"]);
  assertEquals([
    german.mapping.header_line,
    german.mapping.delimiter,
    german.mapping.date_format,
    german.mapping.decimal,
  ], [5, ";", "DD.MM.YYYY", ","]);
  assertEquals(german.left_out.map(({ message, lines }) => [message, lines]), [[
    "1 incoming payment (recorded as income, not as spending)",
    [7],
  ]]);
  // A booking day and a counterparty belong to an account, on which spending is negative.
  assertEquals(asked(german), []);
  const british = read("Date,Description,Paid out,Paid in\n13/10/2026,SHOP,£12.00,\n14/10/2026,SALARY,,900.00\n");
  assertEquals([short(british), british.rows_bad, asked(british), british.left_out.map(({ kind }) => kind)], [
    ["2026-10-13 12GBP SHOP"],
    [],
    [],
    ["income"],
  ]);
  const tabs = read("sep=\t\nDatum\tNaam\tBedrag\n2026-10-01\tBrood\t2,50\n");
  assertEquals([short(tabs), tabs.mapping.delimiter], [["2026-10-01 2.5 Brood"], "tab"]);
});

Deno.test('readImport() reads ="14.50", the form in which spreadsheets keep a text', () => {
  const csv = 'Date,Name,Amount\n2026-10-01,="Kiosk",="14.50"\n2026-10-02,"=""Tea""","=""4.00"""\n';
  assertEquals(short(read(csv)), ["2026-10-01 14.5 Kiosk", "2026-10-02 4 Tea"]);
});

Deno.test("readImport() distinguishes decimal commas from points, with either as thousands separator", () => {
  const amounts = (list: string[], mapping?: Mapping) => {
    const result = read(["Date;Name;Amount", ...list.map((amount) => `2026-10-01;x;${amount}`)].join("\n"), mapping);
    return [result.rows.map(({ amount }) => amount).join(" "), result.mapping.decimal, asked(result).length];
  };
  assertEquals(amounts(["1,50", "1.234,50", "1.234"]), ["1.5 1234.5 1234", ",", 0]);
  assertEquals(amounts(["1.50", "1,234.50", "1,234"]), ["1.5 1234.5 1234", ".", 0]);
  assertEquals(amounts(["12", "1,234,567"]), ["12 1234567", ".", 0]);
  assertEquals(amounts(["1'234.50", "1 234,50".replace(",", "."), "12,34,567.00"]), ["1234.5 1234.5 1234567", ".", 0]);
  // Three digits after the only separator, without other hints.
  assertEquals(amounts(["1.234", "5"]), ["1234 5", ",", 1]);
  assertEquals(amounts(["1,234", "5"]), ["1234 5", ".", 1]);
  assertEquals(amounts(["1,234", "5"], { decimal: "," }), ["1.234 5", ",", 0]);
  assertEquals(amounts(["0.125"]), ["0.125", ".", 0]);
});

Deno.test("readImport() finds signs and currencies wherever they are", () => {
  const row = (amount: string) =>
    short(read(`Date;Name;Amount\n2026-10-01;x;${amount}`, { decimal: ".", negative_is_expense: false }))[0];
  const expected: Record<string, string> = {
    "€5.00": "5EUR",
    "5.00 €": "5EUR",
    "EUR 5.00": "5EUR",
    "5.00EUR": "5EUR",
    "-€5.00": "-5EUR",
    "€-5.00": "-5EUR",
    "(5.00)": "-5",
    "5.00-": "-5",
    "−5.00": "-5",
    "$5": "5$",
    "US$5": "5USD",
    "₹ 1,00,000.50": "100000.5INR",
    "5 zł": "5PLN",
    "+5": "5",
    "R$ 5": "5BRL",
    "kr 5": "5kr",
    "5 DR": "-5",
    "5,--": "5",
  };
  for (const [amount, plain] of Object.entries(expected)) assertEquals(row(amount), `2026-10-01 ${plain} x`, amount);
  for (const bad of ["five", "5 apples", "1.2.3.4", "--5", "5€5", "1,2,3"]) {
    assertEquals(
      read(`Date;Name;Amount\n2026-10-01;y;1.00\n2026-10-01;y;2.00\n2026-10-01;x;${bad}`).rows_bad.length,
      1,
      bad,
    );
  }
  assertEquals(read("Date,Name,Amount in USD\n2026-10-01,x,5").rows[0]!.currency, "USD");
});

Deno.test("readImport() reads dates in any order, and asks when no row proves it", () => {
  const dates = (list: string[], mapping?: Mapping, latest?: string) => {
    const result = read(["Date;Name;Amount", ...list.map((date) => `${date};x;1`)].join("\n"), mapping, latest);
    return [
      result.rows.map(({ date }) => date.slice(5)).join(" "),
      result.mapping.date_format,
      result.rows_bad.length,
      result.questions[0]?.default ?? asked(result).length,
    ];
  };
  assertEquals(dates(["03/04/2026", "13/04/2026"]), ["04-03 04-13", "DD/MM/YYYY", 0, 0]);
  assertEquals(dates(["03/04/2026", "04/13/2026"]), ["03-04 04-13", "MM/DD/YYYY", 0, 0]);
  assertEquals(dates(["03/04/2026"]), ["04-03", "DD/MM/YYYY", 0, 1]);
  assertEquals(dates(["03/04/2026"], { date_format: "MM/DD/YYYY" }), ["03-04", "MM/DD/YYYY", 0, 0]);
  // These are in order only with the month first, which is likely but not proven.
  assertEquals(dates(["01/09/2026", "02/03/2026", "03/05/2026"]), ["01-09 02-03 03-05", "MM/DD/YYYY", 0, "MM/DD/YYYY"]);
  assertEquals(dates(["13/04/2026", "14/04/2026", "04/15/2026"]), ["04-13 04-14", "DD/MM/YYYY", 1, 1]);
  // The order makes no difference, or the other order yields a future date.
  assertEquals(dates(["05/05/2026", "06/06/2026"])[3], 0);
  assertEquals(dates(["05/11/2026", "06/11/2026"], {}, "2026-11-22"), ["11-05 11-06", "DD/MM/YYYY", 0, 1]);
  assertEquals(dates(["05/12/2026", "06/11/2026"], {}, "2026-11-22"), ["05-12 06-11", "MM/DD/YYYY", 0, 0]);
  assertEquals(dates(["11/12/2026", "12/11/2026"], {}, "2026-11-22"), ["12-11 11-12", "DD/MM/YYYY", 0, 1]);
  assertEquals(dates(["20261005", "2026-10-06T12:30:00Z", "2026/10/07"]), ["10-05 10-06 10-07", "YYYY-MM-DD", 0, 0]);
  assertEquals(
    dates(["5 Oct 2026", "Oct 6, 2026", "7. März 2026", "8-déc-26", "Thu, 9 Oct 2026", "10 de maio de 2026"])[0],
    "10-05 10-06 03-07 12-08 10-09 05-10",
  );
  assertEquals(dates(["29.02.2025", "28.02.2025", "1.3.2025 10:15"]), ["02-28 03-01", "DD.MM.YYYY", 1, 0]);
});

Deno.test("readImport() works without a header, and the mapping overrides it", () => {
  const bare = read("05.10.2026;Coffee;3,50\n06.10.2026;Tea;2,00\n");
  assertEquals(short(bare), ["2026-10-05 3.5 Coffee", "2026-10-06 2 Tea"]);
  assertMatch(assumed(bare)[0]!, /no header line/);
  const odd = "When,What,A,B\n2026-10-01,x,1,2\n";
  assertEquals(short(read(odd, { amount: "B", date: "when", name: "What" })), ["2026-10-01 2 x"]);
  assertEquals(short(read("2026-10-01,1,2,x\n", { amount: "3" })), ["2026-10-01 2 x"]);
  assertEquals(read("Date,Name,Amount,Category\n2026-10-01,x,1,Junk", { category: "" }).rows[0]!.category, undefined);
  const { field, hint } = problem(odd, { amount: "Cost" });
  assertEquals([field, hint], ["mapping.amount", "Say in mapping which column it is. The columns: When, What, A, B."]);
  assertEquals(problem("Name,Amount\nx,5\n").field, "mapping.date");
  assertEquals(problem("\n\n").field, "csv");
  assertMatch(problem("Date,Name,Amount\n").message, /^No payments were found: .*Date,Name,Amount/);
});

Deno.test("readImport() counts lines like an editor and keeps quoted text whole", () => {
  const { rows, rows_bad } = read(
    'Date,Name,Amount,Note\r\n2026-10-01,"Two\r\nlines, one cell",1,"say ""hi"""\r\n\r\n2026-10-02,Thousands,many,\r\n',
  );
  const name = "Two lines, one cell";
  assertEquals(rows, [{ line: 2, date: "2026-10-01", amount: "1", name, note: 'say "hi"', text: `${name} say "hi"` }]);
  assertEquals(rows_bad.map(({ line }) => line), [5]);
  const moved = read("Date,Name,Amount\n2026-10-02,Thousands,1,234.50\n2026-10-02,Fine,1.50\n");
  // The result omits the amount of cells in the wrong columns.
  assertEquals(moved.rows_bad, [{
    ...{ line: 2, text: "Thousands", date: "2026-10-02", direction: "out" },
    reason: "There are 4 cells under 3 columns; text containing a , needs quotation marks.",
  }]);
});

Deno.test("repairText() repairs text decoded with the wrong encoding, and reports lost letters", () => {
  const text = "Date;Name;Betrag\n2026-10-01;Café “Münze” – Straße;5,00 €\n";
  const latin = (bytes: Uint8Array) => Array.from(bytes, (byte) => String.fromCharCode(byte)).join("");
  const utf8 = new TextEncoder().encode(text);
  assertEquals(repairText(text), { text });
  assertEquals(repairText(`\ufeff${text}`), { text });
  assertEquals(repairText(new TextDecoder("windows-1252").decode(utf8)), {
    text,
    encoding: "utf-8 read as windows-1252",
  });
  assertEquals(repairText(latin(utf8)), { text, encoding: "utf-8 read as windows-1252" });
  const ascii = "Date,Name,Amount\n2026-10-01,Tea,2\n";
  assertEquals(repairText(`ÿþ${[...ascii].join("\0")}\0`), { text: ascii, encoding: "utf-16 read byte by byte" });
  // Windows-1252 read as Latin-1: only the control characters are wrong.
  assertEquals(repairText("5 \u0080").text, "5 €");
  assertEquals(repairText("Caf\ufffd"), { text: "Caf\ufffd", encoding: "damaged" });
  // Text that only looks damaged remains unchanged.
  assertEquals(repairText("Câmara São João, 5 €"), { text: "Câmara São João, 5 €" });
});

Deno.test("readImport() recognizes columns with damaged letters, and currencies by their cells", () => {
  const damaged = read(
    "Buchungstag;Empf\ufffdnger;Verwendungszweck;Betrag;W\ufffdhrung;Saldo\n" +
      "05.10.2026;REWE;Einkauf;-3000;JPY;1\n06.10.2026;REWE;Einkauf;-20,00;USD;2\n31.02.2026;REWE;Einkauf;-1;EUR;3\n",
  );
  assertEquals(damaged.rows.map(({ amount, currency, payee }) => [amount, currency, payee]), [
    ["3000", "JPY", "REWE"],
    ["20", "USD", "REWE"],
  ]);
  assertEquals([damaged.mapping.ignored, damaged.rows_bad[0]!.reason], [
    [],
    '"31.02.2026" is not a date in the format DD.MM.YYYY.',
  ]);
  assertEquals(
    read("Date,Name,Amount,W\ufffdhrung\n2026-10-01,x,5,JPY\n", { currency: "Währung" }).rows[0]!.currency,
    "JPY",
  );

  const currencies = (header: string, row: string, mapping?: Mapping) => {
    const result = read(`${header}\n${row}\n`, mapping);
    return [result.rows[0]!.currency, result.mapping.ignored, assumed(result).join(" ")];
  };
  assertEquals(currencies("Date,Name,Amount,W?", "2026-10-01,x,5,JPY"), [
    "JPY",
    [],
    '"W?" was identified as the currency by its contents.',
  ]);
  assertEquals(currencies("Date,Name,Amount,Till", "2026-10-01,x,5,POS"), [undefined, ["Till"], ""]);
  assertEquals(currencies("Date,Name,Amount (EUR),C", "2026-10-01,x,5,USD"), ["EUR", ["C"], ""]);
  assertEquals(currencies("Date,Name,Amount,Original currency", "2026-10-01,x,5,USD")[0], undefined);
  assertEquals(currencies("Date,Name,Amount,C", "2026-10-01,x,5,USD", { currency: "" })[0], undefined);
  assertEquals(currencies("Date,Name,Amount,A,B", "2026-10-01,x,5,USD,EUR"), [
    undefined,
    ["A", "B"],
    'Several columns contain currencies ("A" and "B"), so none was used for the amount. Set mapping.currency.',
  ]);
});

Deno.test("readImport() quickly returns rows or an error for any text", () => {
  const cell = fc.oneof(
    fc.string({ maxLength: 20 }),
    fc.constantFrom("2026-10-01", "1.234,50", "Date", "Betrag", '"', ";", "\n", "-5", "€", "('", "1".repeat(400)),
  );
  fc.assert(
    fc.property(
      fc.array(fc.array(cell, { maxLength: 6 }), { maxLength: 12 }),
      fc.constantFrom(",", ";", "\t"),
      (rows, delimiter) => {
        const result = readImport(repairText(rows.map((cells) => cells.join(delimiter)).join("\n")).text);
        if ("code" in result) return assertMatch(presentError(result, en).message, /\.$/);
        for (const row of result.rows) {
          assertMatch(row.date, /^\d{4}-\d{2}-\d{2}$/);
          assertMatch(row.amount, /^\d{1,12}(\.\d+)?$/);
          assert(row.name.length >= 1 && row.name.length <= 120);
        }
      },
    ),
    { numRuns: 500 },
  );
});

{
  const cells: Record<string, string> = {
    digits: "1".repeat(60_000) + "x1",
    brackets: "(".repeat(400_000),
    points: "1.".repeat(200_000) + "x-1",
    spaces: "1" + " ".repeat(400_000) + "1",
    letters: "x".repeat(400_000) + "1",
    lost: "abc" + "\ufffd".repeat(90) + "z",
  };
  const files: Record<string, string> = {
    "20,000 columns": Array(20_000).fill("date").join() + "\n" + "a,b\n".repeat(MAX_ROWS),
    "200 columns": `${Array(200).fill("date").join()}\n`.repeat(500),
    "200 columns of days": `${Array(200).fill("date").join()}\n` + `${Array(200).fill("1.2").join()}\n`.repeat(600),
  };
  const camt = (details: string) => `<Document xmlns="camt.053"><Stmt><Ntry>${details}`;
  files["details of one camt entry"] = camt("<TxDtls><IBAN>1</IBAN></TxDtls>".repeat(12_000));
  files["groups of details of one camt entry"] = camt("<NtryDtls><TxDtls/></NtryDtls>".repeat(12_000));
  for (const [name, text] of Object.entries(cells)) {
    files[`${name} as a header`] = `date;${text};name\n2026-10-01;5;a\n`;
    files[`${name} as an amount`] = `date;amount;name\n2026-10-01;${text};a\n`;
    files[`${name} as a date`] = `date;amount;name\n${text};5;a\n`;
    files[`${name} as a name`] = `date;amount;name\n2026-10-01;5;${text}\n`;
  }
  const mapping = { payee: "abc" + "s".repeat(100) };
  for (const [name, csv] of Object.entries(files)) {
    Deno.test(`readImport() is fast: ${name}`, () => {
      const since = process.cpuUsage();
      readImport(csv);
      readImport(csv, mapping);
      const { user, system } = process.cpuUsage(since);
      const ms = (user + system) / 1000;
      assert(ms < 3000, `took ${ms} ms`);
    });
  }

  Deno.test("readImport() refuses a file that is too wide", () => {
    const wide = problem(files["20,000 columns"]!);
    assertEquals(wide.message, "Line 1 has more than 200 cells, the maximum for an import.");
  });
}

Deno.test("readImport() reads a column of links, and reports cells that are not links", () => {
  const csv = "Date,Name,Amount,Receipt\n2026-10-05,Lunch,14.50,https://shop.example.com/7\n2026-10-06,Tea,3.00,lost\n";
  const { rows, mapping } = read(csv, { url: "Receipt" });
  assertEquals(rows.map(({ name, url }) => [name, url]), [["Lunch", "https://shop.example.com/7"], ["Tea", undefined]]);
  assertEquals(mapping.url, "Receipt");
  assertMatch((mapping.assumed as string[]).join(), /1 cell of "Receipt" left out: not a link/);
  // Receipt numbers are not links, whatever the header is.
  assertEquals(read(csv.replace(/https\S+/, "4711")).mapping.url, undefined);
});

Deno.test("readImport() lists each skipped line with the bank's own words", () => {
  const csv = "Type,Product,Started Date,Completed Date,Description,Amount,Fee,Currency,State,Balance\n" +
    "CARD_PAYMENT,Current,2026-10-13 12:34:56,2026-10-13 12:34:56,UBER   *TRIP,-23.45,0.00,EUR,COMPLETED,\n" +
    "EXCHANGE,Current,2026-10-14 12:34:56,2026-10-14 12:34:56,Exchanged to USD,-50.00,0.00,EUR,COMPLETED,\n" +
    "EXCHANGE,Current,2026-10-14 12:34:56,2026-10-14 12:34:56,Exchanged to USD,-50.00,0.50,EUR,COMPLETED,\n" +
    "TOPUP,Current,soon,,Top-up,20.00,0.00,EUR,COMPLETED,\n" +
    "TOPUP,Current,2026-10-15 12:34:56,2026-10-15 12:34:56,,20.00,0.00,EUR,COMPLETED,\n";
  const { rows, leftOutRows, left_out } = read(csv);
  assertEquals(rows.map(({ line, amount, text }) => [line, amount, text]), [
    [2, "23.45", "UBER *TRIP"],
    // The fee of the second exchange is spending; its line is listed once.
    [4, "0.5", "Exchanged to USD"],
  ]);
  assertEquals(leftOutRows, [
    {
      ...{ line: 3, kind: "exchange", date: "2026-10-14", name: "Exchanged to USD", amount: "50" },
      ...{ currency: "EUR", direction: "out", text: "Exchanged to USD" },
    },
    {
      ...{ line: 6, kind: "top_up", date: "2026-10-15", name: "TOPUP", amount: "20" },
      ...{ currency: "EUR", direction: "in", text: "TOPUP" },
    },
  ]);
  assertEquals(left_out.map(({ kind, lines }) => [kind, lines]), [["exchange", [3, 4]], ["top_up", [5, 6]]]);
  const long = read(`Date,Name,Amount,Note\n2026-10-01,${"a".repeat(300)},1,${"b ".repeat(300)}`).rows[0]!;
  assertEquals([long.name.length, long.text.length, long.text.endsWith("…")], [120, 500, true]);
});

Deno.test("readImport() counts the entries of a one-line document", () => {
  const entry = (amount: string) =>
    `<Ntry><Amt Ccy="EUR">${amount}</Amt><CdtDbtInd>DBIT</CdtDbtInd><BookgDt><Dt>2026-10-01</Dt></BookgDt>` +
    "<AddtlNtryInf>Tea</AddtlNtryInf></Ntry>";
  const camt = (end: string) =>
    ["<Document><BkToCstmrStmt><Stmt>", ...["1", "2", "3"].map(entry), "</Stmt></BkToCstmrStmt></Document>"].join(end);
  assertEquals(read(camt("")).rows.map(({ line, amount }) => [line, amount]), [[1, "1"], [2, "2"], [3, "3"]]);
  assertEquals(read(camt("\n")).rows.map(({ line }) => line), [2, 3, 4]);
});

Deno.test("readImport() respects its row limit in every format", () => {
  const row = (format: string) => ({
    csv: "2026-10-01,Tea,1\n",
    qif: "D2026-10-01\nT-1\nPTea\n^\n",
    mt940: ":61:261001D1,NTRF\n:86:Tea\n",
    ofx: "<STMTTRN><DTPOSTED>20261001<TRNAMT>-1<NAME>Tea</STMTTRN>\n",
    camt: '<Ntry><Amt Ccy="EUR">1</Amt><CdtDbtInd>DBIT</CdtDbtInd><BookgDt><Dt>2026-10-01</Dt></BookgDt>' +
      "<AddtlNtryInf>Tea</AddtlNtryInf></Ntry>\n",
  }[format]!);
  const around: Record<string, [string, string]> = {
    csv: ["Date,Name,Amount\n", ""],
    qif: ["!Type:Bank\n", ""],
    mt940: [":25:1\n", ""],
    ofx: ["OFXHEADER:100\n<OFX><STMTRS><CURDEF>USD<BANKTRANLIST>", "</BANKTRANLIST></STMTRS></OFX>"],
    camt: ["<Document><BkToCstmrStmt><Stmt>", "</Stmt></BkToCstmrStmt></Document>"],
  };
  for (const [format, [begin, end]] of Object.entries(around)) {
    const file = (count: number) => begin + row(format).repeat(count) + end;
    assertEquals(
      problem(file(MAX_ROWS + 1)).message,
      "The file has more than 2000 rows, the maximum for an import.",
      format,
    );
    const most = readImport(file(MAX_ROWS + 1), {}, undefined, { mostRows: MAX_ROWS + 1 });
    assertEquals("rows" in most && most.rows.length, MAX_ROWS + 1, format);
    assertEquals(read(file(MAX_ROWS)).rows.length, MAX_ROWS, format);
  }
});

Deno.test("readImport() refuses a list of securities trades, and reads an account with a few of them", () => {
  const codeOf = (text: string) => {
    const result = readImport(text, {}, "2026-11-27");
    return "code" in result ? [result.code, result.params?.kind] : result.rows.map(({ amount }) => amount);
  };
  const refused = ["invalid_argument.file_kind", "list of securities trades"];
  assertEquals(
    codeOf(
      "Run Date,Action,Symbol,Description,Quantity,Price ($),Amount ($)\n" +
        "2026-10-05,BOUGHT,ABC,ABC CORP,10,12.5,-125\n2026-10-06,SOLD,XYZ,XYZ INC,-4,20,80\n",
    ),
    refused,
  );
  assertEquals(
    codeOf("Datum;ISIN;Name;Stück;Kurs;Betrag\n05.10.2026;DE0001;Muster AG;3;40,00;-120,00\n"),
    refused,
  );
  assertEquals(
    codeOf(
      "Date,Name,ISIN,Shares,Amount\n2026-10-05,Bakery,,,-4.20\n2026-10-06,Garage,,,-60.00\n" +
        "2026-10-07,Tea House,,,-3.10\n",
    ),
    ["4.2", "60", "3.1"],
  );
});
