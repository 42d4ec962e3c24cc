import { importOf } from "../_support/import_args.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import { addRate, type Books, type Json, openBooks } from "../_support/books.ts";
import type { TestDatabase } from "../_support/database.ts";

const TODAY = "2026-10-06";

/** The stored books: every row that is not deleted or archived, without version counters. */
const dump = async (database: TestDatabase, books: Books): Promise<Json> => {
  const tables = ["categories", "expenses", "expense_occurrences", "payments"];
  const queries = tables.map((table) =>
    `select '${table}' as name, to_jsonb(t) - 'version' - 'updated_at' as row from app.${table} as t
     where t.organization_id = $1 and coalesce(to_jsonb(t) ->> 'deleted_at', to_jsonb(t) ->> 'archived_at') is null`
  );
  const rows = await database.query<{ name: string; row: Json }>(
    `select * from (${queries.join(" union all ")}) as t order by name, row ->> 'id'`,
    [
      books.organizationId,
    ],
  );
  // The schedule determines an open due date, with or without a row. The dates of a deleted bill do not count.
  const ids = new Set(rows.map(({ row }) => row.id));
  return rows.filter(({ name, row }) =>
    name !== "expense_occurrences" || (row.status !== "open" && ids.has(row.expense_id))
  );
};

/** The results of the read tools, without versions. */
const look = async (books: Books): Promise<Json> => {
  const answers = await Promise.all([
    books.call("list_expenses", { limit: 100 }),
    books.ok("summarize_spending", { include_upcoming: true }),
    books.ok("list_bills", { status: "all" }),
    books.ok("get_context", { include: ["categories"] }),
  ]);
  return JSON.parse(JSON.stringify(answers, (key, value) => key === "version" ? undefined : value));
};

const log = async (books: Books, ...items: Json[]) =>
  (await books.ok("log_expenses", { items })).results.map(({ id }: Json) => id);

const WRITES: Record<string, (books: Books, ids: Record<string, string>) => Promise<Json>> = {
  "log_expenses": (books) =>
    books.call("log_expenses", {
      items: [{ name: "Tea", amount: "2" }, { name: "Weights", amount: "30", currency: "USD", category: "Sport" }],
      create_missing_categories: true,
    }),
  "update_expenses of one": (books, { lunch }) =>
    books.call("update_expenses", {
      ids: [lunch],
      set: {
        amount: "9",
        currency: "USD",
        date: "yesterday",
        name: "Brunch",
        payee: "",
        note: "x",
        category: "Travel",
      },
      add_tags: ["t"],
    }),
  "update_expenses of many": (books, { lunch, train }) =>
    books.call("update_expenses", { ids: [lunch, train], set: { category: "Gifts", tags: ["x"] } }),
  "delete_records of expenses": (books, { lunch, train }) => books.call("delete_records", { ids: [lunch, train] }),
  "delete_records of a bill": (books, { rent }) => books.call("delete_records", { ids: [rent] }),
  "add_bill": (books) => books.call("add_bill", { name: "Gym", amount: "20", month_days: [5, 20], category: "Health" }),
  "add_bill of a one-time bill": (books) =>
    books.call("add_bill", { name: "Tax", amount: "900", frequency: "once", first_due: "2026-12-01" }),
  "mark_bill_paid": (books, { rent }) => books.call("mark_bill_paid", { bill_id: rent }),
  "mark_bill_paid in part": (books, { rent }) => books.call("mark_bill_paid", { bill_id: rent, amount: "100" }),
  "mark_bill_paid in advance": (books, { rent }) =>
    books.call("mark_bill_paid", { bill_id: rent, due_on: "2026-12-06" }),
  "mark_bill_paid of the last date": (books, { tv }) => books.call("mark_bill_paid", { bill_id: tv, advance: true }),
};

async function fill(books: Books, database: TestDatabase): Promise<Record<string, string>> {
  await addRate(database, "USD", "2026-10-05", "1.25");
  const [lunch, train] = await log(books, { name: "Lunch", payee: "Cafe", amount: "14.50", tags: ["a"] }, {
    name: "Train",
    amount: "80",
  });
  const bill = async (args: Json) => (await books.ok("add_bill", args)).bill.id;
  const rent = await bill({ name: "Rent", amount: "1200", first_due: TODAY });
  const tv = await bill({ name: "Television", amount: "400", frequency: "once", first_due: "2026-10-20" });
  return { lunch, train, rent, tv };
}

testBooks(
  "undo_change reverts",
  { day: TODAY },
  Object.fromEntries(
    Object.entries(WRITES).map((
      [name, write],
    ) => [`${name}, and undoing that does it again`, async (books, database) => {
      const ids = await fill(books, database);
      const [before, seenBefore] = [await dump(database, books), await look(books)];
      const written = await write(books, ids);
      assertEquals(written.ok, true, JSON.stringify(written.error));
      const [after, seenAfter] = [await dump(database, books), await look(books)];
      assert(JSON.stringify(seenAfter) !== JSON.stringify(seenBefore), "the write is seen");

      const undone = await books.call("undo_change");
      assertEquals(undone.ok, true, JSON.stringify(undone.error));
      assertEquals(undone.data.undone.change_id, written.change_id);
      assert(undone.data.reversed.length > 0 && undone.data.reversed.every(({ id, what }: Json) => id && what));
      assertEquals(undone.data.not_reversible, []);
      assertEquals(await look(books), seenBefore);
      assertEquals(await dump(database, books), before);

      const redone = await books.call("undo_change", { change_id: undone.change_id });
      assertEquals(redone.ok, true, JSON.stringify(redone.error));
      assertEquals(await look(books), seenAfter);
      assertEquals(await dump(database, books), after);

      // "Undo that" never undoes the same change again; only an undo by id does.
      assertEquals((await books.fails("already_undone", "undo_change")).details, { change_id: written.change_id });
      const again = await books.ok("undo_change", { change_id: written.change_id });
      assertEquals(again.undone.change_id, written.change_id);
      assertEquals(await dump(database, books), before);
      const { recent_changes } = await books.ok("get_context", { include: ["recent_changes"], changes_limit: 4 });
      const summary = recent_changes[3].summary;
      assertEquals(recent_changes.map(({ summary, undone }: Json) => [summary, undone]), [
        [`Undid: ${summary}`, false],
        [`Redid: ${summary}`, false],
        [`Undid: ${summary}`, true],
        [summary, true],
      ]);
    }]),
  ),
);

testBooks("undo_change", { day: TODAY }, {
  "names the reverted records": async (books) => {
    const written = await books.call("log_expenses", {
      items: [{ name: "Weights", amount: "30", category: "Sport" }],
      create_missing_categories: true,
    });
    const [id] = written.data.results.map(({ id }: Json) => id);
    const changed = await books.call("update_expenses", { ids: [id], set: { amount: "31", note: "x" } });
    assertEquals(await books.ok("undo_change"), {
      undone: {
        change_id: changed.change_id,
        summary: "Changed Weights: amount, note",
        by: `${books.userId}@example.com`,
      },
      reversed: [{ id, what: "Weights: amount, note changed back" }],
      not_reversible: [],
    });
    const { reversed } = await books.ok("undo_change", { change_id: written.change_id });
    assertEquals(reversed.map(({ what }: Json) => what), ["Category Sport removed", "Weights removed"]);
    const { bill } = await books.ok("add_bill", { name: "Rent", amount: "1200", first_due: TODAY });
    const { payment } = await books.ok("mark_bill_paid", { bill_id: bill.id });
    const paid = await books.call("undo_change");
    assertEquals(paid.data.reversed, [
      { id: payment.id, what: "Payment of 1200.00 EUR for Rent removed" },
      { id: bill.id, what: "Rent due 2026-10-06 is open again" },
    ]);
    assertEquals(
      (await books.ok("undo_change", { change_id: paid.change_id })).reversed.map(({ what }: Json) => what),
      [
        "Rent due 2026-10-06 is paid again",
        "Payment of 1200.00 EUR for Rent restored",
      ],
    );
    const deleted = await books.call("delete_records", {
      ids: [bill.id],
      confirm: { count: 2, total: "1200.00" },
    });
    assertEquals(
      (await books.ok("undo_change", { change_id: deleted.change_id })).reversed.map(({ what }: Json) => what),
      [
        "Payment of 1200.00 EUR for Rent restored",
        "Rent restored",
      ],
    );
  },

  "lists at most a hundred reverted records in the order of the books, with the count": async (books) => {
    const rows = Array.from({ length: 120 }, (_, i) => ({ line: i + 2, name: `Row ${i}`, amount: "1", date: TODAY }));
    const { data } = await books.call("import_expenses", importOf(rows));
    await books.ok("import_expenses", data.preview.commit_with);
    let undone = await books.call("undo_change");
    for (const verb of ["removed", "restored"]) {
      assertEquals(
        undone.data.reversed.map(({ what }: Json) => what),
        rows.slice(0, 100).map(({ name }) => `${name} ${verb}`),
      );
      assertEquals(undone.data.reversed_count, 120);
      undone = await books.call("undo_change", { change_id: undone.change_id });
    }
  },

  "goes back one change at a time to the starting point": async (books, database) => {
    const empty = await dump(database, books);
    const ids = await fill(books, database);
    const states = [await dump(database, books)];
    const changes: string[] = [];
    const undoable = Object.entries(WRITES).filter(([name]) => !/mark_bill_paid|of a bill/.test(name));
    for (const [, write] of undoable) {
      changes.push((await write(books, ids)).change_id);
      states.push(await dump(database, books));
    }
    for (const state of states.slice(0, -1).reverse()) {
      await books.ok("undo_change", { change_id: changes.pop() });
      assertEquals(await dump(database, books), state);
    }
    const filled = await database.query<{ id: string }>(
      "select id from app.change_sets where organization_id = $1 and undoes is null and undone_by is null " +
        "order by recorded_seq desc",
      [books.organizationId],
    );
    for (const { id } of filled) await books.ok("undo_change", { change_id: id });
    assertEquals(await dump(database, books), empty);
  },

  "reverts nothing when a record has changed since then": async (books, database) => {
    const [lunch] = await log(books, { name: "Lunch", amount: "14.50" }, { name: "Tea", amount: "2" });
    const member = await books.join();
    const updated = await member.call("update_expenses", { ids: [lunch], set: { amount: "20" } });
    const before = await dump(database, books);
    const error = await books.fails("undo_conflict", "undo_change");
    assertEquals(
      error.message,
      '"Logged 2 expenses: Lunch and Tea" cannot be undone, because something it touched has changed since: Lunch. Nothing was changed.',
    );
    assertEquals(error.details.later, { change_id: updated.change_id, summary: "Changed Lunch: amount" });
    assertStringIncludes(error.hint, `(change_id "${updated.change_id}")`);
    assertEquals(error.details.rows, [{
      id: lunch,
      what: "Lunch",
      current: { amount: "20.00", currency: "EUR", date: TODAY },
    }]);
    assertEquals(await dump(database, books), before);
    const deleted = await member.call("delete_records", { ids: [lunch] });
    const { rows, later } = (await books.fails("undo_conflict", "undo_change")).details;
    assertEquals(rows, [{ id: lunch, what: "Lunch", current: { deleted: true } }]);
    assertEquals(later.change_id, deleted.change_id);
    await member.ok("undo_change", { change_id: deleted.change_id });
    // The deletion and its undo cancel each other out.
    assertEquals((await books.fails("undo_conflict", "undo_change")).details.later.change_id, updated.change_id);
    await member.ok("undo_change", { change_id: updated.change_id });
    // A value that changed and changed back counts as unchanged.
    await books.ok("undo_change");
    assertEquals((await books.call("list_expenses")).total_count, 0);
  },

  "does not remove a bill that was paid in the meantime": async (books) => {
    const added = await books.call("add_bill", { name: "Rent", amount: "1200", first_due: "2026-10-01" });
    const paid = await books.call("mark_bill_paid", { advance: true, bill_name: "rent" });
    const error = await books.fails("undo_conflict", "undo_change", { change_id: added.change_id });
    assertEquals(error.details.rows[0].what, "Payment of 1200.00 EUR for Rent");
    assertEquals(error.details.later.change_id, paid.change_id);
    assertEquals((await books.ok("list_bills")).bills.length, 1);
    await books.ok("undo_change");
    await books.ok("undo_change", { change_id: added.change_id });
    assertEquals((await books.ok("list_bills", { status: "all" })).bills, []);
  },

  "keeps a category that other records use in the meantime": async (books) => {
    const sport = (name: string) =>
      books.call("log_expenses", {
        items: [{ name, amount: "1", category: "Sport" }],
        create_missing_categories: true,
      });
    const first = await sport("Ball");
    await sport("Bat");
    const { reversed, not_reversible } = await books.ok("undo_change", { change_id: first.change_id });
    assertEquals(reversed.map(({ what }: Json) => what), ["Ball removed"]);
    assertEquals(not_reversible.map(({ what }: Json) => what), ["Category Sport stays: other expenses use it"]);
    assertEquals((await books.ok("list_expenses", { categories: ["Sport"] })).rows.length, 1);
  },

  "undoes a change only once and refuses a repeat": async (books) => {
    await log(books, { name: "Lunch", amount: "1" });
    const undone = await books.call("undo_change");
    const { change_id } = undone.data.undone;
    const error = await books.fails("already_undone", "undo_change", { change_id });
    assertEquals([error.message, error.details], ['"Logged Lunch, 1.00 EUR" has already been undone.', {
      change_id,
      undone_by: undone.change_id,
    }]);
    await books.ok("undo_change", { change_id: error.details.undone_by });
    assertEquals(
      (await books.fails("already_undone", "undo_change", { change_id: undone.change_id })).code,
      "already_undone",
    );
  },

  "reaches 30 days back": async (books) => {
    const { change_id } = await books.call("log_expenses", { items: [{ name: "Lunch", amount: "1" }] });
    books.goTo("2026-11-06");
    const error = await books.fails("undo_expired", "undo_change", { change_id });
    assertMatch(error.message, /more than 30 days ago/);
    assertEquals((await books.fails("not_found", "undo_change")).details, { change_id });
    books.goTo("2026-11-05");
    await books.ok("undo_change", { change_id });
  },

  "defaults to the caller's own changes, and reverts others' only by id": async (books, database) => {
    const member = await books.join();
    const own = await books.call("log_expenses", { items: [{ name: "Lunch", amount: "1" }] });
    const other = await member.call("log_expenses", { items: [{ name: "Tea", amount: "2" }] });
    assertEquals((await books.ok("undo_change")).undone.change_id, own.change_id);
    assertEquals((await books.ok("undo_change", { change_id: other.change_id })).undone, {
      change_id: other.change_id,
      summary: "Logged Tea, 2.00 EUR",
      by: `${member.userId}@example.com`,
    });
    await member.fails("already_undone", "undo_change");
    const stranger = await openBooks(database, { day: TODAY });
    const foreign = await stranger.call("log_expenses", { items: [{ name: "Foreign", amount: "1" }] });
    for (const change_id of [foreign.change_id, "chg_000000000000"]) {
      await books.fails("not_found", "undo_change", { change_id });
    }
    assertEquals((await stranger.call("list_expenses")).total_count, 1);
  },

  "goes back no further when repeated": async (books) => {
    const dinner = await books.call("log_expenses", { items: [{ name: "Dinner", amount: "40" }] });
    await log(books, { name: "Tea", amount: "2" });
    const args = { idempotency_key: "undo-0001" };
    const first = await books.call("undo_change", args);
    assertEquals(first.data.undone.summary, "Logged Tea, 2.00 EUR");
    assertEquals(await books.call("undo_change", args), { ...first, replayed: true });
    const error = await books.fails("already_undone", "undo_change");
    assertEquals([error.retryable, error.details], [false, {
      change_id: first.data.undone.change_id,
      undone_by: first.change_id,
      earlier: { change_id: dinner.change_id, summary: "Logged Dinner, 40.00 EUR" },
    }]);
    assertStringIncludes(error.hint, `"Logged Dinner, 40.00 EUR": to undo that one too, give change_id`);
    // After a redo, a late repetition of the undo has no effect either.
    await books.ok("undo_change", { change_id: first.change_id });
    assertEquals((await books.call("undo_change", args)).replayed, true);
    await books.fails("already_undone", "undo_change");
    assertEquals((await books.call("list_expenses")).total_count, 2);
  },

  "means the latest change of this connection, within half an hour": async (books, database) => {
    const { change_id } = await books.call("log_expenses", { items: [{ name: "Lunch", amount: "1" }] });
    const at = (minutes: number, sql: string) =>
      database.query(sql, [new Date(Date.parse(`${TODAY}T12:00:00Z`) - minutes * 60_000).toISOString(), change_id]);
    await at(31, "update app.change_sets set created_at = $1 where id = $2");
    const error = await books.fails("not_found", "undo_change");
    assertMatch(error.message, /^Your latest change, "Logged Lunch, 1\.00 EUR", was made more than 30 minutes ago\./);
    assertEquals(error.details, { change_id });
    await at(29, "update app.change_sets set created_at = $1 where id = $2");
    await database.query("update app.change_sets set grant_id = gen_random_uuid() where id = $1", [change_id]);
    await books.fails("not_found", "undo_change");
    await database.query("update app.change_sets set grant_id = null where id = $1", [change_id]);
    assertEquals((await books.ok("undo_change")).undone.change_id, change_id);
  },

  "previews without undoing": async (books) => {
    await log(books, { name: "Lunch", amount: "1" });
    const preview = await books.call("undo_change", { dry_run: true });
    assertEquals([preview.data.reversed[0].what, preview.change_id, preview.warnings[0].code], [
      "Lunch removed",
      undefined,
      "dry_run",
    ]);
    assertEquals((await books.call("list_expenses")).total_count, 1);
  },

  "keeps a record deleted by redo as long as one deleted today": async (books, database) => {
    const [lunch] = await log(books, { name: "Lunch", amount: "1" });
    const deleted = await books.call("delete_records", { ids: [lunch] });
    books.goTo("2026-11-04");
    const restored = await books.call("undo_change", { change_id: deleted.change_id });
    books.goTo("2026-11-06");
    const again = await books.call("undo_change", { change_id: restored.change_id });
    await database.query("select jobs.purge_expired('2026-11-07T03:07:00Z')");
    // Includes dependent rows, which an undo of the deletion could not recreate.
    assertEquals((await database.query("select from app.payments where expense_id = $1", [lunch])).length, 1);
    books.goTo("2026-11-08");
    await books.ok("undo_change", { change_id: again.change_id });
    assertEquals((await books.call("list_expenses")).total_count, 1);
  },

  "names a purged record as the obstacle": async (books, database) => {
    const [lunch] = await log(books, { name: "Lunch", amount: "1" });
    const { change_id } = await books.call("update_expenses", { ids: [lunch], set: { amount: "2" } });
    await database.query("delete from app.payments where expense_id = $1", [lunch]);
    await database.query("delete from app.expenses where id = $1", [lunch]);
    const { details } = await books.fails("undo_conflict", "undo_change", { change_id });
    assertEquals(details.rows.map(({ current }: Json) => current), [{ deleted: true }]);
    assertEquals((await books.call("list_expenses")).total_count, 0);
  },

  "does not restore a record that would be a duplicate": async (books) => {
    const item = { name: "Card", amount: "3", external_id: "bank-1" };
    await log(books, item);
    const deleted = await books.call("delete_records", { ids: [(await books.ok("list_expenses")).rows[0].id] });
    await log(books, { ...item, amount: "4" });
    await books.fails("undo_conflict", "undo_change", { change_id: deleted.change_id });
    assertEquals((await books.call("list_expenses")).total_count, 1);
  },

  "does not depend on the session's time zone": async (books, database) => {
    await log(books, { name: "Lunch", amount: "1" });
    await database.exec("alter role authenticated set timezone = 'Asia/Kolkata'");
    const [row] = await database.asRole(
      "authenticated",
      { sub: books.userId, organization_id: books.organizationId },
      async (session) => {
        await session.exec("set local timezone = 'America/New_York'");
        return await session.query<{ result: Json }>(
          `select app.run_tool('undo_change', '{}', '${TODAY}T12:10:00Z') as result`,
        );
      },
    );
    await database.exec("alter role authenticated reset timezone");
    assertEquals(row!.result.ok, true, JSON.stringify(row));
  },
});
