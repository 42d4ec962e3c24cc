/** Writes statements of any length in each format, as banks do. */
import { type Cell, day, writeWorkbook } from "../_support/workbook.ts";

interface Line {
  date: string;
  text: string;
  cents: number;
  balance: number;
}

const TEXTS = [
  "REWE Markt GmbH 4411",
  "UBER *TRIP HELP.UBER.COM",
  "Café Münze, Köln",
  "LIDL SAGT DANKE",
  "Umbuchung Tagesgeld",
];

function linesOf(count: number): Line[] {
  let balance = 500_000_000;
  return Array.from({ length: count }, (_, i) => {
    const cents = (i % 10 === 0 ? 1 : -1) * (1 + i * 7919 % 20_000);
    balance += cents;
    const date = new Date(Date.UTC(2025, 0, 1 + Math.floor(i * 600 / count))).toISOString().slice(0, 10);
    return { date, text: `${TEXTS[i % TEXTS.length]} ${i}`, cents, balance };
  });
}

const money = (cents: number) => (cents / 100).toFixed(2);
const compact = (date: string) => date.replaceAll("-", "");

function writeCsv(lines: Line[]): string {
  const rows = lines.map(({ date, text, cents, balance }) =>
    `"${date.split("-").reverse().join(".")}";"${text}";"Jemand";"${money(cents).replace(".", ",")}";"${
      money(balance).replace(".", ",")
    }"`
  );
  return ["Buchungstag;Verwendungszweck;Empfänger;Betrag;Saldo", ...rows].join("\n");
}

const writeRevolut = (lines: Line[]) =>
  [
    "Type,Product,Started Date,Completed Date,Description,Amount,Fee,Currency,State,Balance",
    ...lines.map(({ date, text, cents, balance }, i) =>
      `CARD_PAYMENT,Current,${date} 12:34:${10 + i % 50},${date} 12:34:56,"${text}",${
        money(cents)
      },0.00,EUR,COMPLETED,${money(balance)}`
    ),
  ].join("\n");

const writeCamt = (lines: Line[]) =>
  "<Document><BkToCstmrStmt><Stmt><Acct><Id><IBAN>DE02120300000000202051</IBAN></Id></Acct>" +
  lines.map(({ date, text, cents }) =>
    `<Ntry><Amt Ccy="EUR">${money(Math.abs(cents))}</Amt><CdtDbtInd>${cents < 0 ? "DBIT" : "CRDT"}</CdtDbtInd>` +
    `<Sts>BOOK</Sts><BookgDt><Dt>${date}</Dt></BookgDt><AddtlNtryInf>${text}</AddtlNtryInf></Ntry>\n`
  ).join("") + "</Stmt></BkToCstmrStmt></Document>";

const writeOfx = (lines: Line[]) =>
  "OFXHEADER:100\n<OFX><STMTRS><CURDEF>USD<BANKACCTFROM><ACCTID>1</BANKACCTFROM><BANKTRANLIST>\n" +
  lines.map(({ date, text, cents }, i) =>
    `<STMTTRN><TRNTYPE>POS<DTPOSTED>${compact(date)}<TRNAMT>${money(cents)}<FITID>${i}<NAME>${text}</STMTTRN>\n`
  ).join("") + "</BANKTRANLIST></STMTRS></OFX>";

const writeQif = (lines: Line[]) =>
  `!Type:Bank\n${lines.map(({ date, text, cents }) => `D${date}\nT${money(cents)}\nP${text}\nMmemo\n^\n`).join("")}`;

const writeMt940 = (lines: Line[]) =>
  ":20:1\n:25:12030000/202051\n:60F:C250101EUR5000000,\n" +
  lines.map(({ date, text, cents }) =>
    `:61:${compact(date).slice(2)}${cents < 0 ? "D" : "C"}${money(Math.abs(cents)).replace(".", ",")}NTRFNONREF\n` +
    `:86:005?00LASTSCHRIFT?20SVWZ+${text}?32Jemand\n`
  ).join("") + `:62F:C261031EUR${money(lines.at(-1)!.balance).replace(".", ",")}\n`;

function writeXlsx(lines: Line[]): Uint8Array {
  const serial = (date: string) => Date.parse(date) / 86_400_000 + 25_569;
  const rows = lines.map((
    { date, text, cents, balance },
  ): Cell[] => [day(serial(date)), text, "Someone", cents / 100, "EUR", balance / 100]);
  return writeWorkbook([{
    name: "S",
    rows: [["Date", "Description", "Payee", "Amount", "Currency", "Balance"], ...rows],
  }]);
}

const encode = (write: (lines: Line[]) => string) => (count: number) => new TextEncoder().encode(write(linesOf(count)));

/** The bytes of a file with this many lines, a tenth of them incoming. */
export const STATEMENTS: Record<string, (lines: number) => Uint8Array> = {
  "CSV with a balance": encode(writeCsv),
  "Revolut": encode(writeRevolut),
  "camt": encode(writeCamt),
  "OFX": encode(writeOfx),
  "QIF": encode(writeQif),
  "MT940": encode(writeMt940),
  "XLSX": (count) => writeXlsx(linesOf(count)),
};
