/**
 * Any account's statement, in any form, is read with its correct totals or leads to a question, but is never silently
 * wrong.
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { totalsOf } from "../../../shared/import/left_out.ts";
import { readImport } from "../../../shared/import/read_import.ts";
import { fromUnits, toUnits } from "../../../shared/import/units.ts";

interface Written {
  cents: number[];
  days: number[];
  isNewestFirst: boolean;
  spends: "negative" | "positive";
  decimal: "." | ",";
  order: "YMD" | "DMY" | "MDY";
  how: "sign" | "balance" | "sides" | "word";
}

const statement: fc.Arbitrary<Written> = fc.record({
  cents: fc.array(fc.integer({ min: -500_000, max: 500_000 }).filter((cents) => cents !== 0), {
    minLength: 1,
    maxLength: 12,
  }),
  days: fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 12, maxLength: 12 }),
  isNewestFirst: fc.boolean(),
  spends: fc.constantFrom("negative", "positive"),
  decimal: fc.constantFrom(".", ","),
  order: fc.constantFrom("YMD", "DMY", "MDY"),
  how: fc.constantFrom("sign", "balance", "sides", "word"),
});

/** Cents as a bank writes them: negative is spent. */
function write({ cents, days, isNewestFirst, spends, decimal, order, how }: Written): string {
  const money = (value: number) => {
    const digits = String(Math.abs(value)).padStart(3, "0");
    return `${value < 0 ? "-" : ""}${digits.slice(0, -2)}${decimal}${digits.slice(-2)}`;
  };
  const sorted = days.toSorted((a, b) => a - b);
  let balance = 10_000_000;
  const rows = cents.map((value, i) => {
    balance += value;
    const [year, month, day] = new Date(Date.UTC(2026, 0, 1 + sorted[i]!)).toISOString().slice(0, 10).split("-");
    const date = order === "YMD"
      ? `${year}-${month}-${day}`
      : order === "DMY"
      ? `${day}/${month}/${year}`
      : `${month}/${day}/${year}`;
    const signed = spends === "negative" ? value : -value;
    const cells = {
      sign: [money(signed)],
      balance: [money(signed), money(balance)],
      sides: value < 0 ? [money(-value), ""] : ["", money(value)],
      word: [money(Math.abs(value)), value < 0 ? "Debit" : "Credit"],
    }[how];
    return [date, `Row ${i}`, ...cells].join(";");
  });
  const header = { sign: "Amount", balance: "Amount;Balance", sides: "Debit;Credit", word: "Amount;D/C" }[how];
  return [`Date;Description;${header}`, ...(isNewestFirst ? rows.toReversed() : rows)].join("\n");
}

Deno.test("every generated statement sums to its total or raises a question", () => {
  fc.assert(
    fc.property(statement, (written) => {
      const read = readImport(write(written), {}, "2026-12-31");
      const spent = -written.cents.filter((cents) => cents < 0).reduce((sum, cents) => sum + cents, 0);
      const isAsked = "code" in read
        ? read.code === "needs_answer.import"
        : read.questions.some(({ id }) => id === "negative_is_expense");
      // A list with one sign and without a statement's marks is a list of expenses.
      const hasTwoSigns = new Set(written.cents.map(Math.sign)).size > 1;
      if (written.how === "sign") return hasTwoSigns ? assert(isAsked) : undefined;
      // One row, or equal rows, can't be checked against a balance. A single word may also be the way to pay.
      if (isAsked) return assert(written.how === "balance" || (written.how === "word" && spent === 0));
      if ("code" in read) return assertEquals([read.code, spent], ["invalid_argument.nothing_to_import", 0]);
      assertEquals(read.rows_bad, []);
      const total = totalsOf(read.rows)[""] ?? "0";
      assertEquals(fromUnits(toUnits(total), 2), fromUnits(BigInt(spent) * 100n, 2));
      if (read.questions.length === 0) {
        const days = written.days.toSorted((a, b) => a - b).slice(0, written.cents.length);
        const isoDays = days.map((day) => new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10));
        assert(read.rows.every(({ date }) => isoDays.includes(date)));
      }
    }),
    { numRuns: 1000 },
  );
});
