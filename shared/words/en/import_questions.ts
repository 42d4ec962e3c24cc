/** Questions of `import_expenses`, and rows that it counts although a person might disagree. */
import type { Money } from "../message.ts";
import { count, money, or, quoted, totals } from "./phrases.ts";

/** Questions that neither the file nor the books answer, by id. */
export const questions = {
  date_format: (
    { day_first, month_first, is_mixed }: { day_first: string; month_first: string; is_mixed?: true },
  ): string =>
    is_mixed
      ? "Some dates have the day first and others the month: which is right for the rest?"
      : `Is the first date ${day_first} (day first) or ${month_first} (month first)?`,
  decimal: ({ digits, is_mixed }: { digits: string; is_mixed?: true }): string =>
    is_mixed
      ? "Some amounts have a decimal point and others a comma: which is right?"
      : `In ${quoted(digits)}, does the separator mark thousands or decimals?`,
  negative_is_expense: ({ line, name, amount }: { line: number; name: string; amount: string }): string =>
    `Line ${line}, ${quoted(name)}, is ${amount}: are negative amounts money spent, or are positive ones?`,
  default_currency: ({ home, suggested }: { home: string; suggested: string[] }): string =>
    `No currency is named, and the file looks like one in ${or(suggested)}: is it that, or ${home}?`,
  row: (
    { line, name, payee, kind, candidates, ...row }: Money & {
      line: number;
      name: string;
      payee?: string;
      date: string;
      /** The kind of a row that is not an expense. */
      kind?: string;
      /** A bill's due date; the amount is absent while it is unknown. */
      candidates: (Partial<Money> & { id: string; name: string; date: string; account?: string })[];
    },
  ): string => {
    const shop = payee && payee !== name ? ` (${payee})` : "";
    const said = `Line ${line}, ${quoted(name)}${shop}, ${booked(row)}`;
    const known = candidates.filter(({ id }) => id !== "transfer")
      .map((one) => `${quoted(one.name)}, ${booked(one)}`).join(" or ");
    if (kind === "income" && !known) {
      return `${said}: is it a transfer between your own accounts ("transfer"), or income ("new")?`;
    }
    if (kind === "income") {
      return `${said}: is it the other half of ${known} in the books, which is then removed as a transfer ("same"), ` +
        'or income ("new")?';
    }
    if (kind && kind !== "refund") {
      return `${said}, is not spending: is it the other half of ${known} in the books, which is then removed as a ` +
        'transfer ("same"), or is it unrelated ("new")?';
    }
    // The name matches and the bank's amount is slightly larger, because the person stated the amount without the
    // tip.
    const [first] = candidates;
    const paid = Number(row.amount) / Number(first?.amount);
    const tip = first && first.currency === row.currency && first.id.startsWith("exp_") && paid > 1 && paid <= 1.3
      ? "with a tip, "
      : "";
    const transfer = candidates.find(({ id }) => id === "transfer");
    const half = transfer?.account
      ? `the other half of ${quoted(transfer.name)}, ${booked(transfer)} in ${quoted(transfer.account)}`
      : "a transfer between your own accounts or the payment of a credit card";
    return `${said}: is it ${known ? `${known} in the books, ${tip}` : ""}${
      transfer ? `${half} (not spending), ` : ""
    }or a new ${kind ?? "expense"}?`;
  },
};

/** "61.20 EUR on 19 Feb" */
const booked = ({ date, amount, currency }: Partial<Money> & { date: string }): string =>
  amount && currency
    ? `${money({ amount, currency })} on ${shortDay(date)}`
    : `due on ${shortDay(date)} without an amount`;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const shortDay = (date: string): string => `${Number(date.slice(8, 10))} ${MONTHS[Number(date.slice(5, 7)) - 1]}`;

/** A row that an earlier answer determines. */
interface Recalled {
  line: number;
  name: string;
  as: "new" | "transfer" | "linked";
  /** The bill that the row pays. */
  of?: string;
}

export const warnings = {
  "answers_recalled": ({ count: rows, rows: first }: { count: number; rows: Recalled[] }): string =>
    `Answered as before: ${
      first.map(({ line, name, as, of }) => `line ${line}, ${quoted(name)}: ${as === "linked" && of ? quoted(of) : as}`)
        .join("; ")
    }${rows > first.length ? "; …" : ""}. If one is wrong, answer row_<line>.`,
  "halves_counted": (
    { pairs }: { pairs: (Money & { name: string; date: string; account: string; ids: string[] })[] },
  ): string =>
    `${
      pairs.map(({ account, ids, ...paid }) =>
        `${quoted(paid.name)}, ${booked(paid)}, may be a transfer to ${account} (${ids.join(", ")}).`
      ).join(" ")
    } Ask the person, and delete the records of each transfer with delete_records.`,
  "cash_withdrawn.in_file": (
    { count: rows, totals: cash, lines }: { count: number; totals: Record<string, string>; lines: number[] },
  ): string =>
    `${count(rows, "row")} ${rows === 1 ? "is" : "are"} cash from a machine, ${totals(cash)} (${
      linesOf(lines, rows)
    }), ` +
    "and counted as spending. Ask the person whether they also log their purchases in cash. If so, leave these rows out with skip_lines.",
  "paid_to_member": (
    { count: rows, rows: first }: { count: number; rows: (Money & { line: number; name: string; member: string })[] },
  ): string =>
    `${
      first.map(({ line, name, member, ...paid }) =>
        `Line ${line}, ${quoted(name)}, ${money(paid)}, may be for ${member}.`
      )
        .join(" ")
    }${
      rows > first.length ? ` ${count(rows - first.length, "more row")} like these.` : ""
    } Such rows count as spending. ` +
    "Ask the user; money that only settles shared costs belongs in settle_up: leave it out with skip_lines.",
};

const linesOf = (lines: number[], all: number): string =>
  `${lines.length === 1 ? "line" : "lines"} ${lines.join(", ")}${all > lines.length ? ", …" : ""}`;
