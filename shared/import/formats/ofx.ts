/**
 * Reads OFX and QFX (Open Financial Exchange 1 and 2, §11.4). Amounts have signs from the account owner's view:
 * spending is negative, on cards too.
 */
import { describeAccount } from "../account_name.ts";
import { type ImportProblem, type Kind, type RawLine, type Statement, tooLong } from "../statement.ts";
import { isWordless, readText } from "../kinds.ts";
import { numberLines } from "./number_lines.ts";
import { type Element, everyElement, readMarkup, textAt } from "./markup.ts";
import { notReadable } from "./refusals.ts";

/** Whether a text begins like OFX: with its elements, or with its headers, even in a comment or below mail headers. */
export function isOfx(text: string): boolean {
  const start = text.slice(0, 2000);
  return /^\s*(<\?xml[^>]{0,200}>\s*)?<(STMTRS|CCSTMTRS|BANKTRANLIST|STMTTRN)>/i.test(start) ||
    (/^\s*(<|[\w-]{1,40}:)/.test(start) && /OFXHEADER|<\?OFX|<OFX[\s>]/i.test(start));
}

export function readOfx(text: string, mostRows: number): Statement | ImportProblem {
  const begin = Math.max(text.search(/<(OFX|(CC)?STMTTRNRS|(CC)?STMTRS|BANKTRANLIST|STMTTRN)[\s>]/i), 0);
  const skipped = text.slice(0, begin).split("\n").length - 1;
  const lines: RawLine[] = [];
  /** The counterparty of each line. */
  const others: string[] = [];
  const places = new Map<Element, { from: number; to: number }>();
  const root = readMarkup(text.slice(begin), {
    isSgml: true,
    each: {
      STMTTRN(transaction, around) {
        // Some exports contain only the list of transactions.
        const statement = around.findLast(({ name }) => /^(CC|INV)?STMTRS$/.test(name)) ?? around[0]!;
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
      directLines(lines, isCard).map((line, i) => own.has(others[i]!) ? { ...line, kind: "own_transfer" } : line),
    ),
    // OFX has no opening balance.
    balances: [...places].flatMap(([statement, place]) => {
      const [balance] = everyElement(statement, "LEDGERBAL");
      const closing = balance && valueOf(balance, "BALAMT");
      return closing
        ? [{ closing, closing_on: valueOf(balance, "DTASOF"), currency: textAt(statement, "CURDEF"), ...place }]
        : [];
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

const CHARGES = "DEBIT POS ATM CHECK CASH FEE SRVCHG DIRECTDEBIT REPEATPMT".split(" ");
const OUT = new Set([...CHARGES, "PAYMENT"]);
const IN = new Set("CREDIT DEP DIRECTDEP INT DIV".split(" "));

/**
 * If no amount has a minus, the types decide the direction; a transfer or "other" is a payment. If every type
 * contradicts its sign, as on cards with positive charges, the signs are those of a debt.
 */
function directLines(lines: RawLine[], isCard: boolean): RawLine[] {
  if (isOpposed(lines, isCard)) {
    return lines.map((line) => {
      const isIn = line.amount.startsWith("-");
      const isPayment = isIn && isCard && line.type === "PAYMENT";
      return { ...line, direction: isIn ? "in" : "out", ...(isPayment && { kind: "card_payment" }) };
    });
  }
  const isUnsigned = !lines.some(({ amount }) => amount.startsWith("-")) &&
    lines.some(({ type = "" }) => OUT.has(type));
  if (!isUnsigned) return lines;
  return lines.map((line) => {
    const isIn = IN.has(line.type ?? "") || line.kind === "card_payment" || readText(line.name).isIncome;
    return { ...line, direction: isIn ? "in" : "out" };
  });
}

function isOpposed(lines: RawLine[], isCard: boolean): boolean {
  const signs = (types: readonly string[]) =>
    new Set(lines.filter(({ type = "" }) => types.includes(type)).map(({ amount }) => amount.startsWith("-")));
  const [charges, credits] = [signs(CHARGES), signs(["CREDIT", "DEP", "DIRECTDEP", ...(isCard ? ["PAYMENT"] : [])])];
  return charges.size === 1 && charges.has(false) && credits.size === 1 && credits.has(true);
}

/** Eight digits, or any written date. */
const dayOf = (date: string) => /^\d{8}/.test(date) ? date.slice(0, 8) : date.slice(0, 10);

/** At any depth: SGML does not close an element without a value, so it contains the following ones. */
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
  const memo = valueOf(one, "MEMO");
  // If the memo contains more, the mode and time of a card payment are not its name.
  const said = valueOf(one, "NAME");
  const payee = memo && isWordless(said) ? "" : said;
  // The amount is in the account's currency unless a CURRENCY element names another. ORIGCURRENCY does not change it.
  const [own] = everyElement(one, "CURRENCY");
  const currency = (own && (valueOf(own, "CURSYM") || own.text)) || common;
  return {
    line: one.line + skipped,
    date: dayOf(valueOf(one, "DTPOSTED") || valueOf(one, "DTUSER") || valueOf(one, "DTAVAIL")),
    amount,
    name: payee || memo,
    payee,
    note: payee ? memo : "",
    type,
    isCard,
    ...(currency && { currency }),
    ...(kind && { kind }),
  };
}
