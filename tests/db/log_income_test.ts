/** Income through the tools: entered, corrected, read, from statements, and hidden from members. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import { importOfFile } from "../_support/import_args.ts";

const say = (books: Books, item: Json, more: Json = {}) =>
  books.call("log_expenses", { items: [{ name: "Salary", amount: "2450", kind: "income", ...item }], ...more });
const listed = async (books: Books, more: Json = {}) =>
  (await books.ok("list_expenses", { kind: "income", ...more })).rows
    .map(({ date, name, amount }: Json) => [date, name, amount]);
const sum = (books: Books, more: Json = {}) => books.call("summarize_spending", { kind: "income", ...more });
const rows = ({ data }: Json) => data.rows.map(({ group, amount }: Json) => [...group, amount]);
const warned = ({ warnings }: Json) => (warnings ?? []).map(({ code }: Json) => code);

type Row = [date: string, name: string, amount: string];
const preview = async (books: Books, rows: Row[], more: Json = {}): Promise<Json> => {
  const file = `Date,Name,Amount\n${rows.map((row) => row.join(",")).join("\n")}\n`;
  const given = { account: "Giro", mapping: { negative_is_expense: true }, ...more };
  return (await books.ok("import_expenses", importOfFile(file, given))).preview;
};
const commit = async (books: Books, rows: Row[], more: Json = {}): Promise<Json> =>
  await books.call("import_expenses", (await preview(books, rows, more)).commit_with);
const RENT: Row = ["2026-10-01", "Rent", "-800.00"];
const PAY: Row = ["2026-10-02", "Work GmbH salary", "2450.00"];
const COFFEE: Row = ["2026-10-03", "Coffee", "-3.00"];

testBooks("income", { day: "2026-10-28" }, {
  "is separate from spending, and a repeated statement adds nothing": async (books) => {
    await books.ok("log_expenses", { items: [{ name: "Lunch", amount: "10" }] });
    const before = await books.ok("summarize_spending");
    const { data, change_id } = await say(books, { payee: "Work GmbH", note: "October" });
    const [{ id, ...result }] = data.results;
    assertMatch(id, /^inc_/);
    assertEquals([result, data.totals_by_currency], [{
      index: 0,
      status: "created",
      kind: "income",
      name: "Salary, Work GmbH",
      date: "2026-10-28",
      amount: "2450.00",
      currency: "EUR",
      sort: "salary",
      note: "October",
      version: 1,
    }, {}]);
    assertEquals(await books.ok("summarize_spending"), before);
    assertEquals((await books.ok("list_expenses")).rows.length, 1);
    const again = await say(books, { payee: "Work GmbH" });
    assertEquals([again.data.results[0].status, again.data.results[0].existing_id, again.change_id], [
      "duplicate",
      id,
      undefined,
    ]);
    assertEquals(warned(again), ["duplicate"]);
    assertEquals(
      (await say(books, { payee: "Work GmbH" }, { on_duplicate: "allow" })).data.results[0].status,
      "created",
    );
    await books.ok("undo_change");
    const { undone, reversed } = await books.ok("undo_change", { change_id });
    assertEquals(undone.summary, "Logged income Salary, Work GmbH on 2026-10-28, 2450.00 EUR");
    assertEquals(reversed.map(({ what }: Json) => what), ["Income Salary, Work GmbH of 2450.00 EUR removed"]);
    assertEquals(await listed(books), []);
  },
  "that is late or stopped is named by lists, sums and reviews to people who see all income": async (books) => {
    const member = await books.join();
    for (const date of ["2026-07-25", "2026-08-25", "2026-09-25"]) {
      await say(books, { name: "Gehalt, Work GmbH", date });
    }
    assertEquals((await listed(books, { query: "salary" })).length, 3, "by its sort");
    const missing = 'Late and not in the books: "Gehalt, Work GmbH", 2450.00 EUR, expected on 2026-10-25.';
    const said = async (tool: string, args: Json = {}, who = books) =>
      ((await who.call(tool, args)).warnings ?? []).map(({ message }: Json) => message).filter((text: string) =>
        /^(Late|Came)/.test(text)
      );
    const asked: [string, Json][] = [
      ["list_expenses", { kind: "income" }],
      ["list_expenses", { kind: "income", from: "2026-10-01" }],
      ["list_expenses", { kind: "income", query: "salary" }],
      ["summarize_spending", { kind: "income", period: "this_month" }],
      ["review_bills", {}],
    ];
    for (const [tool, args] of asked) {
      assertEquals(await said(tool, args), [missing], `${tool} ${JSON.stringify(args)}`);
    }
    assertEquals(await said("list_expenses", { kind: "income", query: "rent" }), []);
    assertEquals(await said("summarize_spending", { kind: "income", payee: "Tax", period: "this_month" }), []);
    assertEquals(await said("list_expenses", { kind: "income", to: "2026-10-20" }), []);
    await books.ok("update_settings", { category: { action: "create", name: "Pay" } });
    await books.ok("update_settings", { category: { action: "make_private", name: "Pay" } });
    for (const [tool, args] of asked) assertEquals(await said(tool, args, member), [], tool);
    const { data } = await say(books, { name: "Gehalt, Work GmbH", date: "2026-10-27" });
    for (const [tool, args] of asked) assertEquals(await said(tool, args), [], tool);
    await books.ok("delete_records", { ids: [data.results[0].id] });
    const stopped = 'Came regularly and then stopped: "Gehalt, Work GmbH", 2450.00 EUR, last on 2026-09-25.';
    asked.push(["summarize_spending", { kind: "net", period: "this_year" }]);
    for (const day of ["2026-11-06", "2027-02-02"]) {
      books.goTo(day);
      for (const [tool, args] of asked) assertEquals(await said(tool, args), [stopped], `${tool} ${day}`);
      for (const [tool, args] of asked) assertEquals(await said(tool, args, member), [], tool);
      assertEquals(await said("list_expenses", { kind: "income", query: "rent" }), []);
      assertEquals(await said("list_expenses", { kind: "income", to: "2026-10-20" }), [], "before it was expected");
    }
    books.goTo("2027-02-10");
    for (const [tool, args] of asked) assertEquals(await said(tool, args), [], "after three months");
    books.goTo("2026-11-06");
    await say(books, { name: "Gehalt Work", date: "2026-11-06", amount: "2500" });
    for (const [tool, args] of asked) assertEquals(await said(tool, args), [], "it came again");
  },
  "that is late is told apart from income still to come, and more than five are counted": async (books) => {
    await say(books, { date: "2026-10-26", repeats: "monthly" });
    await books.ok("delete_records", { ids: [(await books.ok("list_expenses", { kind: "income" })).rows[0].id] });
    await say(books, { name: "Cleaning", amount: "80", date: "2026-10-29", repeats: "weekly" });
    const { warnings } = await sum(books, { from: "2026-10-01", to: "2026-12-31" });
    assertEquals(warnings.map(({ message }: Json) => message).slice(-2), [
      'Late and not in the books: "Salary", 2450.00 EUR, expected on 2026-10-26.',
      `Still expected: ${
        ["10-29", "11-05", "11-12", "11-19"].map((day) => `"Cleaning", 80.00 EUR, on 2026-${day}`).join(", ")
      }, "Cleaning", 80.00 EUR, on 2026-11-26 and 7 more.`,
    ]);
  },
  "names the payer once": async (books) => {
    for (
      const [name, payee, stored] of [
        ["Bonus Blaufeld", "Blaufeld AG", "Bonus Blaufeld"],
        ["Bonus", "Blaufeld AG", "Bonus, Blaufeld AG"],
        ["Bonus Feld", "Blaufeld Feld AG", "Bonus Feld, Blaufeld Feld AG"],
        ["Bonus B", "Job", "Bonus B, Job"],
      ]
    ) {
      const { data } = await say(books, { name, payee });
      assertEquals(data.results[0].name, stored);
    }
  },
  "is corrected and deleted by its id": async (books) => {
    const { data } = await say(books, { date: "2026-10-27" });
    const { id } = data.results[0];
    const { updated } = await books.ok("update_expenses", { ids: [id], set: { amount: "2480" } });
    assertEquals(updated.map(({ before, after, version }: Json) => [before, after, version]), [
      [{ amount: "2450.00" }, { amount: "2480.00" }, 2],
    ]);
    await books.fails("stale_version", "update_expenses", { ids: [id], set: { amount: "1" }, expected_version: 1 });
    await books.fails("invalid_argument", "update_expenses", { ids: [id], set: { tags: ["x"] } });
    await books.fails("invalid_argument", "update_expenses", { ids: [id], set: { amount: "1" }, add_tags: ["x"] });
    assertEquals(await listed(books), [["2026-10-27", "Salary", "2480.00"]]);
    await books.fails("expectation_mismatch", "delete_records", { ids: [id], expected: [{ id, amount: "2450" }] });
    await books.fails("invalid_argument", "delete_records", { ids: [id, "exp_00000000000a"] });
    const { deleted } = await books.ok("delete_records", { ids: [id], expected: [{ id, amount: "2480" }] });
    assertEquals(deleted.map(({ name, amount }: Json) => [name, amount]), [["Salary", "2480.00"]]);
    assertEquals(await listed(books), []);
    await books.fails("not_found", "update_expenses", { ids: [id], set: { amount: "1" } });
    await books.ok("undo_change");
    assertEquals(await listed(books), [["2026-10-27", "Salary", "2480.00"]]);
  },
  "that recurs has a rule, which isn't income itself": async (books) => {
    const { data } = await say(books, { date: "2026-11-28", repeats: "monthly" });
    const [{ id, repeats, next_on, date }] = data.results;
    assertEquals([repeats, next_on, date], ["monthly", "2026-11-28", undefined]);
    assertEquals(await listed(books), []);
    const again = await say(books, { date: "2026-12-28", repeats: "monthly" });
    assertEquals([again.data.results[0].status, again.data.results[0].existing_id], ["duplicate", id]);
    // Received today, and again on this day of each month.
    const both = await say(books, { name: "Rent of the flat", amount: "700", repeats: "monthly" });
    assertEquals(both.data.results[0].rule.next_on, "2026-10-28");
    assertEquals([(await listed(books)).length, warned(both)], [1, []]);
    const more = await say(books, { amount: "2600", date: "2026-11-28", repeats: "monthly" });
    assertEquals(warned(more), ["income_expected_twice"]);
    assertStringIncludes(more.warnings[0].message, `"Salary", 2450.00 EUR monthly, next on 2026-11-28 (${id})`);
    await books.ok("update_expenses", { ids: [id], set: { amount: "2500", date: "2026-11-25" } });
    const { repeating } = await books.ok("list_expenses", { kind: "income" });
    assertEquals(repeating.map(({ name, amount, next_on }: Json) => [name, amount, next_on]), [
      ["Salary", "2500.00", "2026-11-25"],
      ["Rent of the flat", "700.00", "2026-10-28"],
      ["Salary", "2600.00", "2026-11-28"],
    ]);
    const gone = await books.call("delete_records", { ids: [both.data.results[0].id] });
    assertEquals(warned(gone), ["income_still_expected"]);
    await books.fails("date_out_of_range", "log_expenses", {
      items: [{ name: "Salary", amount: "1", kind: "income", date: "2031-11-28" }],
    });
    await books.fails("invalid_argument", "log_expenses", {
      items: [{ name: "Salary", amount: "1", kind: "income", tax: "1" }],
    });
    await books.fails("invalid_argument", "log_expenses", {
      items: [{ name: "Gym", amount: "1", repeats: "monthly" }],
    });
  },
  "of a later day is expected once, until it arrives": async (books) => {
    books.goTo("2026-11-28");
    const pays = ["2026-08-25", "2026-09-25", "2026-10-25", "2026-11-25"]
      .map((date): Row => [date, "Work GmbH salary", "2450.00"]);
    await commit(books, [...pays, ["2026-08-03", "Rent", "-800.00"]]);
    await books.ok("log_expenses", { items: [{ name: "Giro", amount: "1000", kind: "balance" }] });
    const bonus = { name: "Bonus", payee: "Work GmbH", amount: "2000", date: "2026-12-20" };
    const said = await say(books, bonus);
    const [{ id, status, repeats, next_on, date }] = said.data.results;
    assertEquals([status, repeats, next_on, date, warned(said)], ["created", "once", "2026-12-20", undefined, [
      "income_planned",
    ]]);
    assertStringIncludes(
      said.warnings[0].message,
      'Expected once, not received yet: "Bonus, Work GmbH"',
    );
    assertEquals((await say(books, bonus)).data.results.map((row: Json) => [row.status, row.existing_id]), [
      ["duplicate", id],
    ]);
    const { recent_changes } = await books.ok("get_context", { include: ["recent_changes"] });
    assertEquals(recent_changes[0].summary, "Logged income Bonus, Work GmbH on 2026-12-20, 2000.00 EUR, once");
    assertEquals([(await listed(books)).length, (await sum(books)).data.total.amount], [4, "2450.00"]);
    const expected = async () =>
      (await books.ok("forecast", { until: "2027-01-31" })).days
        .flatMap(({ on, changes }: Json) => (changes ?? []).map((text: string) => `${on} ${text}`));
    const pay = ["2026-12-25 Work GmbH salary 2450.00 EUR", "2027-01-25 Work GmbH salary 2450.00 EUR"];
    assertEquals(await expected(), ["2026-12-20 Bonus, Work GmbH 2000.00 EUR", ...pay]);
    await books.ok("update_expenses", { ids: [id], set: { date: "2026-12-21" } });
    assertEquals((await expected())[0], "2026-12-21 Bonus, Work GmbH 2000.00 EUR");
    books.goTo("2026-12-23");
    // The salary isn't a bonus, although its payer, day and amount are similar.
    await commit(books, [["2026-12-22", "Work GmbH salary", "2450.00"], COFFEE]);
    assertEquals(await expected(), ["2026-12-23 Bonus, Work GmbH 2000.00 EUR", pay[1]]);
    await commit(books, [["2026-12-21", "Work GmbH bonus", "1950.00"], ["2026-12-21", "Tea", "-3.00"]]);
    assertEquals(await expected(), [pay[1]]);
    const repeating = async () => (await books.ok("list_expenses", { kind: "income" })).repeating;
    assertEquals((await repeating()).map(({ repeats }: Json) => repeats), ["once"]);
    books.goTo("2027-02-10");
    assertEquals(await repeating(), undefined);
    await books.ok("delete_records", { ids: [id] });
    assertEquals((await listed(books)).length, 6);
  },
  "in a closed month stays as it is": async (books) => {
    await books.ok("update_settings", { closed_through: "2026-09" });
    await books.fails("month_closed", "log_expenses", {
      items: [{ name: "Salary", amount: "1", kind: "income", date: "2026-09-30" }],
    });
    const { data } = await commit(books, [["2026-09-30", "Work GmbH salary", "2450.00"], PAY, RENT]);
    assertEquals([data.income.closed, data.income.created], [1, 1]);
  },
  "in a closed month stays as it is when the next month's statement shows it": async (books) => {
    await say(books, { date: "2026-09-30", amount: "2400" });
    await commit(books, [RENT, ["2026-09-29", "Incoming money", "500.00"]]);
    await books.ok("update_settings", { closed_through: "2026-09" });
    const before = await listed(books);
    assertEquals((await commit(books, [PAY])).data.income, { linked: 1 });
    const { data } = await commit(books, [COFFEE, ["2026-10-01", "Internal transfer", "-500.00"]], {
      account: "Savings",
    });
    assertEquals([data.created, data.income, await listed(books)], [1, undefined, before]);
  },
  "moves with a merged category, except in closed months": async (books) => {
    for (const name of ["Wages", "Pay"]) await books.ok("update_settings", { category: { action: "create", name } });
    await say(books, { category: "Wages", date: "2026-09-30" });
    const merge = { category: { action: "merge", name: "Wages", into: "Pay" } };
    const category = async () => (await books.ok("list_expenses", { kind: "income" })).rows[0].category;
    await books.ok("update_settings", merge);
    assertEquals(await category(), "Pay");
    await books.ok("undo_change");
    assertEquals(await category(), "Wages");
    await books.ok("update_settings", { closed_through: "2026-09" });
    await books.fails("month_closed", "update_settings", merge);
    assertEquals(await category(), "Wages");
  },
  "of a statement is stored once, and matches a person's own entry": async (books) => {
    await say(books, { date: "2026-09-29" });
    const before = await books.ok("summarize_spending");
    const first = await commit(books, [RENT, PAY, ["2026-10-05", "Work GmbH bonus salary", "300.00"]]);
    assertEquals(first.data.income, { created: 1, linked: 1, totals: { EUR: "300.00" } });
    assertEquals(await listed(books), [
      ["2026-10-05", "Work GmbH bonus salary", "300.00"],
      ["2026-09-29", "Salary", "2450.00"],
    ]);
    assertEquals((await books.ok("summarize_spending")).total.amount, "800.00");
    const same = await commit(books, [RENT, PAY, ["2026-10-05", "Work GmbH bonus salary", "300.00"]]);
    assertEquals([same.data.income, same.change_id], [undefined, undefined]);
    // Income entered after the statement is the same income.
    const said = await say(books, { name: "Bonus", amount: "300", date: "2026-10-04" });
    assertEquals(said.data.results[0].status, "duplicate");
    await books.ok("undo_change", { change_id: first.change_id });
    assertEquals(await listed(books), [["2026-09-29", "Salary", "2450.00"]]);
    assertEquals(await books.ok("summarize_spending"), before);
    const anew = await commit(books, [RENT, PAY, ["2026-10-05", "Work GmbH bonus salary", "300.00"]]);
    assertEquals(anew.data.income, { created: 1, linked: 1, totals: { EUR: "300.00" } });
    assertMatch(
      (await books.ok("get_context", { include: ["recent_changes"] })).recent_changes[0].summary,
      /^Imported 1 expense: Rent; 1 income$/,
    );
  },
  "of another export with different words is the same": async (books) => {
    await commit(books, [RENT, PAY]);
    const same: Row = ["2026-10-02", "Salary Work GmbH October", "2450.00"];
    const shown = await preview(books, [RENT, same, COFFEE]);
    assertEquals([shown.rows_ok, shown.duplicates_count, shown.duplicates.map(({ name }: Json) => name)], [1, 1, [
      "Rent",
    ]]);
    assertEquals(shown.rows.map((row: Json) => row.as), ["known", "income", "new"]);
    assertEquals(shown.left_out.map(({ kind, count }: Json) => [kind, count]), [["income", 1]]);
    const again = await books.call("import_expenses", shown.commit_with);
    assertEquals([again.data.income, await listed(books)], [undefined, [PAY]]);
    assertEquals((await books.ok("reconcile", { account: "Giro" })).bank_only, []);
  },
  "of a closed month is stored once the month is reopened, even from another export": async (books) => {
    await books.ok("update_settings", { closed_through: "2026-09" });
    assertEquals((await commit(books, [RENT, ["2026-09-30", "Work GmbH salary", "2450.00"]])).data.income, {
      closed: 1,
    });
    await books.ok("update_settings", { closed_through: "2026-08" });
    const { data } = await commit(books, [COFFEE, ["2026-09-30", "Salary Work GmbH September", "2450.00"]]);
    assertEquals([data.income.created, (await listed(books)).length], [1, 1]);
  },
  "entered as a round amount gets the amount of its statement": async (books) => {
    const pay = (amount: string): Row => ["2026-10-03", "Work GmbH salary", amount];
    await say(books, { amount: "3000", date: "2026-10-01" });
    await say(books, { name: "Flea market", amount: "100", date: "2026-10-01" });
    const { data, change_id } = await commit(books, [pay("3012.44"), ["2026-10-01", "Lottery", "101.00"], COFFEE]);
    assertEquals([data.income.linked, data.income.created], [1, 1]);
    const amounts = async () => (await listed(books)).map(([, name, amount]: Json) => `${name} ${amount}`).sort();
    assertEquals(await amounts(), ["Flea market 100.00", "Lottery 101.00", "Salary 3012.44"]);
    const again = (await say(books, { amount: "3000", date: "2026-10-04" })).data.results[0];
    assertEquals([again.status, again.amount], ["duplicate", "3012.44"]);
    assertEquals((await say(books, { amount: "3200", date: "2026-10-04" })).data.results[0].status, "created");
    await books.ok("undo_change");
    await books.ok("undo_change", { change_id });
    assertEquals(await amounts(), ["Flea market 100.00", "Salary 3000.00"]);
    await say(books, { amount: "3100", date: "2026-10-05" });
    await commit(books, [pay("3100.00"), COFFEE]);
    assertEquals(await amounts(), ["Flea market 100.00", "Salary 3000.00", "Salary 3100.00"]);
  },
  "of another payer stays separate, even with a similar amount and day": async (books) => {
    await commit(books, [RENT, PAY]);
    const near = { amount: "2500", date: "2026-10-01" };
    const status = async (item: Json) => (await say(books, { ...near, ...item })).data.results[0].status;
    assertEquals([
      await status({ payee: "Globex Inc" }),
      // Without a payer, or with the same, it may be the same income.
      await status({}),
      await status({ name: "My October salary" }),
      await status({ name: "Ana's wages" }),
      await status({ name: "Wages", payee: "Work" }),
      await status({ name: "Net salary of October" }),
      await status({ name: "Gehalt im Oktober" }),
      await status({ name: "Salaire de septembre" }),
      await status({ name: "Sueldo neto por octubre" }),
      await status({ name: "Salary payment" }),
    ], ["created", ...Array(9).fill("duplicate")]);
    // The statement of the other account matches only the salary that names its payer.
    await commit(books, [["2026-10-02", "Globex Inc salary", "2496.10"]], { account: "Partner" });
    assertEquals(await listed(books), [PAY, ["2026-10-01", "Salary, Globex Inc", "2496.10"]]);
    await say(books, { amount: "2000", date: "2026-10-08", payee: "Initech" });
    await commit(books, [["2026-10-09", "Hooli salary", "2010.00"]], { account: "Partner" });
    assertEquals((await listed(books)).slice(0, 2), [
      ["2026-10-09", "Hooli salary", "2010.00"],
      ["2026-10-08", "Salary, Initech", "2000.00"],
    ]);
  },
  "entered again with the bank's date is a duplicate": async (books) => {
    await say(books, { date: "2026-09-29" });
    await commit(books, [RENT, PAY]);
    assertEquals((await say(books, { date: PAY[0] })).data.results[0].status, "duplicate");
    assertEquals((await listed(books)).length, 1);
  },
  "deleted by a person is not restored by its statement": async (books) => {
    await commit(books, [RENT, PAY]);
    const { rows: [{ id }] } = await books.ok("list_expenses", { kind: "income" });
    await books.ok("delete_records", { ids: [id] });
    assertEquals((await commit(books, [RENT, PAY])).data.income, undefined);
    assertEquals(await listed(books), []);
  },
  "deleted by a person is only in the bank, until it is recorded again": async (books) => {
    const told = async (reader = books) => {
      const { data, warnings } = await reader.call("reconcile", { account: "Giro" });
      return [
        data.bank_only.map(({ text, amount, kind }: Json) => [text, amount, kind]),
        data.bank_only_count,
        data.totals.difference,
        warnings.map(({ message }: Json) => message),
      ];
    };
    const none = [[], 0, { EUR: "0.00" }, []];
    await commit(books, [RENT, PAY]);
    assertEquals(await told(), none);
    const { rows: [{ id }] } = await books.ok("list_expenses", { kind: "income" });
    const { change_id } = await books.call("delete_records", { ids: [id] });
    assertEquals(await told(), [[["Work GmbH salary", "2450.00", "income"]], 1, { EUR: "0.00" }, [
      "1 row of bank_only, 2450.00 EUR, is income that the books lack. Totals and difference compare only spending.",
    ]]);
    await say(books, { date: "2026-09-30" });
    assertEquals(await told(), none);
    await books.ok("undo_change");
    assertEquals((await told())[1], 1);
    await books.ok("undo_change", { change_id });
    assertEquals(await told(), none);
    // A member doesn't learn of income that is hidden from them, nor of its deletion.
    const member = await books.join();
    await books.ok("update_settings", { category: { action: "create", name: "Payroll" } });
    await books.ok("update_settings", { category: { action: "make_private", name: "Payroll" } });
    await books.ok("update_expenses", { ids: [id], set: { category: "Payroll" } });
    assertEquals((await told(member)).slice(0, 3), none.slice(0, 3));
    await books.ok("delete_records", { ids: [id] });
    assertEquals([(await told(member)).slice(0, 3), (await told())[1]], [none.slice(0, 3), 1]);
  },
  "from one of the accounts is a transfer": async (books) => {
    await commit(books, [RENT, ["2026-10-05", "Incoming money", "500.00"]]);
    assertEquals((await listed(books)).length, 1);
    const { data } = await commit(books, [["2026-10-03", "Coffee", "-3.00"], [
      "2026-10-05",
      "Internal transfer",
      "-500.00",
    ]], {
      account: "Savings",
    });
    assertEquals([data.income, await listed(books)], [{ removed: 1 }, []]);
    await books.ok("undo_change");
    assertEquals((await listed(books)).length, 1);
  },
  "stated and also shown by statements is expected once, and incomes of different people stay separate": async (
    books,
  ) => {
    await commit(books, [
      RENT,
      ...["07", "08", "09", "10"].flatMap((month): Row[] => [
        [`2026-${month}-25`, `Gehalt Ben Weber ${month}/2026`, "1400.00"],
        [`2026-${month}-27`, `Gehalt Anna Weber ${month}/2026`, "1650.00"],
      ]),
    ]);
    await books.ok("log_expenses", { items: [{ name: "Giro", amount: "100", kind: "balance" }] });
    const expected = async () =>
      (await books.ok("forecast", { until: "2026-11-30" })).days.flatMap(({ changes }: Json) => changes ?? []);
    const seen = ["Gehalt Ben Weber 1400.00 EUR", "Gehalt Anna Weber 1650.00 EUR"];
    assertEquals(await expected(), seen);
    const repeats = { repeats: "monthly", date: "2026-11-25" };
    const ben = await say(books, { name: "Ben's salary", amount: "1400", ...repeats });
    assertEquals(warned(ben), ["income_known"]);
    assertStringIncludes(
      ben.warnings[0].message,
      '"Gehalt Ben Weber 10/2026", 1400.00 EUR on 2026-10-25, counts as "Ben\'s salary"',
    );
    assertEquals(await expected(), ["Ben's salary 1400.00 EUR", seen[1]]);
    await say(books, { name: "Anna's salary", amount: "1650", ...repeats, date: "2026-11-26" });
    const both = ["Ben's salary 1400.00 EUR", "Anna's salary 1650.00 EUR"];
    assertEquals(await expected(), both);
    // Anna's pay comes first and Ben's late: neither takes the other's date or amount.
    books.goTo("2026-11-26");
    await commit(books, [["2026-11-25", "Gehalt Anna Weber 11/2026", "1650.00"], COFFEE]);
    assertEquals(await expected(), [both[0]]);
    books.goTo("2026-12-03");
    await commit(books, [["2026-12-02", "Gehalt Ben Weber 11/2026", "1400.00"], ["2026-12-01", "Tea", "-3.00"]]);
    const { warnings } = await sum(books, { period: "this_month" });
    assertEquals(
      warnings[0].message,
      'Still expected: "Ben\'s salary", 1400.00 EUR, on 2026-12-25 and "Anna\'s salary", 1650.00 EUR, on 2026-12-26.',
    );
  },
  "stated with another amount or payer than a statement's is reported as expected in addition to it": async (books) => {
    await commit(books, [RENT, ...["08", "09", "10"].map((month): Row => [`2026-${month}-25`, PAY[1], "2450.00"])]);
    const repeats = { repeats: "monthly", date: "2026-11-25" };
    assertEquals(warned(await say(books, { payee: "Globex Inc", amount: "2400", ...repeats })), ["income_alike"]);
    await books.ok("undo_change");
    const other = await say(books, { amount: "3000", ...repeats });
    assertEquals(warned(other), ["income_alike"]);
    assertStringIncludes(
      other.warnings[0].message,
      '"Work GmbH salary", 2450.00 EUR, is expected on 2026-11-25 as well, because it comes regularly. If "Salary" (inc_',
    );
    // With the payer's name, it is the same income after a raise.
    await books.ok("update_expenses", { ids: [other.data.results[0].id], set: { name: "Salary, Work" } });
    const { warnings } = await sum(books, { from: "2026-10-01", to: "2026-11-30" });
    assertEquals(
      warnings.filter(({ code }: Json) => code === "income_expected").map(({ message }: Json) => message),
      ['Still expected: "Salary, Work", 3000.00 EUR, on 2026-11-25.'],
    );
    assertEquals(warned(await say(books, { payee: "Globex Inc", amount: "2900", ...repeats })), []);
    assertEquals(warned(await say(books, { amount: "2950", ...repeats })), ["income_expected_twice"]);
  },
  "is summed by kind, payer and month, and net is income minus spending": async (books) => {
    for (const date of ["2026-09-01", "2026-10-01"]) {
      await books.ok("log_expenses", { items: [{ name: "Rent", amount: "800", date }], on_duplicate: "allow" });
    }
    await say(books, { date: "2026-09-28" });
    await say(books, { date: "2026-08-28" });
    await say(books, { name: "Flea market", amount: "50", date: "2026-09-05" });
    await say(books, { date: "2026-10-29", repeats: "monthly" });
    const quarter = { from: "2026-08-01", to: "2026-10-31" };
    assertEquals(rows(await sum(books, quarter)), [["Salary", "4900.00"], ["Other income", "50.00"]]);
    assertEquals(rows(await sum(books, { ...quarter, group_by: ["payee"] })), [
      ["Salary", "4900.00"],
      ["Flea market", "50.00"],
    ]);
    assertEquals(rows(await sum(books, { ...quarter, group_by: ["payee"], top: 1 })), [
      ["Salary", "4900.00"],
      ["Other", "50.00"],
    ]);
    const net = await books.call("summarize_spending", { kind: "net", ...quarter });
    assertEquals(
      net.data.rows.map(({ group, amount, income, spending }: Json) => [...group, amount, income, spending]),
      [
        ["2026-08", "2450.00", "2450.00", "0.00"],
        ["2026-09", "1700.00", "2500.00", "800.00"],
        ["2026-10", "-800.00", "0.00", "800.00"],
      ],
    );
    // October is not over.
    const average = { per: "month", amount: "2075.00", of: 2, since: "2026-08-01" };
    assertEquals(net.data.total, {
      amount: "3350.00",
      currency: "EUR",
      income: "4950.00",
      spending: "1600.00",
      average,
    });
    const weeks = await books.ok("summarize_spending", { kind: "net", ...quarter, group_by: ["week"] });
    assertEquals(weeks.total.average, { per: "week", amount: "372.22", of: 9, since: "2026-08-24" });
    const part = await books.call("summarize_spending", { kind: "net", from: "2026-08-15", to: "2026-10-30" });
    assertEquals(part.data.total.average, undefined);
    assertEquals(warned(net), ["income_expected", "net_is_income_less_spending"]);
    assertStringIncludes(net.warnings[0].message, '"Salary", 2450.00 EUR, on 2026-10-29');
    assertEquals(warned(await sum(books, { from: "2025-01-01", to: "2025-12-31" })), ["income_unknown"]);
    assertEquals(warned(await sum(books, { from: "2026-01-01", to: "2026-09-30" })), ["income_begins"]);
    await books.fails("invalid_argument", "summarize_spending", { kind: "net", group_by: ["payee"] });
    const refused = await books.call("summarize_spending", { kind: "income", tags: ["x"] });
    assertEquals(
      refused.error.hint,
      "Here it takes from, to, period, currency, group_by, in_currency, top, query, categories, not_categories, payee and recorded_by.",
    );
    await books.fails("invalid_argument", "list_expenses", { kind: "income", sort: "amount" });
    const page = await books.call("list_expenses", { kind: "income", limit: 2 });
    const rest = await books.call("list_expenses", { kind: "income", limit: 2, cursor: page.next_cursor });
    assertEquals([page.total_count, page.data.rows.length, rest.data.rows.length, rest.next_cursor], [
      3,
      2,
      1,
      undefined,
    ]);
  },
  "of a payer with a private category stays hidden, even in statements": async (books, database) => {
    const member = await books.join();
    await books.ok("update_settings", { category: { action: "create", name: "Payroll" } });
    await books.ok("update_settings", { category: { action: "make_private", name: "Payroll" } });
    await books.ok("update_settings", { payee_rules: [{ payee: "Work GmbH", category: "Payroll" }] });
    await say(member, { name: "Salary Ben", amount: "1900", date: "2026-10-20" });
    const { change_id } = await commit(books, [RENT, PAY]);
    assertEquals((await listed(books)).length, 2);
    assertEquals(await listed(member), [["2026-10-20", "Salary Ben", "1900.00"]]);
    const mine = await sum(member);
    assertEquals([mine.data.total.amount, warned(mine)], ["1900.00", ["income_partly_known"]]);
    const seen = JSON.stringify([
      await member.call("reconcile", { account: "Giro" }),
      await member.call("get_context", { include: ["recent_changes", "balances", "payees"] }),
      await member.call("list_expenses", { kind: "income" }),
      await member.call("summarize_spending", { kind: "net", period: "this_month" }),
    ]);
    assertEquals(/2450|Work/.test(seen), false, seen);
    const { rows: [, { id }] } = await books.ok("list_expenses", { kind: "income" });
    await member.fails("not_found", "delete_records", { ids: [id] });
    await member.fails("not_found", "update_expenses", { ids: [id], set: { amount: "1" } });
    await member.fails("not_found", "undo_change", { change_id });
    const other = await openBooks(database, { day: books.today() });
    await other.fails("not_found", "delete_records", { ids: [id] });
    assertEquals(await listed(other), []);
  },
  "of later statements takes its payer's category, so that a private salary stays private": async (books) => {
    const member = await books.join();
    await commit(books, [RENT, PAY, ["2026-10-05", "Gehalt Ben Weber 10/2026", "1400.00"]]);
    const { rows: [, { id }] } = await books.ok("list_expenses", { kind: "income" });
    await books.ok("update_settings", { category: { action: "create", name: "Payroll" } });
    await books.ok("update_settings", { category: { action: "make_private", name: "Payroll" } });
    await books.ok("update_expenses", { ids: [id], set: { category: "Payroll" } });
    await commit(books, [
      ["2026-10-20", "Work GmbH salary 11/2026", "2450.00"],
      ["2026-10-21", "Gehalt Ben Weber 11/2026", "1400.00"],
      COFFEE,
    ]);
    assertEquals((await listed(books)).length, 4);
    assertEquals((await listed(member)).map(([, name]: Json) => name), [
      "Gehalt Ben Weber 11/2026",
      "Gehalt Ben Weber 10/2026",
    ]);
  },
  "of others stays hidden from members who see only their own records": async (books, database) => {
    const member = await books.join();
    await commit(books, [RENT, PAY]);
    await say(member, { name: "Salary Ben", amount: "1900", date: "2026-10-20" });
    await database.query("update identity.organizations set own_only = true where id = $1", [books.organizationId]);
    assertEquals(await listed(member), [["2026-10-20", "Salary Ben", "1900.00"]]);
    assertEquals((await listed(books)).length, 2);
    for (const tool of ["list_expenses", "list_bills", "summarize_spending"]) {
      const said = async (of: Books) => warned(await of.call(tool)).includes("own_records_only");
      assertEquals([tool, await said(member), await said(books)], [tool, true, false]);
    }
    const again = await commit(member, [RENT, PAY]);
    assertEquals([again.data.income, (await listed(books)).length], [undefined, 2]);
    const viewer = await books.join("viewer");
    assertEquals((await listed(viewer)).length, 2);
    await viewer.fails("forbidden_role", "log_expenses", { items: [{ name: "x", amount: "1", kind: "income" }] });
  },
});
