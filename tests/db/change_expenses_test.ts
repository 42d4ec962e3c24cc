import { assertEquals, assertMatch } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import { addRate, type Books, type Json, openBooks, readChange } from "../_support/books.ts";

const TODAY = "2026-10-06";

const log = async (books: Books, ...items: Json[]) =>
  (await books.ok("log_expenses", { items, on_duplicate: "allow" })).results.map(({ id }: Json) => id);
const rows = async (books: Books) => (await books.ok("list_expenses")).rows;

testBooks("update_expenses", { day: TODAY }, {
  "changes one expense and returns its values before and after": async (books, database) => {
    await addRate(database, "USD", "2026-10-01", "1.25");
    const [id] = await log(books, { name: "Lunch", amount: "14.50", tags: ["a"], note: "Old" });
    const set = {
      name: "Dinner",
      amount: "20",
      currency: "USD",
      date: "2026-10-02",
      payee: "Cafe",
      category: "travel",
      note: "",
    };
    const result = await books.call("update_expenses", { ids: [id], set, add_tags: ["B", "A"], expected_version: 1 });
    assertEquals(result.data, {
      updated: [{
        id,
        before: {
          name: "Lunch",
          amount: "14.50",
          currency: "EUR",
          date: TODAY,
          category: "Food",
          tags: ["a"],
          note: "Old",
        },
        after: {
          name: "Dinner",
          amount: "20.00",
          currency: "USD",
          date: "2026-10-02",
          payee: "Cafe",
          category: "Travel",
          tags: ["a", "B"],
        },
        version: 3,
      }],
      count: 1,
    });
    const [row] = await rows(books);
    assertEquals([row.base_amount, row.version, row.note], ["16.00", 3, undefined]);
    const [stored] = await database.query("select base_minor, fx_rate_on from app.payments where expense_id = $1", [
      id,
    ]);
    assertEquals(stored, { base_minor: 1600, fx_rate_on: "2026-10-01" });
    const change = await readChange(database, result.change_id);
    assertEquals(change.summary, "Changed Dinner: amount, category, currency, date, name, note, payee, tags");
  },

  "changes shared fields of many expenses": async (books) => {
    const ids = await log(books, { name: "A", amount: "1" }, { name: "B", amount: "2", payee: "X" }, {
      name: "C",
      amount: "3",
    });
    const { updated } = await books.ok("update_expenses", {
      ids: ids.slice(0, 2),
      set: { payee: "X", category: "Gifts" },
      add_tags: ["party"],
    });
    assertEquals(updated.map(({ id, before, after }: Json) => [id, before, after]), [
      [ids[0], { category: "Uncategorized" }, { payee: "X", category: "Gifts", tags: ["party"] }],
      [ids[1], { category: "Uncategorized" }, { category: "Gifts", tags: ["party"] }],
    ]);
    assertEquals((await books.ok("summarize_spending")).rows.map(({ group, amount }: Json) => [...group, amount]), [
      ["Gifts", "3.00"],
      ["Uncategorized", "3.00"],
    ]);
    await books.ok("update_expenses", { ids, set: { category: "Uncategorized", tags: [] } });
    assertEquals(
      (await rows(books)).map(({ category, tags }: Json) => [category, tags]),
      Array(3).fill(["Uncategorized", undefined]),
    );
    for (const set of [{ name: "N" }, { amount: "1" }, { currency: "USD" }, { date: "today" }]) {
      assertEquals((await books.fails("invalid_argument", "update_expenses", { ids, set })).field, "set");
    }
    await books.fails("invalid_argument", "update_expenses", { ids, set: { note: "x" }, expected_version: 1 });
  },

  "writes nothing when nothing changes": async (books) => {
    const [id] = await log(books, { name: "A", amount: "1", category: "Food", tags: ["x"] });
    const set = { name: " A ", amount: "1.00", currency: "EUR", date: "today", category: "FOOD" };
    const result = await books.call("update_expenses", { ids: [id], set, add_tags: ["X"], expected_version: 1 });
    assertEquals([result.data.updated, result.change_id], [
      [{
        id,
        name: "A",
        amount: "1.00",
        currency: "EUR",
        date: result.context.today,
        before: {},
        after: {},
        version: 1,
      }],
      undefined,
    ]);
  },

  "refuses to overwrite another person's change": async (books) => {
    const [id] = await log(books, { name: "Lunch", amount: "1" });
    const member = await books.join();
    const { updated } = await member.ok("update_expenses", { ids: [id], set: { amount: "2" } });
    const error = await books.fails("stale_version", "update_expenses", {
      ids: [id],
      set: { amount: "3" },
      expected_version: 1,
    });
    assertEquals([error.field, error.details.version, error.details.current.amount], [
      "expected_version",
      updated[0].version,
      "2.00",
    ]);
    await books.fails("stale_version", "update_expenses", {
      ids: [id],
      set: { amount: "3" },
      expected_version: 2 ** 31,
    });
    await books.ok("update_expenses", { ids: [id], set: { amount: "3" }, expected_version: error.details.version });
    // A change of either row counts: a person sees them as one.
    await member.ok("update_expenses", { ids: [id], set: { note: "x" } });
    await books.fails("stale_version", "update_expenses", {
      ids: [id],
      set: { amount: "4" },
      expected_version: error.details.version + 1,
    });
  },

  "refuses the same values as log_expenses": async (books) => {
    const [id, yen] = await log(books, { name: "Lunch", amount: "1.50" }, { name: "Sushi", amount: "10.00" });
    const cases: [string, string, Json][] = [
      ["amount_precision", "set.amount", { amount: "1.234" }],
      ["amount_precision", "set.amount", { currency: "JPY" }],
      ["currency_unknown", "set.currency", { currency: "XXX" }],
      ["date_out_of_range", "set.date", { date: "2026-10-08" }],
      ["date_out_of_range", "set.date", { date: "2026-02-30" }],
      ["category_not_found", "set.category", { category: "Fod" }],
      ["invalid_argument", "set.name", { name: " " }],
      ["invalid_argument", "set", {}],
    ];
    for (const [code, field, set] of cases) {
      assertEquals((await books.fails(code, "update_expenses", { ids: [id], set })).field, field);
    }
    await books.fails("invalid_argument", "update_expenses", { ids: [id] });
    const many = Array.from({ length: 10 }, (_, i) => `t${i}`);
    await books.ok("update_expenses", { ids: [id], add_tags: many });
    assertEquals(
      (await books.fails("invalid_argument", "update_expenses", { ids: [id], add_tags: ["more"] })).field,
      "add_tags",
    );
    const { updated } = await books.ok("update_expenses", { ids: [yen], set: { currency: "JPY" } });
    assertEquals([updated[0].before, updated[0].after], [{ amount: "10.00", currency: "EUR" }, {
      amount: "10",
      currency: "JPY",
    }]);
  },

  "changes nothing when an id does not exist": async (books, database) => {
    const stranger = await openBooks(database, { day: TODAY });
    const [foreign] = await log(stranger, { name: "Foreign", amount: "1" });
    const [id, gone] = await log(books, { name: "A", amount: "1" }, { name: "Gone", amount: "2" });
    await books.ok("delete_records", { ids: [gone] });
    const missing = ["exp_000000000000", foreign, gone];
    for (const other of missing) {
      const error = await books.fails("not_found", "update_expenses", { ids: [id, other], set: { note: "x" } });
      assertEquals([error.field, error.details], ["ids", { ids: [other] }]);
    }
    const { bill } = await books.ok("add_bill", { name: "Rent", amount: "1", first_due: "today" });
    assertEquals((await books.ok("list_expenses")).rows[0].version, 1);
    assertEquals((await stranger.ok("list_expenses")).rows[0].note, undefined);
    assertMatch(bill.id, /^bill_/);
  },
});

testBooks("delete_records", { day: TODAY, timezone: "Asia/Kolkata", baseCurrency: "INR" }, {
  "removes expenses from every list and total": async (books, database) => {
    const [id, other] = await log(books, { name: "Lunch", amount: "14.50" }, { name: "Tea", amount: "2" });
    const result = await books.call("delete_records", {
      ids: [id],
      expected: [{ id, amount: "14.5", date: "today" }],
      reason: "Logged twice",
    });
    assertEquals(result.data, {
      deleted: [{ id, name: "Lunch", amount: "14.50", currency: "INR", date: "2026-10-06" }],
      count: 1,
      restorable_until: "2026-11-05",
    });
    assertEquals((await readChange(database, result.change_id)).summary, "Deleted Lunch: Logged twice");
    assertEquals((await rows(books)).map(({ id }: Json) => id), [other]);
    assertEquals((await books.ok("summarize_spending")).total, { amount: "2.00", currency: "INR", count: 1 });
    const again = await books.fails("not_found", "delete_records", { ids: [id, other] });
    assertEquals([again.message, again.details], ["Already deleted: Lunch.", { ids: [id] }]);
    assertEquals((await rows(books)).length, 1);
    // Deleted expenses count neither as duplicates nor as history.
    assertEquals(
      (await books.ok("log_expenses", { items: [{ name: "Lunch", amount: "14.50" }] })).results[0].status,
      "created",
    );
  },

  "deletes nothing when a record has changed after it was shown": async (books) => {
    const [id, other] = await log(books, { name: "Lunch", amount: "14.50" }, { name: "Tea", amount: "2" });
    for (const expected of [{ amount: "14.51" }, { date: "yesterday" }]) {
      const error = await books.fails("expectation_mismatch", "delete_records", {
        ids: [other, id],
        expected: [{ id, ...expected }],
      });
      assertEquals(
        error.message,
        `Lunch has changed since it was shown: it is 14.50 INR on ${TODAY}. Nothing was deleted.`,
      );
      assertEquals(error.details.mismatches, [{
        id,
        name: "Lunch",
        expected,
        current: { amount: "14.50", currency: "INR", date: TODAY },
      }]);
    }
    await books.fails("invalid_argument", "delete_records", { ids: [other], expected: [{ id }] });
    await books.fails("not_found", "delete_records", { ids: [id, "exp_000000000000"] });
    assertEquals((await rows(books)).length, 2);
  },

  "deletes a bill with its payments, and only one": async (books) => {
    const { bill } = await books.ok("add_bill", { name: "Rent", amount: "1200", first_due: "2026-10-01" });
    const { bill: other } = await books.ok("add_bill", { name: "Gym", amount: "20", first_due: "2026-10-01" });
    await books.ok("mark_bill_paid", { advance: true, bill_id: bill.id });
    const [id] = await log(books, { name: "Tea", amount: "2" });
    for (const ids of [[bill.id, other.id], [id, bill.id]]) {
      await books.fails("invalid_argument", "delete_records", { ids });
    }
    const { next_due } = (await books.ok("list_bills", { bill_id: bill.id })).bills[0];
    await books.fails("expectation_mismatch", "delete_records", {
      ids: [bill.id],
      expected: [{ id: bill.id, amount: "1200", date: "2026-10-01" }],
    });
    const all = { ids: [bill.id], expected: [{ id: bill.id, amount: "1200", date: next_due }] };
    const { details, hint } = await books.fails("confirmation_required", "delete_records", all);
    assertEquals(details, { confirm: { count: 2, total: "1200.00" }, currency: "INR" });
    assertMatch(hint, /confirm \{"count": 2, "total": "1200\.00"\}\.$/);
    for (const wrong of [{ count: 1 }, { total: "1200.01" }]) {
      await books.fails("confirmation_required", "delete_records", {
        ...all,
        confirm: { ...details.confirm, ...wrong },
      });
    }
    const preview = await books.call("delete_records", { ...all, dry_run: true });
    assertEquals([preview.data.confirm, preview.change_id], [details.confirm, undefined]);
    assertEquals((await books.ok("list_bills")).bills.length, 2);
    const { data, warnings } = await books.call("delete_records", {
      confirm: preview.data.confirm,
      ids: [bill.id],
      expected: [{ id: bill.id, amount: "1200", date: next_due }],
    });
    assertEquals(data.deleted, [{ id: bill.id, name: "Rent", payments: { count: 1, totals: { INR: "1200.00" } } }]);
    assertEquals(warnings, [{
      code: "payments_deleted",
      message:
        "One payment of this bill is deleted with it and left out of every total: 1200.00 INR. To stop a bill and keep what was paid, undo this and " +
        'use update_bill with status "cancelled".',
    }]);
    assertEquals((await rows(books)).map(({ name }: Json) => name), ["Tea"]);
    assertEquals((await books.ok("list_bills", { status: "all" })).bills.map(({ name }: Json) => name), ["Gym"]);
    const unpaid = await books.call("delete_records", { ids: [other.id] });
    assertEquals([unpaid.data.deleted[0].payments, unpaid.warnings], [{ count: 0, totals: {} }, []]);
    await books.fails("not_found", "mark_bill_paid", { bill_id: bill.id });
  },

  "requires confirmation above 20 records, above 1,000 in value, or without a known value": async (books) => {
    const many = await log(books, ...Array.from({ length: 21 }, (_, i) => ({ name: `N${i}`, amount: "1" })));
    const { message, details } = await books.fails("confirmation_required", "delete_records", { ids: many });
    assertEquals(message, "This would delete 21 records worth 21.00 INR. Nothing was deleted.");
    assertEquals(details.confirm, { count: 21, total: "21.00" });
    await books.ok("delete_records", { ids: many.slice(1) });
    const [most, back, foreign] = await log(
      books,
      { name: "Most", amount: "999.99" },
      { name: "Back", amount: "600", is_refund: true },
      { name: "Foreign", amount: "1", currency: "THB" },
    );
    // Refunds don't reduce the amount of a deletion.
    await books.fails("confirmation_required", "delete_records", { ids: [most, back] });
    assertMatch((await books.fails("confirmation_required", "delete_records", { ids: [foreign] })).message, /in THB/);
    await books.ok("delete_records", { ids: [foreign], confirm: { count: 1, total: "0.00" } });
    await books.ok("delete_records", { ids: [most] });
  },

  "cannot see another organization": async (books, database) => {
    const stranger = await openBooks(database, { day: TODAY });
    const [foreign] = await log(stranger, { name: "Foreign", amount: "1" });
    const { bill } = await stranger.ok("add_bill", { name: "Rent", amount: "1", first_due: "today" });
    for (const id of [foreign, bill.id]) {
      const error = await books.fails("not_found", "delete_records", { ids: [id] });
      assertEquals(error.message, `There is no ${id} in Household.`);
    }
    assertEquals((await rows(stranger)).length, 1);
    assertEquals((await stranger.ok("list_bills")).bills.length, 1);
  },
});
