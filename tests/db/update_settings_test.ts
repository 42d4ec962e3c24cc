/** Settings and categories: rights, and undo of every change. */
import { assertEquals, assertMatch } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import { addRate, type Books, type Json } from "../_support/books.ts";

const categories = async (books: Books): Promise<string[]> =>
  (await books.ok("get_context")).categories.map(({ name }: Json) => name);
const settings = async (books: Books): Promise<Json> => (await books.ok("get_context")).settings;
const log = (books: Books, name: string, category: string) =>
  books.ok("log_expenses", { items: [{ name, amount: "5", category }] });

testBooks("preferences in update_settings", { day: "2026-11-20" }, {
  "belong to the owner, and are undone as a whole": async (books) => {
    const before = await settings(books);
    const args = {
      timezone: "Asia/Kolkata",
      base_currency: "INR",
      reminders: { email_enabled: false, default_days_before: 7, hide_amounts_in_email: true },
    };
    const changed = await books.call("update_settings", args);
    const { timezone, base_currency, reminders } = changed.data.settings;
    assertEquals([timezone, base_currency, reminders.email_enabled, reminders.default_days_before], [
      "Asia/Kolkata",
      "INR",
      false,
      7,
    ]);
    assertEquals(changed.warnings.map(({ code }: Json) => code), ["mails_off", "revalued"]);
    // The answer describes the books after the write.
    assertEquals([changed.context.timezone, changed.context.base_currency], ["Asia/Kolkata", "INR"]);
    const again = await books.call("update_settings", args);
    assertEquals([again.change_id, again.context.timezone], [undefined, "Asia/Kolkata"]);

    const member = await books.join();
    const { change_id } = changed;
    await member.fails("forbidden_role", "update_settings", { timezone: "UTC" });
    await member.fails("forbidden_role", "undo_change", { change_id });
    const undo = await books.call("undo_change", { change_id });
    assertEquals([undo.data.reversed.length, undo.context.timezone], [1, before.timezone]);
    assertEquals(await settings(books), before);
    await books.ok("undo_change", { change_id: undo.change_id });
    assertEquals((await settings(books)).timezone, "Asia/Kolkata");
  },
  "an undo keeps later changes, unless they are to the same setting": async (books) => {
    const { change_id } = await books.call("update_settings", { timezone: "Asia/Kolkata" });
    await books.ok("update_settings", { reminders: { default_days_before: 9 } });
    await books.ok("undo_change", { change_id });
    assertEquals([(await settings(books)).timezone, (await settings(books)).reminders.default_days_before], ["UTC", 9]);
    const second = await books.call("update_settings", { timezone: "Asia/Kolkata" });
    await books.ok("update_settings", { timezone: "Europe/Berlin" });
    await books.fails("undo_conflict", "undo_change", { change_id: second.change_id });
  },
  "accept only existing values": async (books) => {
    await books.fails("invalid_argument", "update_settings", { timezone: "Mars/Olympus" });
    // Rejects zones that only Postgres accepts: offsets, rules, abbreviations (it reads IST as Israel's), and zones of
    // no place.
    for (const timezone of ["UTC+5", "Foo/Bar+5", "IST", "CEST", "CST", "BST", "Factory", "europe/berlin"]) {
      await books.fails("invalid_argument", "update_settings", { timezone });
    }
    await books.fails("currency_unknown", "update_settings", { base_currency: "XXX" });
  },
  "another base currency revalues every payment and rewrites no amount": async (books, database) => {
    await addRate(database, "USD", "2026-11-20", "1.25");
    await books.ok("log_expenses", { items: [{ name: "Lunch", amount: "8" }] });
    await books.ok("update_settings", { base_currency: "USD" });
    const { total } = await books.ok("summarize_spending", { period: "this_month" });
    assertEquals([total.amount, total.currency], ["10.00", "USD"]);
    const [row] = await database.query(
      "select currency, amount_minor, base_currency, base_minor from app.payments where organization_id = $1",
      [
        books.organizationId,
      ],
    );
    assertEquals(row, { currency: "EUR", amount_minor: 800, base_currency: "USD", base_minor: 1000 });
  },
  "can be previewed": async (books) => {
    const before = await settings(books);
    const preview = await books.call("update_settings", { timezone: "Asia/Kolkata", dry_run: true });
    assertEquals([preview.data.settings.timezone, preview.context.timezone], ["Asia/Kolkata", before.timezone]);
    assertEquals(await settings(books), before);
  },
});

testBooks("categories in update_settings", { day: "2026-11-20" }, {
  "are shared by all members, and their creation can be repeated and undone": async (books) => {
    const member = await books.join();
    const { data, change_id } = await member.call("update_settings", {
      category: { action: "create", name: " Pets " },
    });
    assertEquals(data.category.name, "Pets");
    assertEquals(
      (await books.call("update_settings", { category: { action: "create", name: "pets" } })).change_id,
      undefined,
    );
    await books.ok("undo_change", { change_id });
    assertEquals((await categories(books)).includes("Pets"), false);
    for (const name of ["uncategorized", "None"]) {
      await books.fails("invalid_argument", "update_settings", { category: { action: "create", name } });
    }
  },
  "keep their expenses when renamed, and a repeat changes nothing": async (books) => {
    await log(books, "Lunch", "Food");
    const rename = { category: { action: "rename", name: "food", new_name: "Eating out" } };
    await books.ok("update_settings", rename);
    assertEquals((await books.ok("list_expenses")).rows[0].category, "Eating out");
    assertEquals((await books.call("update_settings", rename)).change_id, undefined);
    await books.fails("duplicate", "update_settings", {
      category: { action: "rename", name: "Eating out", new_name: "Groceries" },
    });
    await books.fails("invalid_argument", "update_settings", { category: { action: "rename", name: "Eating out" } });
    const error = await books.fails("category_not_found", "update_settings", {
      category: { action: "rename", name: "Grocries", new_name: "X" },
    });
    assertEquals(error.details.suggestions[0], "Groceries");
  },
  "list the bills that stay in an archived one": async (books) => {
    const archive = (name: string) => books.call("update_settings", { category: { action: "archive", name } });
    for (const name of ["Rent", "Power"]) {
      await books.ok("add_bill", { name, amount: "1", first_due: "2026-12-01", category: "Housing" });
    }
    assertEquals((await archive("Food")).warnings, []);
    const { data, warnings } = await archive("housing");
    assertEquals([data.category.name, data.category.archived, data.category.left_bills], ["Housing", true, undefined]);
    assertEquals(warnings, [{
      code: "category_in_use",
      message:
        "Rent and Power stay in the archived category Housing, and so do future payments of them. To move them use update_bill with set.category.",
    }]);
  },
  "move their expenses in a merge, which can be undone": async (books) => {
    await log(books, "Lunch", "Food");
    await log(books, "Milk", "Groceries");
    const merge = { category: { action: "merge", name: "Groceries", into: "Food" } };
    const { data, change_id } = await books.call("update_settings", merge);
    assertEquals([data.category.name, data.category.moved], ["Food", 1]);
    assertEquals((await categories(books)).includes("Groceries"), false);
    assertEquals((await books.call("update_settings", merge)).change_id, undefined);
    const spent = async () =>
      (await books.ok("summarize_spending", { period: "this_month" })).rows.map((
        { group, amount }: Json,
      ) => [group[0], amount]);
    assertEquals(await spent(), [["Food", "10.00"]]);
    await books.ok("undo_change", { change_id });
    assertEquals((await spent()).toSorted(), [["Food", "5.00"], ["Groceries", "5.00"]]);
    await books.fails("invalid_argument", "update_settings", { category: { action: "merge", name: "Food" } });
    await books.fails("invalid_argument", "update_settings", {
      category: { action: "merge", name: "Food", into: "food" },
    });
  },
  "report the income that a merge moves besides expenses": async (books) => {
    await log(books, "Lunch", "Food");
    await books.ok("log_expenses", {
      items: ["Pay", "Bonus"].map((name) => ({ name, amount: "100", kind: "income", category: "Food" })),
    });
    const merge = { category: { action: "merge", name: "Food", into: "Travel" } };
    const { category } = await books.ok("update_settings", merge);
    assertEquals([category.moved, category.moved_income], [1, 2]);
    const { recent_changes: [change] } = await books.ok("get_context", { include: ["recent_changes"] });
    assertEquals(change.summary, "Merged category Food into Travel: 1 expense and 2 income records moved");
  },
  "merge only as many expenses as an undo can record, and suggest an alternative otherwise": async (
    books,
    database,
  ) => {
    await log(books, "Lunch", "Food");
    const fill = (count: number) =>
      database.query(
        `insert into app.expenses (id, organization_id, kind, name, category_id)
         select app.new_id('exp'), $1, 'one_off', 'Bread', id from app.categories, generate_series(1, $2::int)
         where organization_id = $1 and name = 'Food'`,
        [books.organizationId, count],
      );
    await fill(2000);
    const merge = { category: { action: "merge", name: "Food", into: "Travel" } };
    const error = await books.fails("invalid_argument", "update_settings", merge);
    assertEquals(
      [error.field, error.message],
      [
        "category.name",
        "More than 2000 expenses and income records are in Food, too many to move at once. Nothing was changed.",
      ],
    );
    assertMatch(
      error.hint,
      /action "archive".*categories \["Food"\], then update_expenses with set {"category": "Travel"}/,
    );
    await books.ok("delete_records", { ids: [(await books.ok("list_expenses")).rows[0].id] });
    assertEquals((await books.ok("update_settings", merge)).category.moved, 2000);
    await books.ok("undo_change");
    assertEquals(
      (await books.fails("invalid_argument", "update_settings", {
        ...merge,
        category: { ...merge.category, into: "Food" },
      })).field,
      "category.into",
    );
  },
  "are hidden when archived, and keep their expenses": async (books) => {
    await log(books, "Lunch", "Food");
    const archive = { category: { action: "archive", name: "Food" } };
    const { data, change_id } = await books.call("update_settings", archive);
    assertEquals([data.category.archived, (await categories(books)).includes("Food")], [true, false]);
    assertEquals((await books.call("update_settings", archive)).change_id, undefined);
    assertEquals((await books.ok("list_expenses", { categories: ["Food"] })).rows.length, 1);
    await books.ok("undo_change", { change_id });
    assertEquals((await categories(books)).includes("Food"), true);
  },
  "change together with preferences or not at all": async (books) => {
    await books.fails("invalid_argument", "update_settings", {
      category: { action: "create", name: "Pets" },
      timezone: "nowhere",
    });
    assertEquals((await categories(books)).includes("Pets"), false);
  },
});
