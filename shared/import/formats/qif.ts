/**
 * Reads QIF (Quicken Interchange Format). Spending is negative on every account. Dates and decimals follow the
 * computer's locale, so the reader settles them as in CSV.
 */
import { describeAccount } from "../account_name.ts";
import { findDecimalSign } from "../conventions.ts";
import { readMoney } from "../money_text.ts";
import { type ImportProblem, type Kind, type RawLine, type Statement, tooLong } from "../statement.ts";
import { fromUnits, unitsOf } from "../units.ts";

/** Whether a text begins with a QIF header, or with a record that has a day, an amount and an end. */
export const isQif = (text: string): boolean =>
  /^\s*!(Type|Account|Option|Clear):?/i.test(text.slice(0, 200)) ||
  /^\s*D.{6,20}\n(?:[A-Z$%].*\n){0,20}?[TU][^\n]*\d\r?\n(?:[A-Z$%].*\n){0,20}?\^/.test(text.slice(0, 2000));

/** Lists of data other than payments. Programs write the kinds of accounts in many languages. */
const NO_ACCOUNTS =
  /^!(?!Type:)|^!Type:\s*(Invst|Port|Cat|Class|Tag|Memorized|Security|Prices|Budget|Template|Inv|Bill)/i;

export function readQif(text: string, mostRows: number): Statement | ImportProblem {
  const lines: RawLine[] = [];
  let record: Map<string, string> | undefined;
  let begin = 0;
  let parts: Part[] = [];
  let isAccount = true;
  let isCard = false;
  let isNames = false;
  const names = new Set<string>();
  const finish = () => {
    if (isAccount && record) lines.push(...linesOf(record, begin, parts).map((line) => ({ ...line, isCard })));
    parts = [];
    if (isNames && record?.get("N")) names.add(record.get("N")!);
    record = undefined;
  };
  for (const [index, written] of text.split("\n").entries()) {
    const row = written.trim();
    if (row.startsWith("!")) {
      finish();
      isNames = /^!Account/i.test(row.slice(0, 40));
      isAccount = !NO_ACCOUNTS.test(row.slice(0, 40));
      isCard = /^!Type:\s*CCard/i.test(row.slice(0, 40));
    } else if (row === "^") finish();
    else if (row !== "") {
      if (!record) [record, begin] = [new Map(), index + 1];
      if (row.startsWith("S")) parts.push({ line: index + 1, category: row.slice(1).trim(), amount: "", note: "" });
      const part = parts.at(-1);
      if (part && row.startsWith("$")) part.amount ||= row.slice(1).trim();
      if (part && row.startsWith("E")) part.note ||= row.slice(1).trim();
      // The first T is the total.
      if (!record.has(row[0]!)) record.set(row[0]!, row.slice(1).trim());
    }
    if (lines.length > mostRows) return tooLong(mostRows);
  }
  finish();
  if (lines.length === 0) return { code: "invalid_argument.file_without_rows", field: "csv" };
  const isOfCard = lines.every((line) => line.isCard);
  const account = describeAccount({ bank: names.size === 1 ? [...names][0] : undefined, isCard: isOfCard });
  return {
    lines,
    ...(account && { account }),
    conventions: { spends: "negative", isCard: isOfCard, isStatement: true, isKnown: true },
    mapping: { format: "QIF" },
  };
}

interface Part {
  line: number;
  category: string;
  amount: string;
  note: string;
}

const isTransfer = ({ category }: Part) => /^\[.*\]/.test(category);

/** A payment that is partly a transfer, such as cash back, becomes a line for each part and one for the rest. */
function linesOf(record: Map<string, string>, begin: number, parts: Part[]): RawLine[] {
  if (!parts.some(isTransfer) || parts.every(isTransfer)) {
    // The first part decides the kind of a split; the accounts of other parts don't.
    const [first] = parts;
    return [lineOf(first && !isTransfer(first) ? new Map([...record, ["L", first.category]]) : record, begin)];
  }
  const rest = restOf(record.get("T") ?? record.get("U") ?? "", parts);
  return [...parts.filter(({ amount }) => amount), ...rest].map(({ line, category, amount, note }) => {
    const memo = note || record.get("M") || "";
    return lineOf(new Map([...record, ["L", category], ["T", amount], ["U", amount], ["M", memo]]), line);
  });
}

/** The remainder that no part covers, as the first part without an amount, or as an extra one. */
function restOf(whole: string, parts: Part[]): Part[] {
  const all = [whole, ...parts.map(({ amount }) => amount).filter(Boolean)].map(readMoney);
  const decimal = findDecimalSign(all.flatMap((money) => money ?? [])).value;
  const units = all.map((money) => money && unitsOf(money, decimal));
  if (units.includes(undefined)) return [];
  const [total = 0n, ...said] = units as bigint[];
  const left = said.reduce((rest, one) => rest - one, total);
  if (left === 0n) return [];
  const open = parts.find(({ amount }) => !amount) ?? { line: parts.at(-1)!.line, category: "", amount: "", note: "" };
  return [{ ...open, amount: fromUnits(left, 2).replace(".", decimal) }];
}

/** 1/ 5'26 is 1/5/26, and 1/ 5' 7 is 1/5/07. */
const dayOf = (date: string) =>
  date.slice(0, 40).replaceAll(" ", "").replace(
    /^(\d{1,2})([-/.])(\d{1,2})'(\d{1,4})$/,
    (_, one, sign, two, year) => `${one}${sign}${two}${sign}${year.padStart(2, "0")}`,
  );

function lineOf(record: Map<string, string>, line: number): RawLine {
  const get = (code: string) => record.get(code) ?? "";
  const category = get("L");
  // A category in brackets is another account.
  const kind: Kind | undefined = /^\[.*\]/.test(category)
    ? get("P").toLowerCase() === "opening balance" ? "balance" : "own_transfer"
    : undefined;
  return {
    line,
    date: dayOf(get("D")),
    amount: get("T") || get("U"),
    name: get("P") || get("M"),
    payee: get("P"),
    note: get("P") ? get("M") : "",
    category: kind ? "" : category,
    ...(kind && { kind }),
  };
}
