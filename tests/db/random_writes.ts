/** Random bookkeeping steps: each calls a writing tool and does the same in the model. */
import { assert, assertEquals } from "@std/assert";
import { importOfFile } from "../_support/import_args.ts";
import { type Books, confirmed, type Json } from "../_support/books.ts";
import type { TestDatabase } from "../_support/database.ts";
import type { BooksModel } from "./books_model.ts";

export interface Run {
  database: TestDatabase;
  books: Books;
  model: BooksModel;
  undone: number;
  redone: number;
}

type Pick = <Item>(items: readonly Item[]) => Item | undefined;
type Step = (run: Run, pick: Pick, seed: number) => Promise<void>;

const CURRENCIES = ["EUR", "USD", "JPY"];
const DECIMALS: Record<string, number> = { EUR: 2, USD: 2, JPY: 0 };
const major = (minor: number, currency: string) => (minor / 10 ** DECIMALS[currency]!).toFixed(DECIMALS[currency]);
const toMinor = (amount: string, currency: string) => Math.round(Number(amount) * 10 ** DECIMALS[currency]!);
const dateId = (bill: string, due: string) => `date_${bill}_${due}`;

/** Amounts, including refunds. */
const someAmount = (pick: Pick, seed: number) =>
  Array.from({ length: 1 + seed % 3 }, (_, index) => {
    const currency = pick(CURRENCIES)!;
    return { minor: 1 + (seed * 31 + index * 977) % 90_000, currency, is_refund: seed % 7 === 0 };
  });

/** An existing bill, as listed. */
async function someBill({ books, model }: Run, pick: Pick): Promise<Json> {
  const bill = pick(model.ids("bill"));
  return bill && (await books.ok("list_bills", { bill_id: bill })).bills[0];
}

/** Possible steps, by tool. */
export const STEPS: Record<string, Step> = {
  async log_expenses({ books, model }, pick, seed) {
    const items = someAmount(pick, seed);
    const { data, change_id } = await books.call("log_expenses", {
      on_duplicate: "allow",
      // The model has no income, so income must never count.
      items: [
        ...items.map(({ minor, currency, is_refund }, index) => ({
          name: `Thing ${seed} ${index}`,
          amount: major(minor, currency),
          currency,
          is_refund,
        })),
        ...(seed % 3 === 0 ? [{ name: `Pay ${seed}`, amount: "10", kind: "income", repeats: "monthly" }] : []),
      ],
    });
    model.write(change_id, (page) => {
      for (const [index, { minor, currency, is_refund }] of items.entries()) {
        page.set(data.results[index].id, { minor: is_refund ? -minor : minor, currency });
      }
    });
  },

  async import_expenses({ books, model }, pick, seed) {
    const lines = someAmount(pick, seed).map(({ minor, currency, is_refund }, index) => ({
      name: `Line ${seed} ${index} ${model.changeIds().length}`,
      minor: is_refund ? -minor : minor,
      currency,
    }));
    const csv = ["Date,Name,Amount,Currency,Category"].concat(
      lines.map(({ name, minor, currency }) =>
        `2026-11-1${seed % 9},${name},${major(minor, currency)},${currency},${seed % 4 ? "" : `Made ${seed}`}`
      ),
    );
    // Two signs would lead to a question.
    const mapping = { negative_is_expense: false };
    const args = importOfFile(csv.join("\n"), { mapping, on_duplicate: "allow" });
    const { preview } = await books.ok("import_expenses", args);
    const { change_id } = await books.call("import_expenses", {
      ...preview.commit_with,
      on_duplicate: "allow",
      create_missing_categories: true,
    });
    const { rows } = await books.ok("list_expenses", { query: ` ${model.changeIds().length}`, limit: 100 });
    model.write(change_id, (page) => {
      for (const { name, minor, currency } of lines) {
        page.set(rows.find((row: Json) => row.name === name).id, { minor, currency });
      }
    });
  },

  async update_expenses({ books, model }, pick, seed) {
    const id = pick(model.ids("exp"));
    if (!id) return;
    const { minor, currency } = model.find(id)!;
    const changed = 1 + seed % 50_000;
    const { ok, change_id } = await books.call("update_expenses", {
      ids: [id],
      set: { amount: major(changed, currency) },
    });
    assert(ok);
    if (change_id) model.write(change_id, (page) => page.set(id, { minor: Math.sign(minor) * changed, currency }));
  },

  async delete_records({ books, model }, pick, seed) {
    const ids = seed % 5 === 0
      ? [pick(model.ids("bill"))].filter((id) => id !== undefined)
      : [...new Set([1, 2].map(() => pick(model.ids("exp"))))].filter((id) => id !== undefined);
    if (ids.length === 0) return;
    const { change_id } = await books.call("delete_records", await confirmed(books, ids));
    model.write(change_id, (page) => {
      // Payments follow their bill, whose closed dates are stored for its return.
      for (const [id, { bill }] of [...page]) {
        if (ids.includes(id) || id.startsWith("pay_") && ids.includes(bill!)) page.delete(id);
      }
    });
  },

  async add_bill({ books, model }, pick, seed) {
    const currency = pick(CURRENCIES)!;
    const { data, change_id } = await books.call("add_bill", {
      name: `Bill ${seed}`,
      amount: major(1000 + seed % 9000, currency),
      amount_mode: pick(["fixed", "fixed", "estimated"]),
      currency,
      first_due: pick(["2026-12-01", "2026-11-18", "2026-10-05"]),
      on_duplicate: "allow",
    });
    model.write(change_id, (page) => page.set(data.bill.id, { minor: 0, currency }));
  },

  async sync_bill_amounts({ database, books, model }, _pick, seed) {
    const added = await books.call("add_bill", {
      name: `Power ${seed}`,
      amount_mode: "variable",
      first_due: "2026-11-25",
      on_duplicate: "allow",
    });
    const { id } = added.data.bill;
    model.write(added.change_id, (page) => page.set(id, { minor: 0, currency: "EUR" }));
    await database.query(
      `insert into app.provider_links (organization_id, expense_id, provider_key, account_label, status, created_at)
       values ($1, $2, 'utility', 'Ac…01', 'active', '2026-01-01')`,
      [books.organizationId, id],
    );
    const { data: { bills, pending } } = await books.facts("sync_bill_amounts", { bill_ids: [id] });
    const answer = { outcome: "statement", amount: major(1 + seed % 9000, "EUR"), currency: "EUR" };
    const results = pending.map(({ link_id, lease_token, period }: Json) => ({ link_id, lease_token, period, answer }));
    const { ok, change_id } = await books.call("store_bill_amounts", { bills, results });
    assert(ok && change_id);
    model.write(change_id, () => {});
  },

  async settle_up({ database, books, model }, _pick, seed) {
    const [row] = await database.query<{ id: string }>(
      "select user_id as id from identity.memberships where organization_id = $1 and user_id <> $2",
      [books.organizationId, books.userId],
    );
    const { userId } = row ? { userId: row.id } : await books.join();
    const { change_id } = await books.call("settle_up", {
      to: `${userId}@example.com`,
      amount: major(1 + seed % 9000, "EUR"),
      on_duplicate: "allow",
    });
    // Settlements don't count as spending.
    model.write(change_id, () => {});
  },

  async mark_bill_paid(run, pick, seed) {
    const bill = await someBill(run, pick);
    const due = bill?.overdue[0]?.due_on ?? bill?.next_due;
    if (!due) return;
    const { currency } = run.model.find(bill.id)!;
    const amount = bill.overdue[0]?.amount ?? bill.remaining ?? bill.amount;
    const open = amount === undefined ? undefined : toMinor(amount, currency);
    const minor = open === undefined || seed % 2 === 0 ? open ?? 1 + seed % 5000 : 1 + seed % open;
    const [date] = await run.database.query<{ expected_minor: unknown }>(
      "select expected_minor from app.expense_occurrences where expense_id = $1 and due_on = $2",
      [bill.id, due],
    );
    const { data, change_id, error } = await run.books.call("mark_bill_paid", {
      bill_id: bill.id,
      due_on: due,
      amount: major(minor, currency),
    });
    // Dates half a year ahead need confirmation.
    if (error?.code === "date_out_of_range") return;
    assertEquals(error, undefined);
    const isClosed = data.occurrence.status === "paid";
    // The charged amount also settles a date with an estimate, or a date that was created without an amount before the
    // price was fixed.
    assert(
      isClosed === (minor === open) || isClosed && (bill.amount_mode !== "fixed" || date?.expected_minor === null),
    );
    run.model.write(change_id, (page) => {
      page.set(data.payment.id, { minor, currency, bill: bill.id, due });
      if (isClosed) page.set(dateId(bill.id, due), { minor: 0, currency, bill: bill.id, due, closed: "paid" });
    });
  },

  async update_bill(run, pick, seed) {
    const bill = await someBill(run, pick);
    if (!bill) return;
    const { currency } = run.model.find(bill.id)!;
    const set = [
      { amount: major(1000 + seed % 9000, currency), amount_mode: "fixed" },
      { month_days: [1 + seed % 28] },
      { month_weekdays: [`${1 + seed % 4}TU`] },
      { status: pick(["active", "paused"]) },
    ][seed % 4];
    const { change_id } = await run.books.call("update_bill", { bill_id: bill.id, set });
    if (change_id) run.model.write(change_id, () => {});
  },

  async "update_bill of one date"(run, pick, seed) {
    const bill = await someBill(run, pick);
    const due = bill?.next_due;
    if (!due) return;
    const { currency } = run.model.find(bill.id)!;
    const paid = run.model.paid(bill.id, due);
    const minor = 1 + seed % 9000;
    const action = ["skip", "snooze", "set_amount"][seed % 3]!;
    const { change_id, error } = await run.books.call("update_bill", {
      bill_id: bill.id,
      occurrence: {
        action,
        due_on: due,
        ...(action === "set_amount" && { amount: major(minor, currency) }),
        ...(action === "snooze" && { snooze_until: "2026-11-24" }),
      },
    });
    assertEquals(error?.code, action === "skip" && paid > 0 ? "invalid_argument" : undefined);
    if (!change_id) return;
    const closed = action === "skip" ? "skipped" : action === "set_amount" && paid >= minor ? "paid" : undefined;
    run.model.write(change_id, (page) => {
      if (closed) page.set(dateId(bill.id, due), { minor: 0, currency, bill: bill.id, due, closed });
    });
  },

  async "update_bill that reopens"({ books, model }, pick) {
    const id = pick(model.ids("date").filter((id) => model.find(model.find(id)!.bill!)));
    if (!id) return;
    const { bill, due, closed } = model.find(id)!;
    const { change_id, error } = await books.call("update_bill", {
      bill_id: bill,
      occurrence: { action: "reopen", due_on: due },
    });
    assertEquals(error, undefined);
    model.write(change_id, (page) => {
      page.delete(id);
      for (const [payment, line] of [...page]) {
        if (closed === "paid" && payment.startsWith("pay_") && line.bill === bill && line.due === due) {
          page.delete(payment);
        }
      }
    });
  },

  async update_settings({ books, model }, pick, seed) {
    const [name, into] = [pick(["Food", "Travel", "Health"]), pick(["Shopping", "Gifts"])];
    const { change_id } = await books.call(
      "update_settings",
      seed % 4 === 0 ? { reminders: { default_days_before: seed % 9 } } : { category: { action: "merge", name, into } },
    );
    if (change_id) model.write(change_id, () => {});
  },

  async attach_document({ books, model }, pick, seed) {
    const to = pick(model.ids("exp"));
    if (!to) return;
    const content = btoa(`Receipt ${seed} ${model.changeIds().length}`);
    const facts = { kind: "other", format: "image", questions: [] };
    const { document } = await books.ok("attach_document", {
      ...{ step: "keep", content, facts },
      ...{ name: "receipt.png", type: "image/png" },
    });
    const { change_id } = await books.call("attach_document", { document_id: document.id, to });
    if (change_id) model.write(change_id, () => {});
  },

  async draft_cancellation(run, pick, seed) {
    const bill = await someBill(run, pick);
    if (!bill) return;
    const { change_id } = await run.books.call("draft_cancellation", {
      bill_id: bill.id,
      contract: { customer_number: `${seed}` },
    });
    if (change_id) run.model.write(change_id, () => {});
  },

  async undo_change(run, pick, seed) {
    const { books, model } = run;
    const recent = model.changeIds().slice(-25);
    const id = pick(seed % 3 === 0 ? recent.filter((id) => model.isUndo(id)) : recent);
    if (!id) return;
    const { ok, change_id, error } = await books.call("undo_change", { change_id: id });
    if (ok) {
      assert(model.canUndo(id), `${id} was undone though it was changed since`);
      if (model.isUndo(id)) run.redone++;
      model.undo(id, change_id);
      run.undone++;
    } else {
      assert(["undo_conflict", "already_undone"].includes(error.code), error.code);
    }
  },
};

const OFTEN: Record<string, number> = {
  log_expenses: 2,
  update_expenses: 2,
  mark_bill_paid: 3,
  "update_bill of one date": 2,
  undo_change: 7,
};
/** The names of `STEPS`, repeated by weight. */
export const WEIGHTED = Object.keys(STEPS).flatMap((name) => Array<string>(OFTEN[name] ?? 1).fill(name));
