/** Random sequences of writes and undos leave the balances that a model in memory has; a refused undo changes nothing. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import { openDatabase, type TestDatabase } from "../_support/database.ts";
import { type Balances, BooksModel } from "./books_model.ts";

/** On a server as long as the sequences are meant to be, in memory a taste of it. */
const { sequences, writes } = Deno.env.get("TEST_DATABASE_URL")
  ? { sequences: 5, writes: 200 }
  : { sequences: 1, writes: 80 };

const CURRENCIES = ["EUR", "USD", "JPY"];
const DECIMALS: Record<string, number> = { EUR: 2, USD: 2, JPY: 0 };
const major = (minor: number, currency: string) => (minor / 10 ** DECIMALS[currency]!).toFixed(DECIMALS[currency]);

type Step = (run: Run, pick: <Item>(items: readonly Item[]) => Item | undefined, seed: number) => Promise<void>;

interface Run {
  books: Books;
  model: BooksModel;
  bills: Map<string, string>;
  undone: number;
}

const call = async ({ books }: Run, tool: string, args: Record<string, unknown>): Promise<Json> =>
  await books.call(tool, args);

/** What may happen, as often as it is named. */
const STEPS: Record<string, Step> = {
  async log(run, pick, seed) {
    const items = Array.from({ length: 1 + seed % 3 }, (_, index) => {
      const currency = pick(CURRENCIES)!;
      return { minor: 1 + (seed * 31 + index * 977) % 90_000, currency, is_refund: seed % 7 === 0 };
    });
    const { data, change_id } = await call(run, "log_expenses", {
      on_duplicate: "allow",
      items: items.map(({ minor, currency, is_refund }, index) => ({
        name: `Thing ${seed} ${index}`,
        amount: major(minor, currency),
        currency,
        is_refund,
      })),
    });
    run.model.write(change_id, (page) => {
      for (const [index, { minor, currency, is_refund }] of items.entries()) {
        page.set(data.results[index].id, { minor: is_refund ? -minor : minor, currency });
      }
    });
  },
  async update(run, pick, seed) {
    const id = pick(run.model.ids().filter((id) => id.startsWith("exp_")));
    if (!id) return;
    const { minor, currency } = run.model.find(id)!;
    const changed = 1 + seed % 50_000;
    const { ok, change_id } = await call(run, "update_expenses", {
      ids: [id],
      set: { amount: major(changed, currency) },
    });
    assert(ok);
    if (change_id) run.model.write(change_id, (page) => page.set(id, { minor: Math.sign(minor) * changed, currency }));
  },
  async remove(run, pick) {
    const ids = [...new Set([1, 2].map(() => pick(run.model.ids().filter((id) => id.startsWith("exp_")))))].filter(
      Boolean,
    );
    if (ids.length === 0) return;
    const { change_id } = await call(run, "delete_records", { ids });
    run.model.write(change_id, (page) => ids.forEach((id) => page.delete(id!)));
  },
  async add(run, pick, seed) {
    const currency = pick(CURRENCIES)!;
    const { data, change_id } = await call(run, "add_bill", {
      name: `Bill ${seed}`,
      amount: major(1000 + seed % 9000, currency),
      currency,
      first_due: "2026-12-01",
      on_duplicate: "allow",
    });
    run.bills.set(data.bill.id, currency);
    run.model.write(change_id, () => {});
  },
  async pay(run, pick, seed) {
    const bill = pick([...run.bills.keys()]);
    if (!bill) return;
    const shown = (await call(run, "list_bills", { bill_id: bill })).data?.bills[0];
    if (!shown?.next_due) return;
    const due = Number(shown.remaining ?? shown.amount);
    const currency = run.bills.get(bill)!;
    const minor = Math.round(due * 10 ** DECIMALS[currency]!);
    const part = seed % 2 === 0 ? minor : 1 + seed % minor;
    const { data, change_id, error } = await call(run, "mark_bill_paid", {
      bill_id: bill,
      due_on: shown.next_due,
      amount: major(part, currency),
    });
    assertEquals(error, undefined);
    run.model.write(change_id, (page) => page.set(data.payment.id, { minor: part, currency }));
  },
  async change(run, pick, seed) {
    const bill = pick([...run.bills.keys()]);
    if (!bill) return;
    const shown = (await call(run, "list_bills", { bill_id: bill })).data?.bills[0];
    if (!shown) return;
    const args = [
      { set: { amount: major(1000 + seed % 9000, run.bills.get(bill)!) } },
      { set: { month_days: [1 + seed % 28] } },
      { set: { status: pick(["active", "paused"]) } },
      shown.next_due && { occurrence: { action: "skip", due_on: shown.next_due } },
    ][seed % 4];
    if (!args) return;
    const { change_id } = await call(run, "update_bill", { bill_id: bill, ...args });
    if (change_id) run.model.write(change_id, () => {});
  },
  async merge(run, pick) {
    const [name, into] = [pick(["Food", "Travel", "Health"]), pick(["Shopping", "Gifts"])];
    const { change_id } = await call(run, "update_settings", { category: { action: "merge", name, into } });
    if (change_id) run.model.write(change_id, () => {});
  },
  async undo(run, pick) {
    const id = pick(run.model.changeIds().slice(-25));
    if (!id) return;
    const { ok, change_id, error } = await call(run, "undo_change", { change_id: id });
    if (ok) {
      assert(run.model.canUndo(id), `${id} was undone though it was changed since`);
      run.model.undo(id, change_id);
      run.undone++;
    } else {
      assertEquals(error.code, "undo_conflict");
    }
  },
};
const WEIGHTED = [
  "log",
  "log",
  "update",
  "update",
  "remove",
  "add",
  "pay",
  "pay",
  "change",
  "change",
  "merge",
  "undo",
  "undo",
  "undo",
  "undo",
];

async function balances(database: TestDatabase, { organizationId }: Books): Promise<Balances> {
  const rows = await database.query<{ currency: string; minor: number }>(
    `select currency, sum(case direction when 'out' then amount_minor else -amount_minor end)::float8 as minor
     from app.payments where organization_id = $1 and deleted_at is null group by 1 having sum(case direction when 'out' then amount_minor else -amount_minor end) <> 0`,
    [organizationId],
  );
  return Object.fromEntries(rows.map(({ currency, minor }) => [currency, minor]));
}

Deno.test(`${sequences} × ${writes} random writes and undos leave the balances of the model`, async () => {
  const database = await openDatabase();
  try {
    const seeds = fc.sample(fc.infiniteStream(fc.nat(1_000_000)), { numRuns: sequences, seed: 20261120 });
    for (const stream of seeds) {
      const run: Run = {
        books: await openBooks(database, { day: "2026-11-20" }),
        model: new BooksModel(),
        bills: new Map(),
        undone: 0,
      };
      for (let step = 0; step < writes; step++) {
        const next = () => stream.next().value as number;
        const name = WEIGHTED[next() % WEIGHTED.length]!;
        await STEPS[name]!(run, (items) => items[next() % Math.max(1, items.length)], next());
        assertEquals(await balances(database, run.books), run.model.balances(), `after step ${step}, ${name}`);
      }
      const [{ wrong }] = await database.query<{ wrong: number }>(
        `select count(*)::int as wrong from app.expense_occurrences as o where organization_id = $1 and (
           paid_minor <> (select coalesce(sum(case p.direction when 'out' then p.amount_minor else -p.amount_minor end), 0)
             from app.payments as p where p.occurrence_id = o.id and p.deleted_at is null)
           or status = 'open' and paid_minor >= expected_minor)`,
        [run.books.organizationId],
      ) as [{ wrong: number }];
      assertEquals(wrong, 0, "dates whose sums are wrong, or that are open though all of them was paid");
      assert(run.undone > writes / 15, `only ${run.undone} undos worked`);
    }
  } finally {
    await database.close();
  }
});
