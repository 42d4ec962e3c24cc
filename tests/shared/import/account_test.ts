/** The account of a file, read by format, and its display name with the end of its number. */
import { assertEquals } from "@std/assert";
import { describeAccount, isIban, isMasked } from "../../../shared/import/account_name.ts";
import { readImport } from "../../../shared/import/read_import.ts";

const accountOf = (text: string) => {
  const result = readImport(text, { negative_is_expense: true });
  if ("code" in result) throw new Error(JSON.stringify(result));
  const { number, name, kind, currency } = result.account ?? {};
  return [number, name, kind, currency];
};
const csv = (preamble: string, header = "Date,Description,Amount", row = "2026-10-01,Tea,-3") =>
  `${preamble}${header}\n${row}\n${row}\n`;

Deno.test("lines above a table name its account: an IBAN, a number, a masked card, a name", () => {
  const iban = "DE02120300000000202051";
  const cases: [string, unknown[]][] = [
    [`IBAN,DE02 1203 0000 0000 2020 51\n`, [iban, "DE02…2051", "account"]],
    [`"IBAN: DE02 1203 0000 0000 2020 51",\n`, [iban, "DE02…2051", "account"]],
    [`Girokonto,${iban}\n`, [iban, "Girokonto 2051", "account"]],
    [`Kontoname,Haushalt\nIBAN,${iban}\n`, [iban, "Haushalt 2051", "account"]],
    [`Account number:,12345678\n`, ["12345678", "…5678", "account"]],
    [`Account number,12345678\nIBAN,${iban}\n`, [iban, "DE02…2051", "account"]],
    [`Visa,4998 **** **** 1234\n`, ["4998********1234", "Visa 1234", "account"]],
    [`Card number,XXXX-1234\n`, ["XXXX-1234", "…1234", "card"]],
    [`Created on,22.11.2026\nPhone,0800 1234567\n`, [undefined, undefined, undefined]],
  ];
  for (const [preamble, [number, name, kind]] of cases) {
    assertEquals(accountOf(csv(preamble)), [number, name, kind, undefined], preamble);
  }
});

Deno.test("a column names the account when all rows agree", () => {
  const of = (header: string, rows: string[]) => accountOf(`Date,Description,Amount,${header}\n${rows.join("\n")}\n`);
  const row = (account: string) => `2026-10-01,Tea,-3,${account}`;
  assertEquals(of("Account number", [row("12345678"), row("12345678")]), ["12345678", "…5678", "account", undefined]);
  assertEquals(of("Card no.", [row("*1234"), row("")]), ["*1234", "…1234", "card", undefined]);
  assertEquals(of("Account", [row("Visa 1234"), row("Visa 1234")]), ["Visa1234", "Visa 1234", "account", undefined]);
  // Two cards, or a counterparty's account.
  assertEquals(of("Card no.", [row("*1234"), row("*5678")]), [undefined, undefined, undefined, undefined]);
  assertEquals(of("Counterparty IBAN", [row("DE09"), row("DE09")]), [undefined, undefined, undefined, undefined]);
});

Deno.test("formats name the account in their own fields, unless there are several", () => {
  const ofx = (accounts: string) =>
    `OFXHEADER:100\n<OFX><SIGNONMSGSRSV1><SONRS><FI><ORG>A Bank</FI></SONRS></SIGNONMSGSRSV1>${accounts}</OFX>`;
  const transaction = "<BANKTRANLIST><STMTTRN><DTPOSTED>20261001<TRNAMT>-3<NAME>Tea</STMTTRN></BANKTRANLIST>";
  const bank = (id: string) => `<STMTRS><CURDEF>USD<BANKACCTFROM><ACCTID>${id}</BANKACCTFROM>${transaction}</STMTRS>`;
  assertEquals(accountOf(ofx(bank("000123456"))), ["000123456", "A Bank 3456", "account", "USD"]);
  const card = `<CCSTMTRS><CURDEF>USD<CCACCTFROM><ACCTID>XXXXXXXXXXXX1234</CCACCTFROM>${transaction}</CCSTMTRS>`;
  assertEquals(accountOf(ofx(card)), ["XXXXXXXXXXXX1234", "A Bank 1234", "card", "USD"]);
  assertEquals(accountOf(ofx(bank("1") + bank("2"))), [undefined, "A Bank", "account", "USD"]);

  const camt = (account: string) =>
    `<Document><BkToCstmrStmt><Stmt><Acct>${account}</Acct><Ntry><Amt Ccy="CHF">3</Amt><CdtDbtInd>DBIT</CdtDbtInd>` +
    "<BookgDt><Dt>2026-10-01</Dt></BookgDt><AddtlNtryInf>Tea</AddtlNtryInf></Ntry></Stmt></BkToCstmrStmt></Document>";
  assertEquals(
    accountOf(camt("<Id><Othr><Id>A-77</Id></Othr></Id><Svcr><FinInstnId><Nm>A Bank</Nm></FinInstnId></Svcr>")),
    ["A-77", "A Bank A77", "account", "CHF"],
  );
  const mt940 = (number: string) => `:20:1\n:25:${number}\n:60F:C261001EUR1,\n:61:261001D3,NTRF\n:86:Tea\n`;
  assertEquals(accountOf(mt940("DE02120300000000202051EUR")), [
    "DE02120300000000202051",
    "DE02…2051",
    "account",
    "EUR",
  ]);
  assertEquals(accountOf(mt940("1") + mt940("2")), [undefined, undefined, undefined, undefined]);
  const qif = "!Account\nNVisa 1234\nTCCard\n^\n!Type:CCard\nD2026-10-01\nT-3\nPTea\n^\n";
  assertEquals(accountOf(qif), [undefined, "Visa 1234", "card", undefined]);
});

Deno.test("describeAccount() never shows more of a number than its end", () => {
  const name = (number: string, bank?: string) => describeAccount({ number, bank, isCard: false })?.name;
  assertEquals([name("12345678"), name("12345678", "A Bank"), name("", "A Bank"), name("")], [
    "…5678",
    "A Bank 5678",
    "A Bank",
    undefined,
  ]);
  assertEquals(name("5678", "Visa 5678"), "Visa 5678");
  assertEquals(name("12345678", "x".repeat(300))!.length, 55);
  assertEquals(describeAccount({ number: "9".repeat(5000), isCard: true })!.number!.length, 60);
  assertEquals(["DE02 1203 0000 0000 2020 51", "NL02ABNA0123456789", "DE02", "DE0212030000ÄÖ"].map(isIban), [
    true,
    true,
    false,
    false,
  ]);
  assertEquals(["*1234", "•••• 1234", "1234", "22.11.2026", "x"].map(isMasked), [true, true, false, false, false]);
});

Deno.test("a camt transfer that names the owner may be one between own accounts", () => {
  const statement = (owner: string) =>
    `<Stmt><Acct><Id><IBAN>DE02</IBAN></Id><Ownr><Nm>${owner}</Nm></Ownr></Acct><Ntry><Amt Ccy="EUR">5</Amt>` +
    "<CdtDbtInd>DBIT</CdtDbtInd><BookgDt><Dt>2026-10-01</Dt></BookgDt><NtryDtls><TxDtls><RltdPties><Cdtr>" +
    "<Nm>MUSTER ERIKA</Nm></Cdtr></RltdPties></TxDtls></NtryDtls></Ntry></Stmt>";
  const mayBeOwn = (...owners: string[]) => {
    const read = readImport(`<Document><BkToCstmrStmt>${owners.map(statement).join("")}</BkToCstmrStmt></Document>`);
    return "rows" in read && read.rows.map((row) => row.may_be_own);
  };
  assertEquals(mayBeOwn("Erika Muster"), [true]);
  assertEquals(mayBeOwn("Max Muster"), [undefined]);
  // With several owners, a row may belong to any.
  assertEquals(mayBeOwn("Erika Muster", "Max Muster"), [undefined, undefined]);
});
