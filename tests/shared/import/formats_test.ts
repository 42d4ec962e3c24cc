/** Deviations of real OFX, QIF, MT940 and camt files from the standards, two cases for each kind. */
import { assertEquals } from "@std/assert";
import { decodeFile } from "../../../shared/import/decode_file.ts";
import { readImport } from "../../../shared/import/read_import.ts";
import { readUpload } from "../../../shared/import/read_upload.ts";

/** The spending as days, amounts, currencies and names; the omitted rows as kinds and sums. */
function read(text: string) {
  const result = readImport(text, {}, "2026-11-27");
  if ("code" in result) throw new Error(JSON.stringify(result));
  assertEquals([result.rows_bad, result.questions], [[], []]);
  return {
    rows: result.rows.map(({ date, amount, currency, name, is_refund }) =>
      [date, (is_refund ? "-" : "") + amount, currency, name].filter(Boolean).join(" ")
    ),
    left: result.left_out.map(({ kind, totals }) => [kind, ...Object.values(totals)].join(" ")),
  };
}
const rowsOf = (text: string) => read(text).rows;

type Transaction = [type: string, day: string, amount: string, name: string, memo?: string, more?: string];

const ofx = (card: "CC" | "INV" | "", transactions: Transaction[]) => {
  const rows = transactions.map(([type, day, amount, name, memo, more = ""]) =>
    `<STMTTRN>\n<TRNTYPE>${type}\n<DTPOSTED>${day}\n<TRNAMT>${amount}\n<NAME>${name}\n` +
    `${memo === undefined ? "" : `<MEMO>${memo}\n`}${more}</STMTTRN>\n`
  );
  const account = card === "CC" ? "<CCACCTFROM><ACCTID>77</CCACCTFROM>" : "<BANKACCTFROM><ACCTID>88</BANKACCTFROM>";
  return `<${card}STMTRS>\n<CURDEF>EUR\n${account}\n<BANKTRANLIST>\n${rows.join("")}</BANKTRANLIST></${card}STMTRS>\n`;
};
const file = (...statements: string[]) => `OFXHEADER:100\n\n<OFX>${statements.join("")}</OFX>\n`;
const TEA: Transaction = ["DEBIT", "20261005", "-4.20", "Tea House"];
const tea = "2026-10-05 4.2 EUR Tea House";

Deno.test("OFX is recognized by any of its headers, in a comment or a mail, and by tags in small letters", () => {
  const plain = ofx("", [TEA]);
  const heads = ["DATA:OFXSGML\nENCODING:UTF-8\n", "<!--\nOFXHEADER:100\n-->\n", "Content-Type: application/x-ofx\n\n"];
  for (const head of heads) assertEquals(rowsOf(`${head}<OFX>${plain}</OFX>`), [tea], head);
  assertEquals(rowsOf(`<OFX >\n${plain}</OFX>`), [tea]);
  assertEquals(rowsOf(file(plain.toLowerCase())), ["2026-10-05 4.2 EUR tea house"]);
});

Deno.test("an OFX transaction without an end stops where the next begins", () => {
  const both = file(ofx("", [TEA, ["POS", "20261006", "-9.00", "Bakery"]]));
  const expected = [tea, "2026-10-06 9 EUR Bakery"];
  assertEquals(rowsOf(both.replaceAll("</STMTTRN>", "")), expected);
  assertEquals(rowsOf(both.replaceAll("</STMTTRN>", "").replaceAll("\n", "")), expected);
});

Deno.test("OFX whose types all contradict their signs is read as a debt", () => {
  const card = ofx("CC", [
    ["DEBIT", "20261001", "30.00", "Shop"],
    ["CREDIT", "20261002", "-10.00", "Shop"],
    ["PAYMENT", "20261003", "-55.00", "Thank you"],
  ]);
  assertEquals(read(file(card)), {
    rows: ["2026-10-01 30 EUR Shop", "2026-10-02 -10 EUR Shop"],
    left: ["card_payment 55.00"],
  });
  const account = ofx("", [["FEE", "20261001", "3.00", "Bank"], ["XFER", "20261002", "8.00", "Bo"], [
    ...["DIRECTDEP", "20261003", "-900.00", "Employer"] as const,
  ]]);
  assertEquals(read(file(account)), {
    rows: ["2026-10-01 3 EUR Bank", "2026-10-02 8 EUR Bo"],
    left: ["income 900.00"],
  });
  // A matching balance leaves the signs unchanged.
  assertEquals(rowsOf(file(ofx("", [TEA, ["CREDIT", "20261002", "-10.00", "Shop"]]))).length, 2);
});

Deno.test("in a file of accounts and cards, incoming money is a refund only on a card", () => {
  const statements = file(
    ofx("", [["CREDIT", "20261001", "2000.00", "Employer"], TEA]),
    ofx("CC", [["CREDIT", "20261002", "6.00", "Shoes"], ["PAYMENT", "20261003", "40.00", "Thanks"]]),
  );
  assertEquals(read(statements), {
    rows: [tea, "2026-10-02 -6 EUR Shoes"],
    left: ["income 2000.00", "card_payment 40.00"],
  });
  const qif = "!Type:Bank\nD13/10/2026\nT900.00\nPEmployer\n^\n!Type:CCard\nD14/10/2026\nT6.00\nPShoes\n^\n" +
    "D15/10/2026\nT-5.00\nPTea\n^\n";
  assertEquals(read(qif), { rows: ["2026-10-14 -6 Shoes", "2026-10-15 5 Tea"], left: ["income 900.00"] });
});

Deno.test("OFX days with dashes, or in another field, are read", () => {
  const days = ofx("", [["DEBIT", "2026-10-01", "-1", "A"], ["DEBIT", "2026-10-02T08:00:00", "-2", "B"], [
    ...["DEBIT", "", "-3", "Cinema", "x", "<DTUSER>20261003120000.000[-5:EST]\n"] as const,
  ]]);
  assertEquals(rowsOf(file(days)), ["2026-10-01 1 EUR A", "2026-10-02 2 EUR B", "2026-10-03 3 EUR Cinema"]);
});

Deno.test("OFX amounts are in their own currency, even after an empty memo, or in their statement's", () => {
  const own = (inside: string): Transaction => ["DEBIT", "20261001", "-5", "Shop", "", inside];
  assertEquals(
    rowsOf(file(ofx("", [own("<CURRENCY>\n<CURRATE>1.1\n<CURSYM>USD\n</CURRENCY>\n"), own("<CURRENCY>GBP\n")]))),
    [
      "2026-10-01 5 USD Shop",
      "2026-10-01 5 GBP Shop",
    ],
  );
  const depot = ofx("INV", [["FEE", "20261004", "-3.50", "Custody"]]).replace("EUR", "USD");
  assertEquals(rowsOf(file(depot, ofx("", [TEA]))), ["2026-10-04 3.5 USD Custody", tea]);
});

Deno.test("OFX names that only state the way to pay, or that all rows share, are replaced by the memo", () => {
  const booked = ofx("", [
    ["DEBIT", "20261001", "-1", "011026 CB****1234", "BOULANGERIE 33 PESSAC"],
    ["DEBIT", "20261002", "-2", "Kartenzahlung", "Stadtbad"],
    ["DEBIT", "20261003", "-3", "Tea House", "Lastschrift"],
  ]);
  assertEquals(rowsOf(file(booked)).map((row) => row.split(" EUR ")[1]), [
    "BOULANGERIE 33 PESSAC",
    "Stadtbad",
    "Tea House",
  ]);
  const owned = ["Bakery", "Florist", "Cinema", "Baths", "Museum"].map((memo, i): Transaction => [
    ...["DEBIT", `2026100${i + 1}`, "-1", "JANE DOE", memo] as const,
  ]);
  assertEquals(rowsOf(file(ofx("", owned)))[1], "2026-10-02 1 EUR Florist");
});

Deno.test("QIF is read without a header, with unknown kinds of accounts, and with old line ends", () => {
  const record = "D13/10/2026\nT-12,50\nPBoulangerie\n^\n";
  const expected = ["2026-10-13 12.5 Boulangerie"];
  for (const head of ["", "!Type:Banque\n", "!Type:Oth S\n", "!Type:Cat\nNFood\nDmeals\nE\n^\n!Type:Bargeld\n"]) {
    assertEquals(rowsOf(head + record), expected, head);
  }
  assertEquals(rowsOf(`!Type:Bank\r${record.replaceAll("\n", "\r")}`), expected);
  // Lists of memorized payments and of investments contain no spending.
  const lists = "!Type:Memorized\nKC\nT-5\nPOld\n^\n!Type:Invst\nD13/10/2026\nNBuy\nYACME\nT100.00\n^\n";
  assertEquals(rowsOf(`${lists}!Type:Bank\n${record}`), expected);
});

Deno.test("QIF years after an apostrophe may have one digit, and any sign before them", () => {
  assertEquals(rowsOf("!Type:Bank\nD3/15' 7\nT-1\nPA\n^\nD12-31'05\nT-2\nPB\n^\nD 1/ 3'26\nT-3\nPC\n^\n"), [
    "2007-03-15 1 A",
    "2005-12-31 2 B",
    "2026-01-03 3 C",
  ]);
});

const mt940 = (...fields: string[]) =>
  `:20:X\n:25:12345/678\n:28C:1/1\n:60F:C261001EUR900,00\n${fields.join("\n")}\n:62F:C261031EUR1,00\n-\n`;

Deno.test("MT940 amounts without a comma, with a point, and of the last century are read", () => {
  assertEquals(rowsOf(mt940(":61:2610011001D90NTRFNONREF", ":86:Shop", ":61:261002D4.25NMSCNONREF", ":86:Tea")), [
    "2026-10-01 90 EUR Shop",
    "2026-10-02 4.25 EUR Tea",
  ]);
  assertEquals(rowsOf(mt940(":61:991231DM5,00NTRFNONREF", ":86:Shop")), ["1999-12-31 5 EUR Shop"]);
  const grouped = readImport(mt940(":61:2610011001D1.234,56NTRFNONREF", ":86:Rent"), {}, "2026-11-27");
  assertEquals("rows_bad" in grouped && grouped.rows_bad.map(({ line }) => line), [5]);
});

Deno.test("MT940 subfields are marked by any sign, and references alone aren't a name", () => {
  const texts = [
    "073<00PRZELEW<20CZYNSZ<32JAN KOWALSKI",
    "020~00D020~20BIEDRONKA~32JMP SA",
    "000>100987654321>20HUUR OKTOBER",
    "105?00FOLGELASTSCHRIFT?20EREF+123 MREF+456?32STROM AG",
    "?20SVWZ+MIETE?32EVA HAUS",
  ];
  assertEquals(rowsOf(mt940(...texts.flatMap((text) => [":61:261001D1,00NTRFNONREF", `:86:${text}`]))), [
    ...["CZYNSZ", "BIEDRONKA", "HUUR OKTOBER", "STROM AG", "MIETE"].map((name) => `2026-10-01 1 EUR ${name}`),
  ]);
});

Deno.test("MT940 texts with codes keep their slashes, and name the counterparty of Dutch and American banks", () => {
  const read = readImport(
    mt940(
      ":61:261001D1,00NTRFNONREF",
      ":86:/EREF/E1//CNTP/NL32INGB0000012345/INGBNL2A/WEBWINKEL B.V.///REMI/USTD//Factuur 2026/123/",
      ":61:261002D2,00NTRFNONREF",
      ":86:/BENM//NAME/J JANSEN/REMI/HUUR/ISDT/2026-10-01",
      ":61:261003D3,00NTRFNONREF",
      ":86:/PT/FT/PY/OFFICE SUPPLIES",
    ),
  );
  assertEquals("rows" in read && read.rows.map(({ name, payee }) => [name, payee]), [
    ["Factuur 2026/123", "WEBWINKEL B.V."],
    ["HUUR", "J JANSEN"],
    ["OFFICE SUPPLIES", undefined],
  ]);
});

Deno.test("MT940 text in several fields, in :NS:, or after the amount names the row", () => {
  const fields = [
    [":61:261001D1,00N0440121470966      W.P. Jansen", ":86:Kosten opvang", ":86:juni"],
    [":61:261002D2,00NCHG", ":NS:01Miete", "02Oktober", "15Eva Haus", "17Dauerauftrag"],
    [":61:261003D3,00NMSCNONREF//123", "Bakery"],
  ];
  const read = readImport(mt940(...fields.flat()).replaceAll("\n", "\r\r\n"));
  assertEquals("rows" in read && read.rows.map(({ name, payee }) => [name, payee]), [
    ["Kosten opvang juni", "W.P. Jansen"],
    ["Miete Oktober", "Eva Haus"],
    ["Bakery", undefined],
  ]);
});

interface Detail {
  amount?: string;
  currency?: string;
  side?: string;
  name: string;
  more?: string;
}

const camt = (
  amount: string,
  details: Detail[],
  { side = "DBIT", day = "2026-10-01", currency = "EUR", text = "" } = {},
) => {
  const parts = details.map(({ amount, currency = "EUR", side, name, more = "" }) =>
    `<TxDtls>${amount ? `<Amt Ccy="${currency}">${amount}</Amt>` : ""}${side ? `<CdtDbtInd>${side}</CdtDbtInd>` : ""}` +
    `${more}<RmtInf><Ustrd>${name}</Ustrd></RmtInf></TxDtls>`
  );
  const attribute = currency && ` Ccy="${currency}"`;
  return `<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.001.08"><BkToCstmrStmt><Stmt>` +
    `<Acct><Id><IBAN>DE1</IBAN></Id><Ccy>CHF</Ccy></Acct><Ntry><Amt${attribute}>${amount}</Amt>` +
    `<CdtDbtInd>${side}</CdtDbtInd><Sts><Cd>BOOK</Cd></Sts>${day && `<BookgDt><Dt>${day}</Dt></BookgDt>`}` +
    `<NtryDtls>${
      parts.join("")
    }</NtryDtls><AddtlNtryInf>${text}</AddtlNtryInf></Ntry></Stmt></BkToCstmrStmt></Document>`;
};

Deno.test("a collective camt entry is split into its parts in their currencies, minus returns", () => {
  const booked = (amount: string) => `<AmtDtls><TxAmt><Amt Ccy="EUR">${amount}</Amt></TxAmt></AmtDtls>`;
  const foreign = ["55.00", "45.00"].map((amount, i): Detail => ({
    ...{ amount: "60.00", currency: "USD", name: `Shop ${i}`, more: booked(amount) },
  }));
  assertEquals(rowsOf(camt("100.00", foreign)), ["2026-10-01 55 EUR Shop 0", "2026-10-01 45 EUR Shop 1"]);
  const netted: Detail[] = [
    { amount: "160.00", side: "DBIT", name: "Suit" },
    { amount: "60.00", side: "CRDT", name: "Deposit", more: "<RtrInf/>" },
  ];
  assertEquals(rowsOf(camt("100.00", netted)), ["2026-10-01 160 EUR Suit", "2026-10-01 -60 EUR Deposit"]);
  // A name of one of many parts doesn't name the whole.
  assertEquals(rowsOf(camt("100.00", [{ name: "A" }, { name: "B" }], { text: "Sammler" })), [
    "2026-10-01 100 EUR Sammler",
  ]);
});

Deno.test("a camt return is a refund, and a day or a currency may be outside the entry", () => {
  assertEquals(rowsOf(camt("30.00", [{ name: "Rent", more: "<RtrInf><Rsn/></RtrInf>" }], { side: "CRDT" })), [
    "2026-10-01 -30 EUR Rent",
  ]);
  const dates = "<RltdDts><AccptncDtTm>2026-10-02T00:00:00</AccptncDtTm></RltdDts>";
  assertEquals(rowsOf(camt("5.00", [{ name: "Tea", more: dates }], { day: "", currency: "" })), [
    "2026-10-02 5 CHF Tea",
  ]);
});

Deno.test("text is decoded from EUC-JP, KOI8-R, DOS, Hebrew, Arabic, Thai and Mac encodings", () => {
  const files: Record<string, [string, string]> = {
    "euc-jp": ["日付,金額\n", "xc6xfcxc9xd5,xb6xe2xb3xdb\n"],
    "koi8-r": ["Дата;Сумма\n", "xe4xc1xd4xc1;xf3xd5xcdxcdxc1\n"],
    "ibm866": ["Дата;Сумма\n", "x84xa0xe2xa0;x91xe3xacxacxa0\n"],
    "windows-1255": ["תאריך,סכום\n", "xfaxe0xf8xe9xea,xf1xebxe5xed\n"],
    "windows-1256": ["التاريخ,المبلغ\n", "xc7xe1xcaxc7xd1xedxce,xc7xe1xe3xc8xe1xdb\n"],
    "windows-874": ["วันที่,จำนวนเงิน\n", "xc7xd1xb9xb7xd5xe8,xa8xd3xb9xc7xb9xe0xa7xd4xb9\n"],
    "macintosh": ["Empfänger;Größe\n", "Empfx8anger;Grx9axa7e\n"],
  };
  for (const [encoding, [text, written]] of Object.entries(files)) {
    const bytes = written.replace(/x([\da-f]{2})/g, (_, hex) => String.fromCharCode(parseInt(hex, 16)));
    assertEquals(decodeFile(Uint8Array.from(bytes, (letter) => letter.charCodeAt(0))), { text, encoding });
  }
});

Deno.test("XML is decoded by its declaration, and padding zeros do not mean UTF-16", () => {
  const xml = (encoding: string) => new TextEncoder().encode(`<?xml version="1.0" encoding="${encoding}"?><a>~</a>`);
  const coded = (encoding: string) => decodeFile(xml(encoding).map((byte) => byte === 0x7e ? 0xb3 : byte));
  assertEquals(coded("ISO-8859-2").text.at(-5), "ł");
  assertEquals(coded("windows-1251").text.at(-5), "і");
  assertEquals(coded("UTF-8").encoding, "windows-1250");
  const padded = new Uint8Array(400);
  padded.set(new TextEncoder().encode("Datum;Empfänger;Betrag\n01.10.2026;Café;-5,00\n"));
  const uploaded = readUpload(padded, "a.csv");
  assertEquals("text" in uploaded && uploaded.text.split(";").slice(0, 2), ["Datum", "Empfänger"]);
});

Deno.test("an HTML page named XLS is refused as HTML", () => {
  for (const start of ["<table><tr><td>", '<meta charset="utf-8">', "<style>td{}", "<HEAD>"]) {
    const refused = readUpload(new TextEncoder().encode(`\n${start}`), "a.xls");
    assertEquals("code" in refused && refused.params, { kind: "HTML" });
  }
});
