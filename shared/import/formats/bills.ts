/**
 * Reads a list of subscriptions, such as an export of Wallos, into arguments of add_bill. A file of bills contains no
 * payments.
 */
import { readDate, toIsoDate } from "../date_text.ts";
import { plainHeader } from "../header_words.ts";
import { decimalSignOf, isCode, readMoney, toDecimal } from "../money_text.ts";
import { cut, oneLine, shorten } from "../shorten.ts";
import type { ImportProblem } from "../statement.ts";

/** Arguments of add_bill that the file contains. */
export interface FoundBill {
  name: string;
  amount?: string;
  currency?: string;
  /** As written, if several currencies share its sign. */
  price?: string;
  frequency?: "daily" | "weekly" | "monthly" | "yearly";
  every?: number;
  first_due?: string;
}

/** Nobody would add more bills one by one. */
const MOST = 100;

/** @param rows cells by plain header */
export function refuseBills(rows: Iterable<ReadonlyMap<string, string>>): ImportProblem {
  const bills: FoundBill[] = [];
  let count = 0;
  for (const row of rows) {
    const bill = readBill(row);
    if (bill && ++count <= MOST) bills.push(bill);
  }
  return { code: "invalid_argument.file_of_bills", params: { count, details: { bills } }, field: "csv" };
}

/** @returns undefined for a bill that has ended or has no name */
function readBill(row: ReadonlyMap<string, string>): FoundBill | undefined {
  const cell = (header: string) => cut(row.get(header) ?? "", 200);
  const name = shorten(oneLine(cell("name")), 120);
  if (!name || /^(disabled|inactive|cancell?ed)$/i.test(cell("state")) || /^no$/i.test(cell("active"))) {
    return undefined;
  }
  const money = readMoney(cell("price"));
  const amount = money && toDecimal(money.digits, decimalSignOf(money.digits) ?? ".");
  const due = readDate(cell("next payment"));
  const first_due = due?.isCertain && toIsoDate(due, "YMD");
  return {
    name,
    ...(amount && { amount }),
    ...(amount && money.currency && (isCode(money.currency) ? { currency: money.currency } : { price: cell("price") })),
    ...readCycle(cell("payment cycle")),
    ...(first_due && { first_due }),
  };
}

const UNITS = { day: "daily", week: "weekly", month: "monthly", year: "yearly" } as const;
const CYCLES: Record<string, Pick<FoundBill, "frequency" | "every">> = {
  daily: { frequency: "daily" },
  weekly: { frequency: "weekly" },
  biweekly: { frequency: "weekly", every: 2 },
  fortnightly: { frequency: "weekly", every: 2 },
  monthly: { frequency: "monthly" },
  quarterly: { frequency: "monthly", every: 3 },
  "semi annually": { frequency: "monthly", every: 6 },
  yearly: { frequency: "yearly" },
  annually: { frequency: "yearly" },
};

/** "Monthly", "Every 3 Months". */
function readCycle(text: string): Pick<FoundBill, "frequency" | "every"> {
  const plain = plainHeader(text);
  const several = /^every (\d{1,3}) (day|week|month|year)s?$/.exec(plain);
  if (!several) return CYCLES[plain] ?? {};
  return { frequency: UNITS[several[2] as keyof typeof UNITS], every: Number(several[1]) };
}

/** More subscriptions than any person has. */
const MAX_JSON = 1_000_000;

/** The subscriptions in a JSON text; empty without such a list. */
export function billsInJson(text: string): Map<string, string>[] {
  let value: unknown;
  try {
    value = text.length <= MAX_JSON ? JSON.parse(text) : undefined;
  } catch {
    return [];
  }
  const lists = Array.isArray(value) ? [value] : Object.values(value ?? {}).filter(Array.isArray);
  return lists.flat().filter((one) => typeof one === "object" && one !== null).map((one) =>
    new Map(Object.entries(one).map(([key, cell]) => [plainHeader(key), typeof cell === "object" ? "" : String(cell)]))
  );
}
