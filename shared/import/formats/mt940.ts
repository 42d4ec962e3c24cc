/** Reads SWIFT MT940 and MT942 statements: `:61:` lines and their `:86:` texts, with the subfields that banks use. */
import { describeAccount } from "../account_name.ts";
import {
  type BalanceText,
  type ImportProblem,
  type Kind,
  type RawLine,
  type Statement,
  tooLong,
} from "../statement.ts";
import { cut, oneLine } from "../shorten.ts";

/** Whether a text has the tags of an account and of a line. */
export const isMt940 = (text: string): boolean =>
  /^:25:/m.test(text.slice(0, 2000)) && /^:(60[FM]|61|34F):/m.test(text);

interface Field {
  tag: string;
  line: number;
  text: string;
}

export function readMt940(text: string, mostRows: number): Statement | ImportProblem {
  const lines: RawLine[] = [];
  const balances: BalanceText[] = [];
  const numbers = new Set<string>();
  let currency: string | undefined;
  /** What the next text describes; after the closing balance it is of the whole statement. */
  let described: RawLine | undefined;
  for (const { tag, line, text: value } of fieldsOf(text)) {
    if (tag === "60F" || tag === "60M" || tag === "34F") {
      currency = /[A-Z]{3}/.exec(value.slice(0, 12))?.[0] ?? currency;
    }
    if (tag === "25") numbers.add(value.split("\n")[0]!.trim());
    if (tag === "60F" || tag === "60M") {
      const { amount: opening, currency = "" } = balanceOf(value);
      balances.push({ opening, currency, from: lines.length, to: lines.length });
    }
    if (tag.startsWith("62")) described = undefined;
    if ((tag === "62F" || tag === "62M") && balances.length > 0) {
      Object.assign(balances.at(-1)!, { closing: balanceOf(value).amount, to: lines.length });
    }
    if (tag === "61") {
      if (lines.length === mostRows) return tooLong(mostRows);
      lines.push(described = lineOf(value, line, currency));
    }
    if (tag === "86" && described) Object.assign(described, describe(value, described));
  }
  if (lines.length === 0) return { code: "invalid_argument.file_without_rows", field: "csv" };
  const number = numbers.size === 1 ? [...numbers][0]! : undefined;
  // Some banks put the currency after the number.
  const account = describeAccount({ number: number?.replace(/(?<=\d)[A-Z]{3}$/, ""), isCard: false });
  return {
    lines,
    balances,
    ...(account && { account }),
    conventions: {
      dates: "YMD",
      decimal: ",",
      spends: "negative",
      isStatement: true,
      isKnown: true,
      booksReversals: true,
    },
    mapping: { format: "MT940" },
  };
}

/** The mark C or D, the day, the currency, the amount. */
function balanceOf(value: string): { amount: string; currency?: string } {
  const [, mark, currency = "", amount = ""] =
    /^([CD])\d{6}([A-Z]{3})(\d{1,15},\d{0,3})/.exec(value.slice(0, MAX_LINE)) ?? [];
  return { amount: (mark === "D" ? "-" : "") + amount, currency };
}

/** A text has six lines of 65 characters; what is longer is no statement's. */
const MAX_TEXT = 2000;
const MAX_LINE = 200;

/** Fields by tag; a field goes on over the lines that begin with no tag. */
function fieldsOf(text: string): Field[] {
  const fields: Field[] = [];
  for (const [index, written] of text.split("\n").entries()) {
    const row = written.endsWith("\r") ? written.slice(0, -1) : written;
    const tag = row.startsWith(":") ? /^:(\d{2}[A-Z]?):/.exec(row.slice(0, 6))?.[1] : undefined;
    const last = fields.at(-1);
    if (tag) fields.push({ tag, line: index + 1, text: cut(row, MAX_TEXT).slice(tag.length + 2) });
    else if (last && last.text.length < MAX_TEXT && row !== "" && row !== "-" && !/^(\{|-\})/.test(row)) {
      last.text += `\n${cut(row, MAX_TEXT)}`;
    }
  }
  return fields;
}

/** `YYMMDD[MMDD]`, the mark C, D, RC or RD, a letter of the currency, the amount. */
function lineOf(field: string, line: number, currency: string | undefined): RawLine {
  const text = cut(field, MAX_LINE);
  const parts = /^(\d{6})(?:\d{4}| {4})?(R?[CD])[A-Z]?(\d{1,12},\d{0,3})/.exec(text);
  const [, day = "", mark = "", amount = ""] = parts ?? [];
  const kind: Kind | undefined = mark === "RC" ? "reverted" : mark === "RD" ? "refund" : undefined;
  return {
    line,
    date: day && `20${day.slice(0, 2)}-${day.slice(2, 4)}-${day.slice(4)}`,
    amount: amount.endsWith(",") ? amount.slice(0, -1) : amount,
    direction: mark === "D" || mark === "RC" ? "out" : "in",
    name: oneLine(text.slice(parts?.[0].length ?? 0).split("//")[0]!.split("\n")[0]!.replace(/^[A-Z]\w{3}/, ""))
      .replace(/^(NONREF|NOTPROVIDED)$/i, ""),
    ...(currency && { currency }),
    ...(kind && { kind }),
    ...(!parts && { problem: { code: "invalid_argument.row_broken", params: { value: cut(oneLine(text), 40) } } }),
  };
}

/** Subfields "?20…" of German banks, "/NAME/…/REMI/…" of Dutch ones, or plain text. */
function describe(text: string, { name }: RawLine): Partial<RawLine> {
  const flat = text.replaceAll("\n", "");
  if (/^\d{3}\?/.test(flat)) {
    const parts = flat.split("?").slice(1).map((part) => [part.slice(0, 2), part.slice(2)] as const);
    const joined = (from: number, to: number) =>
      oneLine(parts.filter(([code]) => Number(code) >= from && Number(code) <= to).map(([, part]) => part).join(""));
    const purpose = joined(20, 29) + joined(60, 63);
    const payee = joined(32, 33);
    return { name: purpose.replace(/^.*?SVWZ\+/, "") || payee || joined(0, 0) || name, payee, type: joined(0, 0) };
  }
  const parts = flat.split("/");
  const after = (code: string) => {
    const at = parts.indexOf(code);
    return at < 0 ? "" : oneLine(parts[at + 1] ?? "");
  };
  if (flat.startsWith("/")) {
    const remittance = parts.indexOf("REMI");
    const purpose = remittance < 0
      ? ""
      : parts.slice(remittance + 1).find((part) => part && !/^(USTD|STRD)$/.test(part)) ?? "";
    const payee = after("NAME");
    return { name: oneLine(purpose) || payee || oneLine(flat), payee };
  }
  return { name: oneLine(text) || name };
}
