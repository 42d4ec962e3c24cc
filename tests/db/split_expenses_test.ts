/**
 * One expense over several categories has parts that add up to the cent, are changed together and are undone as one.
 */
import { importOf } from "../_support/import_args.ts";
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import fc from "fast-check";
import { testBooks } from "../_support/book_steps.ts";
import { addRate, type Books, type Json, openBooks, readChange } from "../_support/books.ts";

const SPLIT = [{ amount: "60", category: "Groceries" }, { category: "Gifts" }];
const shop = (more: Json = {}) => ({ name: "Shop", payee: "Corner", amount: "80", date: "2026-11-19", ...more });
const log = (books: Books, more: Json = {}) => books.call("log_expenses", { items: [shop(more)] });
const idOf = async (books: Books, more: Json = {}): Promise<string> => (await log(books, more)).data.results[0].id;
const rows = async (books: Books): Promise<Json[]> => (await books.ok("list_expenses", { order: "asc" })).rows;
const amounts = async (books: Books) => (await rows(books)).map(({ category, amount }) => [category, amount]);
const update = (books: Books, id: string, set: Json, more: Json = {}) =>
  books.call("update_expenses", { ids: [id], set, ...more });
const cents = (values: (string | undefined)[]) =>
  values.reduce((sum, value) => sum + Math.round(Number(value) * 1000), 0);

testBooks("split", {}, {
  "is logged as linked parts that every total includes": async (books, database) => {
    const { data, change_id } = await log(books, {
      split: SPLIT,
      tax_percent: 19,
      external_id: "r-1",
      note: "Saturday",
    });
    const [result] = data.results;
    assertEquals([result.amount, result.tax, result.category, data.totals_by_currency], [
      "80.00",
      "12.77",
      undefined,
      { EUR: "80.00" },
    ]);
    assertEquals(result.split.map(({ id: _, ...part }: Json) => part), [
      { category: "Groceries", amount: "60.00", tax: "9.58", base_amount: "60.00", note: "Saturday" },
      { category: "Gifts", amount: "20.00", tax: "3.19", base_amount: "20.00", note: "Saturday" },
    ]);
    const parts = await rows(books);
    assertEquals(parts.map(({ id }) => id), result.split.map(({ id }: Json) => id));
    assertEquals(new Set(parts.map(({ split_id }) => split_id)).size, 1);
    assertMatch(parts[0].split_id, /^spl_/);
    const { rows: groups, total } = await books.ok("summarize_spending");
    assertEquals(groups.map(({ group, amount }: Json) => [...group, amount]), [["Groceries", "60.00"], [
      "Gifts",
      "20.00",
    ]]);
    assertEquals(total.amount, "80.00");
    assertEquals((await readChange(database, change_id)).summary, "Logged Shop, 80.00 EUR");
    // A split does not determine the shop's category.
    const { results } = await books.ok("log_expenses", { items: [shop({ amount: "5", name: "Thing" })] });
    assertEquals(results[0].category_source, "none");
    await books.ok("undo_change", { change_id });
    assertEquals(await amounts(books), [["Uncategorized", "5.00"]]);
  },

  "is recognized as a duplicate, whether logged whole or as parts": async (books) => {
    const { data } = await log(books, { split: SPLIT, external_id: "r-1" });
    for (const more of [{}, { split: SPLIT }, { external_id: "r-1", amount: "90" }]) {
      const again = (await log(books, more)).data.results[0];
      assertEquals([again.status, again.existing_id], ["duplicate", data.results[0].id]);
    }
    assertEquals((await log(books, { amount: "20.01" })).data.results[0].status, "created");
    const row = { line: 2, date: "2026-11-19", name: "Card", payee: "Corner", amount: "80" };
    const { preview } = await books.ok("import_expenses", importOf([row]));
    assertEquals([preview.rows_ok, preview.duplicates_count], [0, 1]);
    await log(books, { name: "Other", payee: "Aldi" });
    assertEquals((await log(books, { payee: "Aldi", split: SPLIT })).data.results[0].status, "duplicate");
  },

  "that does not add up is refused with the difference": async (books) => {
    for (
      const [split, message] of [
        [[{ amount: "60" }, { amount: "19" }], /79\.00 EUR.*80\.00 EUR: 1\.00 EUR too little/],
        [[{ amount: "60" }, { amount: "21" }], /81\.00 EUR, but the expense is 80\.00 EUR: 1\.00 EUR too much/],
        [[{ amount: "80" }, {}], /nothing is left/],
        [[{ amount: "90" }, {}], /10\.00 EUR too much/],
        [[{ amount: "60" }, {}, {}], /More than one part/],
        [[], /80\.00 EUR too little/],
      ] as const
    ) {
      const error = await books.fails("invalid_argument", "log_expenses", { items: [shop({ split })] });
      assertMatch(error.message, message);
      assertEquals(error.field, "items[0].split");
    }
    const unknown = [{ amount: "60", category: "Grocries" }, {}];
    const error = await books.fails("category_not_found", "log_expenses", { items: [shop({ split: unknown })] });
    assertEquals(error.field, "items[0].split[0].category");
    assertEquals(await rows(books), []);
    const items = [shop({ split: [{ amount: "60", category: "Toys" }, {}] })];
    await books.ok("log_expenses", { items, create_missing_categories: true });
    assertEquals((await amounts(books))[0], ["Toys", "60.00"]);
  },

  "of an expense is replaced as a whole, rejoined and undone": async (books, database) => {
    const id = await idOf(books, { category: "Food", tax_percent: 7, tags: ["a"], reimbursement: "open" });
    const before = await rows(books);
    const first = await update(books, id, { split: SPLIT }, { expected_version: 1 });
    assertEquals(first.data.split.map(({ category, amount, tax }: Json) => [category, amount, tax]), [
      ["Groceries", "60.00", "3.92"],
      ["Gifts", "20.00", "1.31"],
    ]);
    const two = await rows(books);
    assertEquals(two.map(({ tags, reimbursement, tax_percent }) => [tags, reimbursement, tax_percent]), [
      [["a"], "open", 7],
      [["a"], "open", 7],
    ]);
    assertEquals((await readChange(database, first.change_id)).summary, "Changed Shop: amount, category, split, tax");
    // Addressed by any part, with a new total amount.
    const second = await update(books, two[1].id, {
      amount: "90",
      split: [{ amount: "50", category: "Groceries" }, { amount: "30", category: "Gifts" }, { category: "Travel" }],
    });
    assertEquals(await amounts(books), [["Groceries", "50.00"], ["Gifts", "30.00"], ["Travel", "10.00"]]);
    assertEquals(cents((await rows(books)).map(({ tax }) => tax)), 5890);
    const third = await update(books, id, { split: [{ category: "Food" }] });
    assertEquals((await rows(books)).map(({ amount, tax, split_id }) => [amount, tax, split_id]), [[
      "90.00",
      "5.89",
      undefined,
    ]]);
    await books.ok("undo_change", { change_id: third.change_id });
    assertEquals((await rows(books)).length, 3);
    await books.ok("undo_change", { change_id: second.change_id });
    assertEquals(await amounts(books), [["Groceries", "60.00"], ["Gifts", "20.00"]]);
    await books.ok("undo_change", { change_id: first.change_id });
    const unversioned = (list: Json[]) => list.map(({ version: _, ...row }) => row);
    assertEquals(unversioned(await rows(books)), unversioned(before));
  },

  "keeps its sum: changing or deleting a part is refused": async (books) => {
    const id = await idOf(books, { split: SPLIT });
    for (const set of [{ amount: "5" }, { date: "2026-11-18" }, { currency: "USD" }, { is_refund: true }]) {
      const { error } = await update(books, id, set);
      assertMatch(error.message, /one of 2 parts/);
      assertEquals(error.details.split.length, 2);
    }
    await books.ok("update_expenses", { ids: [id], set: { note: "Ham", category: "Food", tax_percent: 7 } });
    assertEquals((await rows(books)).map(({ category, tax, note }) => [category, tax, note]), [
      ["Food", "3.93", "Ham"],
      ["Gifts", undefined, undefined],
    ]);
    const dated = await update(books, id, { date: "2026-11-18", split: [{ amount: "60" }, {}] });
    assertEquals((await rows(books)).map(({ date }) => date), ["2026-11-18", "2026-11-18"]);
    assertEquals(dated.data.count, 2);
    const { warnings } = await books.call("delete_records", { ids: [id] });
    assertMatch(warnings[0].message, /Shop was split, and one other part stays/);
    await books.ok("undo_change");
    const all = (await rows(books)).map(({ id }) => id);
    assertEquals((await books.call("delete_records", { ids: all })).warnings, []);
  },

  "spreads the bank's charge so that the values add up": async (books, database) => {
    await addRate(database, "USD", "2026-11-19", "1.3");
    const split = [{ amount: "3.33" }, { amount: "3.33" }, {}];
    const item = { amount: "10", currency: "USD", split };
    const { data } = await log(books, { ...item, charged: { amount: "9.11" } });
    assertEquals(data.results[0].base_amount, "9.11");
    const listed = await rows(books);
    assertEquals(cents(listed.map(({ base_amount }) => base_amount)), 9110);
    assertEquals((await books.ok("summarize_spending")).total.amount, "9.11");
    // Without a charge, each part is converted separately, and the answer matches the books.
    const other = (await log(books, { ...item, name: "Other", payee: "Other" })).data.results[0];
    assertEquals(cents(other.split.map(({ base_amount }: Json) => base_amount)), cents([other.base_amount]));
    await log(books, { ...item, payee: "Tiny", split: [{ amount: "0.01" }, {}], charged: { amount: "0.02" } });
    assertEquals((await rows(books)).slice(-2).map(({ base_amount }) => base_amount), ["0.00", "0.02"]);
  },

  "is written once per key and organization": async (books, database) => {
    const call = { items: [shop({ split: SPLIT })], idempotency_key: "key-00000001", on_duplicate: "allow" };
    const [one, two] = [await books.call("log_expenses", call), await books.call("log_expenses", call)];
    assertEquals([two.replayed, two.data], [true, one.data]);
    const id = one.data.results[0].id;
    const others = await openBooks(database);
    await others.fails("not_found", "update_expenses", { ids: [id], set: { split: [{}] } });
    await books.fails("stale_version", "update_expenses", { ids: [id], set: { split: [{}] }, expected_version: 7 });
    await books.fails("invalid_argument", "update_expenses", {
      ids: (await rows(books)).map(({ id }) => id),
      set: { split: [{}] },
    });
    const preview = await books.ok("update_expenses", { ids: [id], set: { split: [{}] }, dry_run: true });
    assertEquals([preview.split.length, (await rows(books)).length], [1, 2]);
    const free = await log(books, { name: "Preview", payee: "Preview", split: SPLIT });
    assertEquals(free.data.results[0].status, "created");
    await assertRejects(() => database.query("update app.payments set split_id = 'x' where expense_id = $1", [id]));
  },

  "of a member's expense stays that member's": async (books) => {
    const member = await books.join();
    const id = await idOf(member);
    await books.ok("update_expenses", { ids: [id], set: { split: SPLIT } });
    assertEquals((await member.ok("list_expenses", { member: "me" })).rows.length, 2);
    assertEquals((await books.ok("list_expenses", { member: "me" })).rows.length, 0);
  },

  "spread_minor() adds up, never gives a part more than its weight, and is off by less than one": async (
    _,
    database,
  ) => {
    const spreads = fc.array(fc.bigInt(1n, 10n ** 14n), { minLength: 1, maxLength: 20 }).chain((weights) =>
      fc.tuple(fc.constant(weights), fc.bigInt(0n, weights.reduce((sum, weight) => sum + weight, 0n)))
    );
    const samples = fc.sample(spreads, { numRuns: 300, seed: 14 });
    const answers = await database.query<{ parts: string[] }>(
      `select app.spread_minor(s.whole, s.weights)::text[] as parts
       from unnest($1::bigint[], $2::text[]) with ordinality as u (whole, list, place)
       cross join lateral (select u.whole, u.list::bigint[] as weights) as s order by u.place`,
      [samples.map(([, whole]) => String(whole)), samples.map(([weights]) => `{${weights.join()}}`)],
    );
    for (const [place, [weights, whole]] of samples.entries()) {
      const parts = answers[place]!.parts.map(BigInt);
      const all = weights.reduce((sum, weight) => sum + weight, 0n);
      assertEquals(parts.reduce((sum, part) => sum + part, 0n), whole);
      for (const [i, part] of parts.entries()) {
        const off = part * all - whole * weights[i]!;
        assertEquals([part <= weights[i]!, off < all && -off < all], [true, true]);
      }
    }
  },
});
