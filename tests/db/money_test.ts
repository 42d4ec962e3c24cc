/** Properties of money: amounts keep their digits, and every total is the sum of its parts. */
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { addRate, type Books, confirmed, type Json, openBooks } from "../_support/books.ts";
import { openDatabase, type TestDatabase } from "../_support/database.ts";

const TODAY = "2026-10-06";
const EXPONENTS: Record<string, number> = { JPY: 0, EUR: 2, USD: 2, INR: 2, KWD: 3, CLF: 4, THB: 2 };
/** Units per euro, in ten-thousandths; THB has no rate. */
const RATES: Record<string, bigint> = { EUR: 10000n, USD: 10944n, INR: 983417n, JPY: 1606250n, KWD: 3391n, CLF: 371n };

function decimal(minor: bigint, exponent: number): string {
  const digits = String(minor < 0n ? -minor : minor).padStart(exponent + 1, "0");
  const cut = digits.length - exponent;
  return (minor < 0n ? "-" : "") + digits.slice(0, cut) + (exponent > 0 ? `.${digits.slice(cut)}` : "");
}

const minorOf = (amount: string, currency: string) => {
  const [whole = "", fraction = ""] = amount.replace("-", "").split(".");
  return BigInt((amount.startsWith("-") ? "-" : "") + whole + fraction.padEnd(EXPONENTS[currency]!, "0"));
};

/** Half up, at the day's rate, converted through the euro. */
function convert(minor: bigint, from: string, into: string): bigint {
  const numerator = minor * RATES[into]! * 10n ** BigInt(EXPONENTS[into]!);
  const denominator = RATES[from]! * 10n ** BigInt(EXPONENTS[from]!);
  return (2n * numerator + denominator) / (2n * denominator);
}

const currency = fc.constantFrom(...Object.keys(EXPONENTS));
const amount = currency.chain((code) =>
  fc.tuple(fc.constant(code), fc.oneof(fc.bigInt(1n, 500n), fc.bigInt(1n, 10n ** 11n))).map(([code, minor]) => ({
    currency: code,
    amount: decimal(minor, EXPONENTS[code]!),
  }))
);

async function withDatabase(work: (database: TestDatabase) => Promise<void>): Promise<void> {
  await using database = await openDatabase();
  for (const [code, rate] of Object.entries(RATES)) {
    if (code !== "EUR") await addRate(database, code, TODAY, decimal(rate, 4));
  }
  await work(database);
}

Deno.test("amounts round-trip in every exponent", () =>
  withDatabase(async (database) => {
    await fc.assert(
      fc.asyncProperty(fc.array(amount, { minLength: 1, maxLength: 50 }), async (amounts) => {
        const rows = await database.query<{ minor: string; text: string }>(
          `select minor::text, app.format_amount(minor, x.value ->> 'currency') as text
           from jsonb_array_elements($1::text::jsonb) with ordinality as x
           cross join lateral (select app.parse_amount(x.value ->> 'amount', x.value ->> 'currency', 'amount') as minor) as parsed
           order by x.ordinality`,
          [JSON.stringify(amounts)],
        );
        assertEquals(rows.map(({ text }) => text), amounts.map(({ amount }) => amount));
        assertEquals(
          rows.map(({ minor }) => BigInt(minor)),
          amounts.map(({ amount, currency }) => minorOf(amount, currency)),
        );
      }),
      { numRuns: 40 },
    );
  }));

Deno.test("totals are the sums of their rows, in every currency and grouping", () =>
  withDatabase(async (database) => {
    const item = fc.record({
      money: amount,
      is_refund: fc.boolean(),
      category: fc.constantFrom("Food", "Travel", "Gifts", "Uncategorized"),
      payee: fc.constantFrom("A", "B", "C", "D", "E"),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(item, { minLength: 1, maxLength: 40 }),
        fc.constantFrom("EUR", "JPY", "KWD", "INR"),
        fc.integer({ min: 1, max: 6 }),
        fc.constantFrom(["category"], ["payee"], ["month"], ["currency"], ["payee", "category"], ["category", "day"]),
        async (items, into, top, group_by) => {
          const books = await openBooks(database, { day: TODAY });
          await books.ok("log_expenses", {
            on_duplicate: "allow",
            items: items.map(({ money, ...rest }, i) => ({ name: `N${i}`, ...money, ...rest })),
          });
          const list = await books.call("list_expenses", { limit: 100 });
          const sums: Record<string, bigint> = {};
          let converted = 0n;
          for (const { money: { amount, currency }, is_refund } of items) {
            const minor = minorOf(amount, currency);
            const sign = is_refund ? -1n : 1n;
            sums[currency] = (sums[currency] ?? 0n) + sign * minor;
            if (RATES[currency]) converted += sign * convert(minor, currency, into);
          }
          const expected = Object.fromEntries(
            Object.entries(sums).map(([code, minor]) => [code, decimal(minor, EXPONENTS[code]!)]),
          );
          assertEquals(list.totals_by_currency, expected);

          const { rows, total, unconverted } = await books.ok("summarize_spending", {
            in_currency: into,
            group_by,
            top,
          });
          assertEquals(total.amount, decimal(converted, EXPONENTS[into]!));
          assertEquals(rows.reduce((sum: bigint, row: Json) => sum + minorOf(row.amount, into), 0n), converted);
          assertEquals(rows.reduce((sum: number, row: Json) => sum + row.count, 0), total.count);
          assertEquals(total.count, items.filter(({ money }) => RATES[money.currency]).length);
          assertEquals(unconverted.map(({ amount }: Json) => amount), sums.THB === undefined ? [] : [expected.THB]);
          if (converted > 0n) {
            assertEquals(Math.round(rows.reduce((sum: number, row: Json) => sum + row.share_percent * 10, 0)), 1000);
          }
        },
      ),
      { numRuns: 40 },
    );
  }));

Deno.test("balances follow any sequence of writes and undos", () =>
  withDatabase(async (database) => {
    const step = fc.oneof(
      {
        weight: 4,
        arbitrary: fc.record({
          do: fc.constant("log" as const),
          minors: fc.array(fc.integer({ min: 1, max: 9999 }), { minLength: 1, maxLength: 3 }),
        }),
      },
      {
        weight: 3,
        arbitrary: fc.record({
          do: fc.constant("change" as const),
          which: fc.nat(),
          minor: fc.integer({ min: 1, max: 9999 }),
        }),
      },
      {
        weight: 2,
        arbitrary: fc.record({
          do: fc.constant("delete" as const),
          which: fc.nat(),
          many: fc.integer({ min: 1, max: 3 }),
        }),
      },
      { weight: 3, arbitrary: fc.record({ do: fc.constant("undo" as const), which: fc.option(fc.nat()) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 30, maxLength: 60 }), async (steps) => {
        const books = await openBooks(database, { day: TODAY });
        const model = new Model(books);
        for (const next of steps) await model.run(next);
      }),
      { numRuns: 6 },
    );
  }));

type Balances = Map<string, number>;
interface Change {
  id: string;
  before: Balances;
  after: Balances;
  isUndo: boolean;
  stands: boolean;
  undoes?: Change;
}

/** The books as a map from id to amount; a touched item differs. */
class Model {
  private balances: Balances = new Map();
  private readonly changes: Change[] = [];

  constructor(private readonly books: Books) {}

  async run(step: Json): Promise<void> {
    const ids = [...this.balances.keys()];
    const before = new Map(this.balances);
    let answer: Json;
    switch (step.do) {
      case "log":
        answer = await this.books.call("log_expenses", {
          on_duplicate: "allow",
          items: step.minors.map((minor: number) => ({ name: "N", amount: decimal(BigInt(minor), 2) })),
        });
        step.minors.forEach((minor: number, i: number) => this.balances.set(answer.data.results[i].id, minor));
        break;
      case "change": {
        if (ids.length === 0) return;
        const id = ids[step.which % ids.length]!;
        answer = await this.books.call("update_expenses", {
          ids: [id],
          set: { amount: decimal(BigInt(step.minor), 2) },
        });
        this.balances.set(id, step.minor);
        break;
      }
      case "delete": {
        if (ids.length === 0) return;
        const gone = ids.slice(step.which % ids.length).slice(0, step.many);
        answer = await this.books.call("delete_records", await confirmed(this.books, gone));
        gone.forEach((id) => this.balances.delete(id));
        break;
      }
      default:
        return await this.undo(
          step.which === null ? undefined : this.changes[step.which % Math.max(1, this.changes.length)],
        );
    }
    assertEquals(answer.ok, true, JSON.stringify(answer.error));
    if (answer.change_id) {
      this.changes.push({ id: answer.change_id, before, after: new Map(this.balances), isUndo: false, stands: true });
    }
    await this.check();
  }

  private async undo(named: Change | undefined): Promise<void> {
    const change = named ?? this.changes.at(-1);
    const answer = await this.books.call("undo_change", named ? { change_id: named.id } : {});
    if (!change) return assertEquals(answer.error.code, "not_found");
    if (!change.stands || !named && change.isUndo) return assertEquals(answer.error.code, "already_undone");
    const touched = [...new Set([...change.before.keys(), ...change.after.keys()])].filter((id) =>
      change.before.get(id) !== change.after.get(id)
    );
    const isPossible = change.stands && touched.every((id) => this.balances.get(id) === change.after.get(id));
    assertEquals(answer.ok, isPossible, JSON.stringify(answer));
    if (!isPossible) return assertEquals(answer.error.code, "undo_conflict");

    const before = new Map(this.balances);
    for (const id of touched) {
      const amount = change.before.get(id);
      if (amount === undefined) this.balances.delete(id);
      else this.balances.set(id, amount);
    }
    let stands = false;
    for (let link: Change | undefined = change; link; link = link.undoes) {
      link.stands = stands;
      stands = !stands;
    }
    this.changes.push({
      id: answer.change_id,
      before,
      after: new Map(this.balances),
      isUndo: true,
      stands: true,
      undoes: change,
    });
    await this.check();
  }

  private async check(): Promise<void> {
    const { rows } = await this.books.ok("list_expenses", { limit: 100 });
    const { total_count, totals_by_currency } = await this.books.call("list_expenses", { limit: 1 });
    assertEquals(total_count, this.balances.size);
    const sum = [...this.balances.values()].reduce((one, other) => one + other, 0);
    assertEquals(totals_by_currency, this.balances.size > 0 ? { EUR: decimal(BigInt(sum), 2) } : {});
    for (const { id, amount } of rows) assertEquals(amount, decimal(BigInt(this.balances.get(id)!), 2));
  }
}
