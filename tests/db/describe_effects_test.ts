/** The effects of a change, before and after, for pages and proposals. */
import { assertEquals } from "@std/assert";
import type { TestDatabase } from "../_support/database.ts";
import { testBooks } from "../_support/book_steps.ts";
import { addRate, type Books } from "../_support/books.ts";
import { effectLines, tellEffects } from "../../shared/words/effects.ts";
import { wordsOf } from "../../shared/words/words.ts";

const words = wordsOf("en");

async function linesOf(database: TestDatabase, changeId: string, atMost = 100): Promise<string[]> {
  const [row] = await database.query<{ told: Record<string, unknown> }>(
    "select app.read_effects($1, $2) as told",
    [changeId, atMost],
  );
  return effectLines(tellEffects(row!.told, words), words);
}

async function emailOf({ userId }: Books, database: TestDatabase): Promise<string> {
  const [row] = await database.query<{ email: string }>("select app.member_name($1) as email", [userId]);
  return row!.email;
}

const lunch = { name: "Lunch", payee: "Corner", amount: "14.50", date: "2026-11-19", category: "Groceries" };

testBooks("the effects of a change", {}, {
  "list each added, changed and removed record once": async (books, database) => {
    const logged = await books.call("log_expenses", { items: [lunch], create_missing_categories: true });
    assertEquals(await linesOf(database, logged.change_id), [
      "Lunch added: amount 14.50 EUR, date 2026-11-19, payee Corner, category Groceries",
    ]);
    const id = logged.data.results[0].id;
    const changed = await books.call("update_expenses", {
      ids: [id],
      set: { amount: "20", date: "2026-11-18", tags: ["work"], is_refund: true },
    });
    assertEquals(await linesOf(database, changed.change_id), [
      "Lunch changed: amount 14.50 EUR → 20.00 EUR, date 2026-11-19 → 2026-11-18, tags nothing → work, " +
      "refund no → yes",
    ]);
    const deleted = await books.call("delete_records", { ids: [id] });
    assertEquals(await linesOf(database, deleted.change_id), [
      "Lunch deleted: amount 20.00 EUR, date 2026-11-18, payee Corner, category Groceries, tags work, refund yes",
    ]);
    const undone = await books.call("undo_change", { change_id: deleted.change_id });
    assertEquals(await linesOf(database, undone.change_id), [
      "Lunch added: amount 20.00 EUR, date 2026-11-18, payee Corner, category Groceries, tags work, refund yes",
    ]);
  },

  "show a change of currency, even with equal figures": async (books, database) => {
    await addRate(database, "INR", "2026-11-19", "90");
    const loan = { name: "Loan", amount: "10000", currency: "INR", date: "2026-11-19", tax: "100" };
    const { data: { results: [{ id }] } } = await books.call("log_expenses", { items: [loan] });
    const moved = await books.call("update_expenses", { ids: [id], set: { currency: "USD" } });
    assertEquals(await linesOf(database, moved.change_id), [
      "Loan changed: amount 10000.00 INR → 10000.00 USD, tax 100.00 INR → 100.00 USD",
    ]);
    const charge = { charged: { amount: "9000", currency: "EUR" } };
    const charged = await books.call("update_expenses", { ids: [id], set: charge });
    assertEquals(await linesOf(database, charged.change_id), ["Loan changed: charge nothing → 9000.00 EUR"]);
    const { bill } = await books.ok("add_bill", { name: "Rent", amount: "900", first_due: "2026-12-01" });
    const dear = await books.call("update_bill", { bill_id: bill.id, set: { amount: "900", currency: "USD" } });
    assertEquals((await linesOf(database, dear.change_id))[0], "Rent changed: amount 900.00 EUR → 900.00 USD");
  },

  "of a bill show its schedule, dates and payments": async (books, database) => {
    const added = await books.call("add_bill", {
      name: "Rent",
      amount: "900",
      frequency: "monthly",
      first_due: "2026-12-01",
    });
    assertEquals(await linesOf(database, added.change_id), [
      "Rent added: amount 900.00 EUR, first date 2026-12-01, frequency monthly, category Housing",
    ]);
    const paid = await books.call("mark_bill_paid", { bill_name: "Rent", due_on: "2026-12-01" });
    assertEquals(await linesOf(database, paid.change_id), [
      "Payment of 900.00 EUR for Rent added: date 2026-11-20",
      "Rent due 2026-12-01 changed: status open → paid",
    ]);
    const set = await books.call("update_settings", { closed_through: "2026-09" });
    assertEquals(await linesOf(database, set.change_id), [
      "Settings changed: closed months nothing → 2026-09-30",
    ]);
  },

  "of a new bill show its frequency and every non-default field": async (books, database) => {
    const lineOf = async (more: Record<string, unknown>) => {
      const { change_id } = await books.call("add_bill", { name: "Hosting", amount: "190", ...more });
      return (await linesOf(database, change_id))[0];
    };
    assertEquals(
      await lineOf({ month_days: [1, 15], ends_after: 6, autopay: true }),
      "Hosting added: amount 190.00 EUR, first date 2026-12-01, frequency monthly, " +
        "days of the month 1st and 15th, number of dates 6, paid automatically yes, category Software",
    );
    assertEquals(
      await lineOf({
        name: "Audit",
        amount: undefined,
        amount_mode: "variable",
        currency: "USD",
        month_weekdays: ["2TU", "-1FR"],
        weekend_rule: "after",
        my_share_percent: 12.5,
        assignee: "me",
        reminder_enabled: false,
        renews_on: "2027-06-01",
        notice_days: 30,
      }),
      "Audit added: fixed or variable amount variable, currency USD, first date 2026-11-27, frequency monthly, " +
        "days of the month second Tuesday and last Friday, weekend rule after, renewal date 2027-06-01, " +
        `notice period 30, your share 12.5%, assignee ${await emailOf(books, database)}, reminder no`,
    );
  },

  "include every non-default column of an added record": async (books, database) => {
    const silent = await database.query<{ column: string }>(
      `select c.table_name || '.' || c.column_name as column
       from information_schema.columns as c
       join pg_trigger as t on t.tgrelid = format('app.%I', c.table_name)::regclass
         and t.tgfoid = 'app.capture_change'::regproc
       cross join lateral (select case
         when c.column_name = 'sharing' then '{"how":"equally","between":[]}'
         when c.column_name = 'month_days' then '[5]'
         when c.column_name = 'reminder_enabled' then 'false'
         when c.column_name in ('direction', 'reimbursement') then '"refund"'
         when c.data_type = 'boolean' then 'true'
         when c.data_type = 'ARRAY' then '[1]'
         when c.data_type = 'uuid' then to_jsonb($1::text)
         when c.data_type in ('bigint', 'integer', 'smallint', 'numeric') then '7'
         when c.data_type = 'date' then '"2026-12-01"'
         else '"other"' end::jsonb as value) as v
       cross join lateral app.describe_effects(array[(c.table_name, 'row_1', null,
         '{"id":"row_1","kind":"bill","currency":"EUR","charged_currency":"EUR"}'
           || case when c.column_name = 'paid_by' then '{"sharing":{"how":"equally","between":[]}}' else '{}' end::jsonb
           || jsonb_build_object(c.column_name, v.value), null)::app.kept_row], 1) as told
       where c.table_schema = 'app' and c.column_name <> all (app.derived_columns(c.table_name))
         and not jsonb_path_exists(told, '$.effects[*].fields[*] ? (@.field == $column)',
           jsonb_build_object('column', c.column_name))
       order by 1`,
      [books.userId],
    );
    // Excludes documents, which are added outside of changes, and columns that effects don't list: names, days that
    // identify a date, merged records, positions of rows, answers about duplicates, and earlier_minor, which the amount
    // covers.
    assertEquals(
      [...new Set(silent.map(({ column }) => column.split(".")[1]!))].toSorted(),
      [
        ...["account_id", "added_by", "declined", "facts", "hash", "payee_key", "size", "type"],
        "amount_source",
        "charged_currency",
        "closed_at",
        "created_at",
        "created_by",
        "creator_sees",
        "deleted_at",
        "due_on",
        "earlier_minor",
        "expense_id",
        "external_id",
        "archived_at",
        "id",
        "kind",
        "layout",
        "merged_into",
        "name",
        "occurrence_id",
        "organization_id",
        "price_from",
        "recorded_by",
        "recorded_seq",
        "scheduled_on",
        "sort",
        "source",
        "split_id",
        "stands_alone",
        "tracked_from",
      ].toSorted(),
    );
  },

  "show the first few of many and count the rest": async (books, database) => {
    const items = Array.from({ length: 60 }, (_, i) => ({ name: `Thing ${i}`, amount: "1", date: "2026-11-19" }));
    const { change_id } = await books.call("log_expenses", { items });
    const lines = await linesOf(database, change_id, 10);
    assertEquals([lines.length, lines[0]!.split(" added")[0], lines.at(-1)], [11, "Thing 0", "and 50 more"]);
    assertEquals((await linesOf(database, change_id)).length, 60);
  },
});
