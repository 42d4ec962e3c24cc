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
  /^:(20|25P?|28C?):/m.test(text.slice(0, 2000)) && /^:(60[FM]|61|34F):/m.test(text);

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
  /** The line that the next text describes. After the closing balance, the text describes the whole statement. */
  let described: RawLine | undefined;
  for (const { tag, line, text: value } of fieldsOf(text)) {
    if (tag === "60F" || tag === "60M" || tag === "34F") {
      currency = /[A-Z]{3}/.exec(value.slice(0, 12))?.[0] ?? currency;
    }
    if (tag === "25" || tag === "25P") numbers.add(value.split("\n")[0]!.trim());
    if (tag === "60F" || tag === "60M") {
      const { amount: opening, currency = "" } = balanceOf(value);
      balances.push({ opening, currency, from: lines.length, to: lines.length });
    }
    if (tag.startsWith("62")) described = undefined;
    if ((tag === "62F" || tag === "62M") && balances.length > 0) {
      const { amount: closing, day: closing_on } = balanceOf(value);
      Object.assign(balances.at(-1)!, { closing, closing_on, to: lines.length });
    }
    if (tag === "61") {
      if (lines.length === mostRows) return tooLong(mostRows);
      lines.push(described = lineOf(value, line, currency));
    }
    if (tag === "86" && described) Object.assign(described, describe(value, described));
    if (tag === "NS" && described && !described.payee) Object.assign(described, describeLines(value, described));
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
function balanceOf(value: string): { amount: string; currency?: string; day: string } {
  const [, mark, day = "", currency = "", amount = ""] =
    /^([CD])(\d{6})([A-Z]{3})(\d{1,15},\d{0,3})/.exec(value.slice(0, MAX_LINE)) ?? [];
  return { amount: (mark === "D" ? "-" : "") + amount, currency, day: `20${day}` };
}

/** Codes of a structured text. */
const CODES = new Set([
  ...["ABA", "ACC", "ADDR", "BENM", "BIC", "CNTP", "CSID", "EREF", "FEES", "IBAN", "ID", "ISDT", "KREF", "MARF"],
  ...["NAME", "ORDP", "PREF", "PURP", "PY", "REMI", "RTRN", "SVCL", "TRCD", "TRTP", "ULTB", "ULTD"],
]);

/** A text has at most six lines of 65 characters; a longer one does not belong to a statement. */
const MAX_TEXT = 2000;
const MAX_LINE = 200;

/** Fields by tag; lines that do not begin with a tag continue the field. */
function fieldsOf(text: string): Field[] {
  const fields: Field[] = [];
  for (const [index, written] of text.split("\n").entries()) {
    let row = written;
    while (row.endsWith("\r")) row = row.slice(0, -1);
    const tag = row.startsWith(":") ? /^:(\d{2}[A-Z]?|NS):/.exec(row.slice(0, 6))?.[1] : undefined;
    const last = fields.at(-1);
    const value = tag ? cut(row, MAX_TEXT).slice(tag.length + 2) : cut(row, MAX_TEXT);
    // Some banks give each line of a text its own tag.
    if (tag && !(tag === "86" && last?.tag === tag)) fields.push({ tag, line: index + 1, text: value });
    else if (last && last.text.length < MAX_TEXT && row !== "" && row !== "-" && !/^(\{|-\})/.test(row)) {
      last.text += `\n${value}`;
    }
  }
  return fields;
}

/** `YYMMDD[MMDD]`, the mark C, D, RC or RD, a letter of the currency, the amount. */
function lineOf(field: string, line: number, currency: string | undefined): RawLine {
  const text = cut(field, MAX_LINE);
  const parts = /^(\d{6})(?:\d{4}| {4})?([ER]?[CD])[A-Z]?\s?(\d{0,15}[,.]\d{0,3}|\d{1,15})(?![\d,.])/.exec(text);
  const [, day = "", mark = "", amount = ""] = parts ?? [];
  // The second line of a field supplies the text if there is none.
  const [reference = "", ...more] = text.slice(parts?.[0].length ?? 0).split("\n");
  const kind: Kind | undefined = mark === "RC"
    ? "reverted"
    : mark === "RD"
    ? "refund"
    : mark.startsWith("E")
    ? "pending"
    : undefined;
  return {
    line,
    date: day && `${day < "7" ? "20" : "19"}${day.slice(0, 2)}-${day.slice(2, 4)}-${day.slice(4)}`,
    amount: amount.replace(".", ",").replace(/,$/, ""),
    direction: mark === "D" || mark === "ED" || mark === "RC" ? "out" : "in",
    name: nameIn(reference) || oneLine(more.join(" ")),
    payee: oneLine(/^\S{4,24} {2,}(.*)/.exec(reference)?.[1] ?? ""),
    ...(currency && { currency }),
    ...(kind && { kind }),
    ...(!parts && { problem: { code: "invalid_argument.row_broken", params: { value: cut(oneLine(text), 40) } } }),
  };
}

/** The customer's or bank's reference, after the letter and the three characters of the type. */
const nameIn = (reference: string) =>
  oneLine(reference.split("//")[0]!.replace(/^[A-Z]\w{3}/, "")).replace(/^(NONREF|NOTPROVIDED)( |$)/i, "").trim();

/** Lines of `:NS:` with two digits each: the purpose, the other party, the bank's word. */
function describeLines(text: string, { name }: RawLine): Partial<RawLine> {
  const lines = text.split("\n").map((line) => [line.slice(0, 2), line.slice(2)] as const);
  const joined = (from: string, to: string) =>
    oneLine(lines.filter(([code]) => code >= from && code <= to).map(([, part]) => part).join(" "));
  const payee = joined("15", "16");
  return { name: joined("01", "14") || payee || name, payee, type: joined("17", "17") };
}

/**
 * Reads subfields: "?20…" of German banks, with other marks elsewhere, "/NAME/…/REMI/…" of Dutch ones, or plain text.
 */
function describe(text: string, { name }: RawLine): Partial<RawLine> {
  const flat = text.replaceAll("\n", "");
  const mark = /^(?:\d{3}|(?=\?))([?<>~^+|@])\d\d/.exec(flat)?.[1];
  if (mark) {
    const parts = flat.split(mark).slice(1).map((part) => [part.slice(0, 2), part.slice(2)] as const);
    const joined = (from: number, to: number) =>
      oneLine(parts.filter(([code]) => Number(code) >= from && Number(code) <= to).map(([, part]) => part).join(""));
    const purpose = joined(20, 29) + joined(60, 63);
    const payee = joined(32, 33);
    const said = purpose.replace(/^.*?SVWZ\+/, "");
    // A text of references alone is useless.
    const isReference = /^(EREF|KREF|MREF|CRED)\+/.test(said) && payee !== "";
    return { name: (isReference ? "" : said) || payee || joined(0, 0) || name, payee, type: joined(0, 0) };
  }
  const parts = flat.split("/");
  if (flat.startsWith("/")) {
    /** The text after a code, up to the next code. */
    const after = (code: string) => {
      const from = parts.indexOf(code) + 1;
      const end = parts.findIndex((part, at) => at >= from && CODES.has(part));
      return from === 0
        ? ""
        : oneLine(parts.slice(from, end < 0 ? undefined : end).join("/")).replace(/^[\s/]+|[\s/]+$/g, "");
    };
    // The account, the bank, the name, the place.
    const payee = after("NAME") || (parts.includes("CNTP") ? oneLine(parts[parts.indexOf("CNTP") + 3] ?? "") : "");
    const purpose = after("REMI").replace(/^((USTD|STRD)\/+)+/, "") || after("PY");
    return { name: purpose || payee || oneLine(flat), payee };
  }
  return { name: oneLine(text) || name };
}
