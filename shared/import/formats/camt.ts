/** Reads ISO 20022 statements, reports and notifications (camt.053, camt.052, camt.054), of any version. */
import {
  type Account,
  type BalanceText,
  type ImportProblem,
  type RawLine,
  type Statement,
  tooLong,
} from "../statement.ts";
import { describeAccount } from "../account_name.ts";
import { numberLines } from "./number_lines.ts";
import { childrenOf, type Element, everyElement, find, readMarkup, textAt } from "./markup.ts";
import { notReadable } from "./refusals.ts";
import { cut } from "../shorten.ts";

/** Whether a text begins as XML of such a message. */
export const isCamt = (text: string): boolean =>
  /^\s*</.test(text) && /camt\.05[234]|BkToCstmr(Stmt|AcctRpt|DbtCdtNtfctn)/.test(text.slice(0, 4000));

export function readCamt(text: string, mostRows: number): Statement | ImportProblem {
  const lines: RawLine[] = [];
  const places = new Map<Element, { from: number; to: number }>();
  const root = readMarkup(text, {
    isSgml: false,
    each: {
      Ntry(entry, around) {
        const statement = around.at(-1)!;
        const { from } = places.get(statement) ?? { from: lines.length };
        const currency = textAt(statement, "Acct/Ccy");
        for (const line of linesOf(entry, textAt(statement, "Acct/Id/IBAN"))) {
          lines.push({ ...(currency && { currency }), ...line });
        }
        places.set(statement, { from, to: lines.length });
        return lines.length <= mostRows;
      },
    },
  });
  if (lines.length > mostRows) return tooLong(mostRows);
  if (!root) return notReadable("camt");
  if (lines.length === 0) return { code: "invalid_argument.file_without_rows", field: "csv" };
  const account = accountOf([...places.keys()]);
  const [owner, ...others] = new Set([...places.keys()].map((one) => textAt(one, "Acct/Ownr/Nm")));
  return {
    lines: numberLines(lines),
    balances: [...places].flatMap(([statement, place]) => balancesOf(statement, place)),
    ...(account && { account }),
    ...(owner && others.length === 0 && { owner }),
    conventions: {
      ...{ dates: "YMD", decimal: ".", spends: "negative" },
      ...{ isStatement: true, isKnown: true, booksReversals: true },
    },
    mapping: { format: "camt" },
  };
}

/** The account, if all statements belong to one. */
function accountOf(statements: Element[]): Account | undefined {
  const ids = new Set(statements.map((one) => textAt(one, "Acct/Id/IBAN") || textAt(one, "Acct/Id/Othr/Id")));
  const [first] = statements;
  const bank = textAt(first!, "Acct/Svcr/FinInstnId/Nm") || textAt(first!, "Acct/Nm");
  const currency = textAt(first!, "Acct/Ccy");
  return describeAccount({ ...(ids.size === 1 && { number: [...ids][0]!, currency }), bank, isCard: false });
}

const OPENING = ["OPBD", "PRCD"];
const CLOSING = ["CLBD"];

/** The balances of a statement. Each page of a statement has interim balances; only the first and the last count. */
function balancesOf(statement: Element, place: { from: number; to: number }): BalanceText[] {
  const all = childrenOf(statement, "Bal").map((balance) => ({
    type: textAt(balance, "Tp/CdOrPrtry/Cd"),
    ...amountOf(find(balance, "Amt")),
    sign: textAt(balance, "CdtDbtInd") === "DBIT" ? "-" : "",
    day: textAt(balance, "Dt/Dt") || textAt(balance, "Dt/DtTm"),
  }));
  const interim = all.filter(({ type }) => type === "ITBD");
  const opening = all.find(({ type }) => OPENING.includes(type)) ?? (interim.length > 1 ? interim[0] : undefined);
  const closing = all.find(({ type }) => CLOSING.includes(type)) ?? interim.at(-1);
  if (!opening && !closing) return [];
  return [{
    ...place,
    ...(opening && { opening: opening.sign + opening.amount }),
    ...(closing && { closing: closing.sign + closing.amount, closing_on: closing.day }),
    currency: (opening ?? closing)!.currency,
  }];
}

/** An entry, or the payments of a collective entry if they add up to it. */
function linesOf(collected: Element, own: string): RawLine[] {
  const details = everyElement(collected, "TxDtls");
  // Each line searches the entry's texts, and an entry may have thousands of details.
  const children = collected.children.filter(({ name }) => name !== "NtryDtls" && name !== "TxDtls");
  const entry = { ...collected, children };
  const whole = amountOf(find(entry, "Amt"));
  const side = textAt(entry, "CdtDbtInd");
  const amounts = details.map((detail) => {
    const said = AMOUNTS.map((path) => amountOf(find(detail, path))).filter(({ amount }) => amount);
    return said.find(({ currency }) => currency === whole.currency) ?? said[0] ?? amountOf(undefined);
  });
  // Banks net refunds with payments.
  const units = (value: string, of = side) => Math.round(Number(value) * 10_000) * ((of || side) === side ? 1 : -1);
  const isSplit = details.length > 1 && amounts.every(({ currency }) => currency === whole.currency) &&
    amounts.reduce((sum, { amount }, i) => sum + units(amount, textAt(details[i]!, "CdtDbtInd")), 0) ===
      units(whole.amount);
  if (isSplit) return details.map((detail, i) => lineOf(entry, detail, amounts[i]!, own));
  // One of several payments describes their sum only if all have the same counterparty.
  const accounts = new Set(details.map((detail) => everyElement(detail, "IBAN").map(({ text }) => text).join()));
  const isNamed = details.length === 1 || textAt(entry, "AddtlNtryInf") === "" ||
    (accounts.size === 1 && !accounts.has(""));
  return [lineOf(entry, isNamed ? details[0] : undefined, whole, own)];
}

const AMOUNTS = ["Amt", "AmtDtls/TxAmt/Amt", "AmtDtls/InstdAmt/Amt"];

const amountOf = (element: Element | undefined) => ({
  amount: element?.text ?? "",
  currency: /Ccy\s*=\s*["']([A-Z]{3})["']/.exec(element?.attributes.slice(0, 200) ?? "")?.[1] ?? "",
});

function lineOf(
  entry: Element,
  detail: Element | undefined,
  { amount, currency }: { amount: string; currency: string },
  own: string,
): RawLine {
  const side = (detail && textAt(detail, "CdtDbtInd")) || textAt(entry, "CdtDbtInd");
  const isOut = side === "DBIT";
  const status = textAt(entry, "Sts/Cd") || textAt(entry, "Sts");
  const isReversal = /^(true|1)$/.test(textAt(entry, "RvslInd")) || (detail && find(detail, "RtrInf")) !== undefined;
  const party = isOut ? "Cdtr" : "Dbtr";
  const parties = detail && find(detail, "RltdPties");
  const payee = parties ? textAt(parties, `${party}/Nm`) || textAt(parties, `${party}/Pty/Nm`) : "";
  const other = parties ? textAt(parties, `${party}Acct/Id/IBAN`) : "";
  const remittance = detail ? everyElement(detail, "Ustrd").map(({ text }) => text).join(" ") : "";
  const type = textAt(entry, "AddtlNtryInf") || (detail && textAt(detail, "AddtlTxInf")) ||
    textAt(entry, "BkTxCd/Prtry/Cd");
  const name = remittance || payee || type;
  // A reversed income isn't spending, and a reversed payment is a refund.
  const kind = status === "PDNG" || status === "FUTR"
    ? "pending"
    : status === "INFO"
    ? "declined"
    : isReversal
    ? (isOut ? "reverted" : "refund")
    : other !== "" && other === own
    ? "own_transfer"
    : undefined;
  const original = amountOf(detail && find(detail, "AmtDtls/InstdAmt/Amt"));
  const date = ["BookgDt", "ValDt"].flatMap((day) => [textAt(entry, `${day}/Dt`), textAt(entry, `${day}/DtTm`)])
    .find(Boolean) ?? (detail && find(detail, "RltdDts")?.children[0]?.text) ?? "";
  return {
    line: (detail ?? entry).line,
    date: date.slice(0, 10),
    amount,
    direction: isOut ? "out" : "in",
    name,
    payee,
    type,
    ...(currency && { currency }),
    ...(original.currency && { original }),
    ...(other && { counter_account: other }),
    ...(kind && { kind }),
    ...(side !== "DBIT" && side !== "CRDT" && {
      problem: { code: "invalid_argument.row_direction", params: { value: cut(side, 40) } },
    }),
  };
}
