/**
 * Reads OFX and QFX (Open Financial Exchange 1 and 2, §11.4). Amounts are signed as the account's owner sees them: what
 * is spent is negative, on cards too.
 */
import { describeAccount } from "../account_name.ts";
import { type ImportProblem, type Kind, type RawLine, type Statement, tooLong } from "../statement.ts";
import { readText } from "../kinds.ts";
import { numberLines } from "./number_lines.ts";
import { type Element, everyElement, readMarkup, textAt } from "./markup.ts";
import { notReadable } from "./refusals.ts";

/** Whether a text begins as OFX does: its headers, or its root element. */
export const isOfx = (text: string): boolean =>
  /^\s*(OFXHEADER|<\?OFX|(<\?xml[^>]{0,200}>\s*)?(<\?OFX|<(OFX|STMTRS|CCSTMTRS|BANKTRANLIST|STMTTRN)>))/i
    .test(text);

export function readOfx(text: string, mostRows: number): Statement | ImportProblem {
  const begin = Math.max(text.search(/<(OFX|(CC)?STMTTRNRS|(CC)?STMTRS|BANKTRANLIST|STMTTRN)>/i), 0);
  const skipped = text.slice(0, begin).split("\n").length - 1;
  const lines: RawLine[] = [];
  /** Where each line's money went or came from. */
  const others: string[] = [];
  const places = new Map<Element, { from: number; to: number }>();
  const root = readMarkup(text.slice(begin), {
    isSgml: true,
    each: {
      STMTTRN(transaction, around) {
        // Some exports write the list of transactions alone.
        const statement = around.findLast(({ name }) => name === "STMTRS" || name === "CCSTMTRS") ?? around[0]!;
        const { from } = places.get(statement) ?? { from: lines.length };
        lines.push(lineOf(transaction, textAt(statement, "CURDEF"), statement.name === "CCSTMTRS", skipped));
        others.push(valueOf(transaction, "ACCTID"));
        places.set(statement, { from, to: lines.length });
        return lines.length <= mostRows;
      },
    },
  });
  if (lines.length > mostRows) return tooLong(mostRows);
  if (!root) return notReadable("OFX");
  if (lines.length === 0) return { code: "invalid_argument.file_without_rows", field: "csv" };
  const statements = [...places.keys()];
  const only = (name: string) => {
    const values = new Set(statements.map((statement) => valueOf(statement, name)));
    return values.size === 1 ? [...values][0]! : "";
  };
  const isCard = statements.every(({ name }) => name === "CCSTMTRS");
  const currency = only("CURDEF");
  const own = new Set(statements.map((statement) => valueOf(statement, "ACCTID")).filter(Boolean));
  const account = describeAccount({ number: only("ACCTID"), bank: valueOf(root, "ORG"), isCard, currency });
  return {
    lines: numberLines(
      directLines(lines).map((line, i) => own.has(others[i]!) ? { ...line, kind: "own_transfer" } : line),
    ),
    // What the account had before is not said.
    balances: [...places].flatMap(([statement, place]) => {
      const [closing] = everyElement(statement, "LEDGERBAL").map((balance) => valueOf(balance, "BALAMT"));
      return closing ? [{ closing, currency: textAt(statement, "CURDEF"), ...place }] : [];
    }),
    ...(account && { account }),
    conventions: { dates: "YMD", decimal: ".", spends: "negative", isCard, isStatement: true, isKnown: true },
    ...(currency && { currency }),
    mapping: { format: "OFX" },
  };
}

const KINDS: Record<string, Kind> = {
  HOLD: "pending",
  INT: "income",
  DIV: "income",
  DIRECTDEP: "income",
};

const OUT = new Set("DEBIT POS ATM CHECK PAYMENT CASH FEE SRVCHG DIRECTDEBIT REPEATPMT".split(" "));
const IN = new Set("CREDIT DEP DIRECTDEP INT DIV".split(" "));

/** Where no amount has a minus, the types say which way the money went; a transfer or "other" is a payment. */
function directLines(lines: RawLine[]): RawLine[] {
  const isUnsigned = !lines.some(({ amount }) => amount.startsWith("-")) &&
    lines.some(({ type = "" }) => OUT.has(type));
  if (!isUnsigned) return lines;
  return lines.map((line) => {
    const isIn = IN.has(line.type ?? "") || line.kind === "card_payment" || readText(line.name).isIncome;
    return { ...line, direction: isIn ? "in" : "out" };
  });
}

/** At any depth: an element without a value is not closed in SGML, and holds what follows. */
const valueOf = (element: Element, name: string) => everyElement(element, name)[0]?.text ?? "";

function lineOf(one: Element, common: string, isCard: boolean, skipped: number): RawLine {
  const amount = valueOf(one, "TRNAMT").replace(/^\+/, "");
  const type = valueOf(one, "TRNTYPE").toUpperCase();
  const isOut = amount.startsWith("-");
  const kind = isCard && type === "PAYMENT" && !isOut
    ? "card_payment"
    : isOut && type === "INT"
    ? "expense"
    : KINDS[type];
  const payee = valueOf(one, "NAME");
  const memo = valueOf(one, "MEMO");
  // The amount is in the account's currency unless CURRENCY, and not ORIGCURRENCY, says otherwise.
  const currency = textAt(one, "CURRENCY/CURSYM") || common;
  return {
    line: one.line + skipped,
    date: valueOf(one, "DTPOSTED").slice(0, 8),
    amount,
    name: payee || memo,
    payee,
    note: payee ? memo : "",
    type,
    ...(currency && { currency }),
    ...(kind && { kind }),
  };
}
