/** Tax and reimbursement of one-off expenses are given, computed, refused, changed, listed, totalled and undone. */
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { importOfFile } from "../_support/import_args.ts";
import { testBooks } from "../_support/book_steps.ts";
import { addRate, type Books, type Json, openBooks } from "../_support/books.ts";

const dinner = (more: Json = {}) => ({ name: "Dinner", amount: "119", date: "2026-11-19", ...more });
const log = async (books: Books, more: Json = {}): Promise<string> =>
  (await books.ok("log_expenses", { items: [dinner(more)], on_duplicate: "allow" })).results[0].id;
const rows = async (books: Books, filter: Json = {}) => (await books.ok("list_expenses", filter)).rows;
const taxes = async (books: Books) =>
  (await rows(books, { order: "asc" })).map(({ tax, tax_percent }: Json) => [tax, tax_percent]);
const update = (books: Books, id: string, set: Json) => books.call("update_expenses", { ids: [id], set });

testBooks("tax", {}, {
  "is computed from a rate, to the minor unit and half up": async (books) => {
    for (
      const item of [
        { tax_percent: 19 },
        // A cent and a half.
        { amount: "0.03", tax_percent: 100 },
        { amount: "1100", currency: "JPY", tax_percent: 10 },
        { amount: "10.500", currency: "KWD", tax_percent: 5 },
        { amount: "108.875", currency: "KWD", tax_percent: 8.875 },
        { tax_percent: 0 },
      ]
    ) await log(books, item);
    assertEquals(await taxes(books), [
      ["19.00", 19],
      ["0.02", 100],
      ["100", 10],
      ["0.500", 5],
      ["8.875", 8.875],
      ["0.00", 0],
    ]);
  },

  "reports the rate only if exactly one fits": async (books) => {
    for (
      const item of [
        { tax: "19.00" },
        { amount: "14.50", tax: "2.32" },
        // 7%, 7.5% and 8% all result in this amount.
        { amount: "1.00", tax: "0.07" },
        // A receipt with two rates.
        { amount: "226.00", tax: "26.01" },
        { tax: "119" },
        { tax: "0" },
      ]
    ) await log(books, item);
    assertEquals(await taxes(books), [
      ["19.00", 19],
      ["2.32", 19],
      ["0.07", undefined],
      ["26.01", undefined],
      ["119.00", undefined],
      [undefined, undefined],
    ]);
  },

  "and a rate that contradict each other are refused with the right number": async (books, database) => {
    const fails = async (more: Json) =>
      (await books.fails("invalid_argument", "log_expenses", { items: [dinner(more)] })) as Json;
    const onTop = await fails({ tax: "22.61", tax_percent: 19 });
    assertMatch(onTop.message, /contains 19\.00 EUR of tax at 19%, not 22\.61 EUR/);
    assertMatch(onTop.hint, /"141\.61"/);
    assertEquals((await fails({ tax: "20", tax_percent: 19 })).field, "items[0].tax");
    assertMatch((await fails({ tax: "119.01" })).message, /more than the amount/);
    const precise = await books.fails("amount_precision", "log_expenses", { items: [dinner({ tax: "1.234" })] });
    assertEquals(precise.field, "items[0].tax");
    assertEquals(await rows(books), []);
    const id = await log(books);
    for (const set of ["tax_minor = 11901", "tax_minor = -1", "tax_percent = 19"]) {
      await assertRejects(() => database.query(`update app.payments set ${set} where expense_id = $1`, [id]));
    }
  },

  "follows the amount, is removed, and comes back with undo": async (books) => {
    const id = await log(books, { tax_percent: 19 });
    const changes = [
      { set: { amount: "238" }, tax: ["38.00", 19] },
      { set: { tax: "15.57" }, tax: ["15.57", 7] },
      { set: { currency: "JPY", amount: "1070" }, tax: ["70", 7] },
      { set: { tax: "0" }, tax: [undefined, undefined] },
    ];
    const made: { change_id: string; before: Json }[] = [];
    for (const { set, tax } of changes) {
      const before = await taxes(books);
      const { change_id } = await update(books, id, set);
      made.push({ change_id, before });
      assertEquals(await taxes(books), [tax]);
    }
    for (const { change_id, before } of made.toReversed()) {
      await books.ok("undo_change", { change_id });
      assertEquals(await taxes(books), before);
    }
    await books.ok("update_expenses", { ids: [id], set: { tax: "50.01" } });
    assertEquals((await update(books, id, { amount: "50" })).error.code, "invalid_argument");
  },

  "is totalled by currency over all matches, refunds subtracted": async (books) => {
    await log(books, { tax_percent: 19 });
    await log(books, { tax_percent: 19, is_refund: true, amount: "11.90" });
    await log(books, { name: "No receipt" });
    await log(books, { amount: "1100", currency: "JPY", tax_percent: 10 });
    const { data, total_count } = await books.call("list_expenses", { limit: 1 });
    assertEquals(data.tax_by_currency, {
      EUR: { amount: "17.10", count: 2, without_tax: 1 },
      JPY: { amount: "100", count: 1 },
    });
    assertEquals(total_count, 4);
    assertEquals((await books.ok("list_expenses", { query: "receipt" })).tax_by_currency, undefined);
  },

  "in a total counts payments and refunds without recorded tax": async (books) => {
    await log(books, { tax_percent: 19 });
    await log(books, { is_refund: true });
    await log(books, { name: "No receipt" });
    // The search by index, and by the words of each payment.
    for (
      const [args, without_tax] of [[{}, 2], [{ query: "dinner" }, 1]] as const
    ) {
      for (const tool of ["list_expenses", "summarize_spending"]) {
        assertEquals((await books.ok(tool, args)).tax_by_currency, {
          EUR: { amount: "19.00", count: 1, without_tax, refunds_without_tax: 1 },
        }, tool);
      }
    }
  },

  "is exported with the sign of its amount, and read back": async (books) => {
    const ids = [await log(books, { tax_percent: 19 }), await log(books, { tax: "19", is_refund: true })];
    const before = await taxes(books);
    const { csv } = await books.ok("list_expenses", { format: "csv" });
    assertMatch(csv, /119\.00,EUR,19\.00,19,/);
    assertMatch(csv, /-119\.00,EUR,-19\.00,19,/);
    await books.ok("delete_records", { ids });
    const { preview } = await books.ok("import_expenses", importOfFile(csv));
    await books.ok("import_expenses", preview.commit_with);
    assertEquals(await taxes(books), before);
  },
});

testBooks("reimbursement", {}, {
  "is open, then done by a person on a day, and each state can be filtered": async (books) => {
    await log(books, { name: "Own" });
    const id = await log(books, { name: "Hotel", reimbursed_by: " Client ", reimbursement: "open" });
    const other = await log(books, { name: "Taxi", reimbursement: "open" });
    const open = async () => (await rows(books, { reimbursement: "open" })).map(({ name }: Json) => name).toSorted();
    assertEquals(await open(), ["Hotel", "Taxi"]);
    const done = await books.call("update_expenses", {
      ids: [id, other],
      set: { reimbursement: "done", reimbursed_on: "2026-11-18" },
    });
    assertEquals(done.data.updated[0].after, { reimbursement: "done", reimbursed_on: "2026-11-18" });
    assertEquals(await open(), []);
    const [, hotel] = await rows(books, { reimbursement: "done" });
    assertEquals([hotel.reimbursed_by, hotel.reimbursed_on], ["Client", "2026-11-18"]);
    await books.ok("undo_change", { change_id: done.change_id });
    assertEquals(await open(), ["Hotel", "Taxi"]);
    // A reimbursed expense still counts as spending.
    assertEquals((await books.ok("summarize_spending")).total.amount, "357.00");
    assertEquals((await books.ok("summarize_spending", { reimbursement: "none" })).total.amount, "119.00");
    const { csv } = await books.ok("list_expenses", { format: "csv", reimbursement: "open", query: "hotel" });
    assertMatch(csv, /,open,Client,,,119\.00,/);
  },

  "is reported with the total that includes it, in the total's currency": async (books, database) => {
    const sum = async (args: Json = {}) => {
      const { amount, reimbursement } = (await books.ok("summarize_spending", args)).total;
      return [amount, reimbursement];
    };
    await log(books, { name: "Own" });
    assertEquals(await sum(), ["119.00", undefined]);
    await addRate(database, "USD", "2026-11-19", "1.25");
    await log(books, { name: "Hotel", reimbursement: "open", tags: ["lisbon"] });
    await log(books, { name: "Taxi", reimbursement: "done", currency: "USD", amount: "25", tags: ["lisbon"] });
    assertEquals(await sum(), ["258.00", { open: "119.00", done: "20.00" }]);
    assertEquals(await sum({ tags: ["lisbon"], in_currency: "USD" }), ["173.75", { open: "148.75", done: "25.00" }]);
    assertEquals(await sum({ reimbursement: "done" }), ["20.00", { done: "20.00" }]);
    assertEquals(await sum({ reimbursement: "none" }), ["119.00", undefined]);
    assertEquals(await sum({ period: "last_month" }), ["0.00", undefined]);
    const said = async (args: Json = {}) =>
      (await books.call("summarize_spending", args)).warnings
        .filter(({ code }: Json) => code === "reimbursed_included").map(({ message }: Json) => message);
    assertEquals(await said(), [
      "The total includes 119.00 EUR that somebody else still has to pay back and 20.00 EUR that was paid back. " +
      'reimbursement "none" leaves both out.',
    ]);
    assertEquals(await said({ query: "taxi" }), [
      'The total includes 20.00 EUR that was paid back. reimbursement "none" leaves it out.',
    ]);
    assertEquals([await said({ reimbursement: "done" }), await said({ period: "last_month" })], [[], []]);
  },

  "is repeated when logged, and warns that done counts the whole amount": async (books) => {
    const whole = ({ warnings }: Json) =>
      warnings.filter(({ code }: Json) => code === "reimbursed_in_full").map(({ message }: Json) => message);
    const logged = await books.call("log_expenses", { items: [dinner({ reimbursed_by: "Client" })] });
    const [{ id, reimbursement, reimbursed_by }] = logged.data.results;
    assertEquals([reimbursement, reimbursed_by, whole(logged)], ["open", "Client", []]);
    const done = await update(books, id, { reimbursement: "done" });
    assertEquals(whole(done), [
      "119.00 EUR counts as paid back, the whole amount. If only a part came back, undo this, divide the expense with " +
      'update_expenses (set.split [{"amount": "<part>"}, {}]) and set reimbursement "done" for that part alone.',
    ]);
    assertEquals(whole(await update(books, id, { note: "Cash" })), []);
    await books.ok("undo_change", { change_id: done.change_id });
    const { split } = await books.ok("update_expenses", { ids: [id], set: { split: [{ amount: "100" }, {}] } });
    assertEquals(whole(await update(books, split[0].id, { reimbursement: "done" })), [
      whole(done)[0].replace("119.00", "100.00"),
    ]);
    assertEquals((await books.ok("summarize_spending")).total.reimbursement, { done: "100.00", open: "19.00" });
    const both = {
      items: [dinner({ name: "Taxi", reimbursement: "done" }), dinner({ name: "Bus", reimbursement: "done" })],
    };
    assertMatch(whole(await books.call("log_expenses", both))[0], /^238\.00 EUR of 2 expenses count as paid back/);
  },

  "defaults to today, and can be reopened and removed": async (books) => {
    const id = await log(books);
    const state = async (set: Json) => {
      await books.ok("update_expenses", { ids: [id], set });
      const [row] = await rows(books);
      return [row.reimbursement, row.reimbursed_by, row.reimbursed_on];
    };
    assertEquals(await state({ reimbursed_by: "Client" }), ["open", "Client", undefined]);
    assertEquals(await state({ reimbursement: "done" }), ["done", "Client", "2026-11-20"]);
    assertEquals(await state({ reimbursed_on: "2026-11-19" }), ["done", "Client", "2026-11-19"]);
    assertEquals(await state({ reimbursement: "open" }), ["open", "Client", undefined]);
    assertEquals(await state({ reimbursement: "none" }), [undefined, undefined, undefined]);
    for (
      const set of [
        { reimbursement: "none", reimbursed_by: "Client" },
        { reimbursement: "open", reimbursed_on: "2026-11-19" },
      ]
    ) assertEquals((await update(books, id, set)).error.field, "set.reimbursement");
  },

  "of another organization is neither found nor changed": async (books, database) => {
    const id = await log(books, { reimbursement: "open", tax_percent: 19 });
    const others = await openBooks(database);
    assertEquals(await rows(others, { reimbursement: "open" }), []);
    assertEquals((await others.ok("list_expenses")).tax_by_currency, undefined);
    await others.fails("not_found", "update_expenses", { ids: [id], set: { reimbursement: "done" } });
    assertEquals((await rows(books, { reimbursement: "open" })).length, 1);
  },
});
