import { assert, assertEquals } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import { addRate, type Books, type Json, settleDay } from "../_support/books.ts";

const TODAY = "2026-10-06"; // a Tuesday

const log = (books: Books, ...items: Json[]) => books.ok("log_expenses", { items, on_duplicate: "allow" });
const rows = async (books: Books, question: Json) =>
  (await books.ok("summarize_spending", question)).rows.map((
    { group, amount, count }: Json,
  ) => [...group, amount, count]);

testBooks("summarize_spending", { day: TODAY }, {
  "adds up a period by category, refunds subtracted, in one call": async (books) => {
    await log(
      books,
      { name: "Lunch", amount: "14.50" },
      { name: "Dinner", amount: "30", date: "2026-10-01" },
      { name: "Train", amount: "80", date: "2026-10-02", category: "Travel" },
      { name: "Train", amount: "20", date: "2026-10-03", category: "Travel", is_refund: true },
      { name: "Qwerty", amount: "5.50" },
      { name: "September", amount: "99", date: "2026-09-30" },
    );
    const result = await books.call("summarize_spending");
    assertEquals(result.data, {
      period: { from: "2026-10-01", to: "2026-10-31" },
      rows: [
        { group: ["Travel"], amount: "60.00", share_percent: 54.5, count: 2 },
        { group: ["Food"], amount: "44.50", share_percent: 40.5, count: 2 },
        { group: ["Uncategorized"], amount: "5.50", share_percent: 5, count: 1 },
      ],
      total: { amount: "110.00", currency: "EUR", count: 5 },
      fx: {
        rule:
          "Each payment is converted by what the bank charged, else at the rate of its day, or the latest before it, at most 7 days old; source snapshot: at the rates of as_of, which came with the service.",
        sources: [],
      },
      unconverted: [],
    });
    assertEquals(result.warnings, []);
  },

  "returns zero without expenses": async (books) => {
    const { rows, total } = await books.ok("summarize_spending", { compare: "previous_period", in_currency: "JPY" });
    assertEquals({ rows, total }, { rows: [], total: { amount: "0", currency: "JPY", count: 0, previous: "0" } });
  },

  "accepts periods by name": async (books) => {
    const periods: Record<string, [string, string]> = {
      this_week: ["2026-10-05", "2026-10-11"],
      last_week: ["2026-09-28", "2026-10-04"],
      this_month: ["2026-10-01", "2026-10-31"],
      last_month: ["2026-09-01", "2026-09-30"],
      this_quarter: ["2026-10-01", "2026-12-31"],
      last_quarter: ["2026-07-01", "2026-09-30"],
      this_year: ["2026-01-01", "2026-12-31"],
      last_year: ["2025-01-01", "2025-12-31"],
      last_30_days: ["2026-09-07", TODAY],
      last_12_months: ["2025-10-07", TODAY],
    };
    for (const [period, [from, to]] of Object.entries(periods)) {
      assertEquals((await books.ok("summarize_spending", { period })).period, { from, to }, period);
    }
    const period = async (question: Json) => (await books.ok("summarize_spending", question)).period;
    await log(books, { name: "A", amount: "1", date: "2026-02-03" });
    assertEquals(await period({ from: "2026-09-15" }), { from: "2026-09-15", to: TODAY });
    assertEquals(await period({ to: "2026-09-15" }), { from: "2026-02-03", to: "2026-09-15" });
    assertEquals(await period({ to: "2026-01-15" }), { from: "2026-01-15", to: "2026-01-15" });
    books.goTo("2024-02-29");
    assertEquals(await period({ period: "last_12_months" }), { from: "2023-03-01", to: "2024-02-29" });
    assertEquals(await period({ period: "last_month" }), { from: "2024-01-01", to: "2024-01-31" });
  },

  "compares with the previous period and the previous year": async (books) => {
    const previous = async (question: Json) => (await books.ok("summarize_spending", question)).period.previous;
    const before: [Json, string, string][] = [
      [{ period: "last_month" }, "2026-08-01", "2026-08-31"],
      // A running period is compared over the days passed so far, and as a whole including upcoming bills.
      [{ period: "this_month" }, "2026-09-01", "2026-09-06"],
      [{ period: "this_month", include_upcoming: true }, "2026-09-01", "2026-09-30"],
      [{ period: "this_quarter" }, "2026-07-01", "2026-07-06"],
      [{ period: "this_week" }, "2026-09-28", "2026-09-29"],
      [{ period: "last_30_days" }, "2026-08-08", "2026-09-06"],
      [{ from: "2026-11-01", to: "2026-11-30" }, "2026-10-01", "2026-10-31"],
      [{ from: "2026-01-01", to: "2026-02-28" }, "2025-11-01", "2025-12-31"],
      [{ from: "2026-10-02", to: "2026-10-06" }, "2026-09-27", "2026-10-01"],
      // Periods of the same shape contain the 1st equally often.
      [{ from: "2026-04-01", to: "2026-05-15" }, "2026-02-01", "2026-03-15"],
      [{ from: "2026-10-01" }, "2026-09-01", "2026-09-06"],
      [{ from: "2026-03-01", to: "2026-03-30" }, "2026-02-01", "2026-02-28"],
      [{ from: "2026-03-01", to: "2026-04-30" }, "2026-01-01", "2026-02-28"],
      [{ from: "2026-01-01", to: "2026-01-20" }, "2025-12-01", "2025-12-20"],
      // A year to date.
      [{ from: "2026-01-01" }, "2025-01-01", TODAY.replace("2026", "2025")],
      [{ from: "2026-01-01", to: "2026-05-15" }, "2025-01-01", "2025-05-15"],
      [{ from: "2024-01-01", to: "2024-02-29" }, "2023-11-01", "2023-12-31"],
      [{ period: "last_12_months" }, "2024-10-07", "2025-10-06"],
      // Months and years that begin on a day other than the first.
      [{ from: "2026-10-26", to: "2026-11-25" }, "2026-09-26", "2026-10-25"],
      [{ from: "2026-09-15", to: "2026-10-14" }, "2026-08-15", "2026-09-06"],
      [{ from: "2027-04-06", to: "2028-04-05" }, "2026-04-06", "2027-04-05"],
      [{ from: "2026-01-31", to: "2026-02-27" }, "2025-12-31", "2026-01-30"],
      [{ from: "2026-03-31", to: "2026-04-29" }, "2026-02-28", "2026-03-30"],
      [{ from: "2026-02-28", to: "2026-03-27" }, "2026-01-28", "2026-02-27"],
    ];
    for (const [question, from, to] of before) {
      assertEquals(await previous({ ...question, compare: "previous_period" }), { from, to });
    }
    const yearBefore: [Json, string, string][] = [
      [{ period: "this_month" }, "2025-10-01", "2025-10-06"],
      [{ from: "2025-02-01", to: "2025-02-28" }, "2024-02-01", "2024-02-29"],
      [{ from: "2024-02-29", to: "2024-02-29" }, "2023-02-28", "2023-02-28"],
    ];
    for (const [question, from, to] of yearBefore) {
      assertEquals(await previous({ ...question, compare: "same_period_last_year" }), { from, to });
    }

    // Compares day by day; the end of a month corresponds to the end of the other.
    const soFar: [today: string, period: string, from: string, to: string][] = [
      ["2026-08-31", "this_quarter", "2026-04-01", "2026-05-31"],
      ["2026-08-30", "this_quarter", "2026-04-01", "2026-05-30"],
      ["2026-05-30", "this_quarter", "2026-01-01", "2026-02-28"],
      ["2026-02-28", "this_month", "2026-01-01", "2026-01-31"],
      ["2026-03-30", "this_month", "2026-02-01", "2026-02-28"],
      ["2026-09-30", "this_quarter", "2026-04-01", "2026-06-30"],
      ["2026-03-01", "this_year", "2025-01-01", "2025-03-01"],
      // Weeks and thirty days keep their length, even if they begin with a month.
      ["2026-06-07", "this_week", "2026-05-25", "2026-05-31"],
      ["2026-10-30", "last_30_days", "2026-09-01", "2026-09-30"],
      ["2026-08-30", "last_30_days", "2026-07-02", "2026-07-31"],
    ];
    for (const [today, period, from, to] of soFar) {
      books.goTo(today);
      assertEquals(await previous({ period, compare: "previous_period" }), { from, to }, today);
    }
    books.goTo("2026-02-27");
    assertEquals(await previous({ from: "2026-01-31", to: "2026-02-27", compare: "previous_period" }), {
      from: "2025-12-31",
      to: "2026-01-30",
    });
    books.goTo("2026-09-30");
    assertEquals(await previous({ from: "2026-01-01", compare: "previous_period" }), {
      from: "2025-01-01",
      to: "2025-09-30",
    });
    books.goTo(TODAY);

    await log(
      books,
      { name: "Lunch", amount: "30" },
      { name: "Lunch", amount: "20", date: "2026-09-30" },
      { name: "Flight", amount: "100", date: "2026-09-01" },
      { name: "Old", amount: "7", date: "2026-08-31" },
      { name: "Qwerty", amount: "5" },
    );
    const running = await books.call("summarize_spending", { compare: "previous_period" });
    assertEquals(running.data.total, {
      amount: "35.00",
      currency: "EUR",
      count: 2,
      previous: "100.00",
      change_percent: -65,
    });
    assertEquals(running.warnings, [{
      code: "period_running",
      message:
        "This period runs until 2026-10-31; previous covers the same days of the earlier one, 2026-09-01 to 2026-09-06.",
    }]);
    const chart = await books.ok("show_spending_chart", { chart: "by_category" });
    assertEquals(chart.compared.change_percent, -65, "the chart says the same");
    books.goTo("2026-10-31");
    const data = await books.ok("summarize_spending", { compare: "previous_period" });
    assertEquals(data.rows, [
      { group: ["Food"], amount: "30.00", share_percent: 85.7, count: 1, previous: "20.00", change_percent: 50 },
      { group: ["Uncategorized"], amount: "5.00", share_percent: 14.3, count: 1, previous: "0.00" },
      { group: ["Travel"], amount: "0.00", share_percent: 0, count: 0, previous: "100.00", change_percent: -100 },
    ]);
    assertEquals(data.total, { amount: "35.00", currency: "EUR", count: 2, previous: "120.00", change_percent: -70.8 });
    // Days of the earlier period align with this one's.
    const days = await books.ok("summarize_spending", { compare: "previous_period", group_by: ["day"] });
    assertEquals(days.rows.map(({ group, amount, previous }: Json) => [...group, amount, previous]), [
      ["2026-10-01", "0.00", "100.00"],
      ["2026-10-06", "35.00", "0.00"],
      ["2026-10-30", "0.00", "20.00"],
    ]);
  },

  "names bills paid in one period and due in another": async (books) => {
    books.goTo("2026-08-01");
    await log(books, { name: "Old", amount: "1", date: "2026-06-01" });
    const add = async (name: string, amount: string, day: number) =>
      (await books.ok("add_bill", { name, amount, month_days: [day] })).bill.id;
    const [rent, gym] = [await add("Rent", "900", 1), await add("Gym", "20", 15)];
    const pay = async (bill_id: string, due_on: string, paid_on: string) => {
      books.goTo(paid_on);
      await books.ok("mark_bill_paid", { bill_id, due_on, paid_on });
    };
    await pay(rent, "2026-08-01", "2026-08-01");
    await pay(gym, "2026-08-15", "2026-08-15");
    await pay(rent, "2026-09-01", "2026-08-31");
    await pay(gym, "2026-09-15", "2026-09-14");
    books.goTo(TODAY);
    const compared = async (args: Json) =>
      (await books.call("summarize_spending", { compare: "previous_period", ...args })).warnings
        .filter(({ code }: Json) => code === "paid_across_border").map(({ message }: Json) => message);
    const said =
      "Rent was paid in one of these periods and due in another, a few days apart, which is part of the change.";
    assertEquals(await compared({ period: "last_month" }), [said]);
    assertEquals(await compared({ period: "last_month", payee: "Gym" }), []);
    assertEquals(await compared({ period: "last_month", compare: "none" }), []);
    assertEquals(await compared({ from: "2026-08-05", to: "2026-09-05" }), []);
  },

  "does not compare with a period before the books began": async (books) => {
    await log(books, { name: "Lunch", amount: "20", date: "2026-08-20" }, {
      name: "Lunch",
      amount: "30",
      date: "2026-09-20",
    });
    const question = { period: "last_month", compare: "previous_period" };
    const { data, warnings } = await books.call("summarize_spending", question);
    assertEquals([data.total.previous, data.total.change_percent, data.rows[0].change_percent], [
      "20.00",
      undefined,
      undefined,
    ]);
    assertEquals(warnings, [{
      code: "books_begin",
      message:
        "The books begin on 2026-08-20, so previous is incomplete for 2026-08-01 to 2026-08-31, and no change is given.",
    }]);
    await log(books, { name: "Lunch", amount: "10", date: "2026-08-03" });
    assertEquals((await books.ok("summarize_spending", question)).total.change_percent, 0);
  },

  "reports the first day of the books, even at the start of a running period": async (books) => {
    await log(books, { name: "Lunch", amount: "20", date: "2026-09-03" });
    books.goTo("2026-10-02");
    const question = { period: "this_month", compare: "previous_period" };
    const { data, warnings } = await books.call("summarize_spending", question);
    assertEquals([data.total.previous, data.total.change_percent, warnings.map(({ code }: Json) => code)], [
      "0.00",
      undefined,
      ["books_begin"],
    ]);
  },

  "groups by one or two fields, time in order": async (books) => {
    const member = await books.join();
    await log(books, { name: "Lunch", payee: "Cafe", amount: "10", date: "2026-10-01", tags: ["Trip"] }, {
      name: "Lunch",
      payee: "CAFE",
      amount: "20",
      date: "2026-10-05",
      tags: ["trip", "work"],
    }, { name: "Train", amount: "80", date: "2026-09-27", category: "Travel" });
    await log(member, { name: "Train", amount: "70", date: "2026-09-28", category: "Travel" });
    const question = { from: "2026-09-01", to: "2026-10-31" };
    const [owner, joined] = [`${books.userId}@example.com`, `${member.userId}@example.com`];
    const expected: [string[], Json[]][] = [
      [["category"], [["Travel", "150.00", 2], ["Food", "30.00", 2]]],
      [["payee"], [["Train", "150.00", 2], ["CAFE", "30.00", 2]]],
      [["tag"], [["Untagged", "150.00", 2], ["Trip", "30.00", 2], ["work", "20.00", 1]]],
      [["month"], [["2026-09", "150.00", 2], ["2026-10", "30.00", 2]]],
      [["week"], [["2026-09-21", "80.00", 1], ["2026-09-28", "80.00", 2], ["2026-10-05", "20.00", 1]]],
      [["day"], [["2026-09-27", "80.00", 1], ["2026-09-28", "70.00", 1], ["2026-10-01", "10.00", 1], [
        "2026-10-05",
        "20.00",
        1,
      ]]],
      [["currency"], [["EUR", "180.00", 4]]],
      [["member"], [[owner, "110.00", 3], [joined, "70.00", 1]]],
      [["category", "month"], [["Travel", "2026-09", "150.00", 2], ["Food", "2026-10", "30.00", 2]]],
      [["month", "category"], [["2026-09", "Travel", "150.00", 2], ["2026-10", "Food", "30.00", 2]]],
      [["category", "member"], [["Travel", owner, "80.00", 1], ["Travel", joined, "70.00", 1], [
        "Food",
        owner,
        "30.00",
        2,
      ]]],
      [["payee", "payee"], [["Train", "150.00", 2], ["CAFE", "30.00", 2]]],
    ];
    for (const [group_by, groups] of expected) {
      assertEquals(await rows(books, { ...question, group_by }), groups, group_by.join());
    }
    const { data, warnings } = await books.call("summarize_spending", { ...question, group_by: ["tag"] });
    assertEquals(data.total, { amount: "180.00", currency: "EUR", count: 4 });
    assertEquals(warnings.map(({ code }: Json) => code), ["books_begin", "tags_overlap"]);
  },

  "combines all but the largest into one row": async (books) => {
    await log(
      books,
      ...["A", "B", "C", "D"].map((name, i) => ({ name, amount: String(40 - 10 * i) })),
      { name: "A", amount: "1", date: "2026-10-01" },
      { name: "D", amount: "2", date: "2026-10-01" },
    );
    const question = { top: 2, from: "2026-10-01" };
    assertEquals(await rows(books, { ...question, group_by: ["payee"] }), [["A", "41.00", 2], ["B", "30.00", 1], [
      "Other",
      "32.00",
      3,
    ]]);
    assertEquals(await rows(books, { ...question, group_by: ["payee", "day"] }), [
      ["A", "2026-10-01", "1.00", 1],
      ["A", TODAY, "40.00", 1],
      ["B", TODAY, "30.00", 1],
      ["Other", "2026-10-01", "2.00", 1],
      ["Other", TODAY, "30.00", 2],
    ]);
    assertEquals(await rows(books, { ...question, group_by: ["payee", "currency"] }), [["A", "EUR", "41.00", 2], [
      "B",
      "EUR",
      "30.00",
      1,
    ], [
      "Other",
      "32.00",
      3,
    ]]);
    assertEquals(
      (await rows(books, { from: "2026-10-01", top: 1, group_by: ["day"] })).length,
      2,
      "time is never folded",
    );
  },

  "shares add up to 100": async (books) => {
    await log(books, ...["A", "B", "C", "D", "E", "F", "G"].map((name) => ({ name, amount: "1" })));
    const { rows } = await books.ok("summarize_spending", { group_by: ["payee"] });
    assertEquals(Math.round(rows.reduce((sum: number, { share_percent }: Json) => sum + share_percent, 0) * 10), 1000);
    assert(rows.every(({ share_percent }: Json) => share_percent === 14.3 || share_percent === 14.2));
  },

  "converts each payment at the rate of its own day, rounded once": async (books, database) => {
    for (
      const [quote, day, rate] of [["USD", "2026-10-01", "1.1"], ["USD", "2026-10-02", "1.2"], [
        "INR",
        "2026-10-01",
        "90",
      ], ["JPY", "2026-10-02", "160"]]
    ) {
      await addRate(database, quote!, day!, rate!);
    }
    await database.query(
      "insert into app.fx_rates (quote, rate_on, source, rate) values ('USD', '2026-10-02', 'another', 9), ('USD', '2026-10-03', 'another', 1.25)",
    );
    await log(
      books,
      { name: "A", amount: "11.00", currency: "USD", date: "2026-10-01" }, // 10.00
      { name: "B", amount: "0.01", currency: "USD", date: "2026-10-02" }, // 0.00833 -> 0.01
      { name: "C", amount: "0.01", currency: "USD", date: "2026-10-03", is_refund: true }, // 0.008 -> -0.01
      { name: "D", amount: "1", currency: "JPY", date: "2026-10-04" }, // 0.00625 -> 0.01
    );
    const result = await books.ok("summarize_spending", { group_by: ["payee"], from: "2026-10-01", to: "2026-10-06" });
    assertEquals(result.rows.map(({ group, amount }: Json) => [...group, amount]), [["A", "10.00"], ["B", "0.01"], [
      "D",
      "0.01",
    ], ["C", "-0.01"]]);
    assertEquals(result.total, { amount: "10.01", currency: "EUR", count: 4 });
    assertEquals([result.fx.sources, result.fx.as_of], [["ecb"], "2026-10-02"]);
    // Converted through the euro: 11.00 USD / 1.1 * 90.
    assertEquals(
      (await books.ok("summarize_spending", {
        in_currency: "INR",
        currency: "USD",
        from: "2026-10-01",
        to: "2026-10-01",
      })).total.amount,
      "900.00",
    );
    const yen = await books.ok("summarize_spending", { in_currency: "JPY", from: "2026-10-01", to: "2026-10-06" });
    assertEquals(yen.total.amount, "1");
    assertEquals(yen.unconverted, [{ currency: "USD", amount: "11.00", count: 1 }]);
  },

  "never treats an amount without a rate as if it were in another currency": async (books, database) => {
    await addRate(database, "GBP", "2026-09-24", "1.1");
    await settleDay(database, "2026-10-01");
    await log(
      books,
      { name: "A", amount: "11", currency: "GBP", date: "2026-10-01" },
      { name: "B", amount: "12", currency: "GBP", date: "2026-10-02" },
      {
        name: "C",
        amount: "5",
      },
      { name: "D", amount: "2", currency: "THB", is_refund: true },
      { name: "E", amount: "7", currency: "THB" },
    );
    const { data, warnings } = await books.call("summarize_spending", { group_by: ["payee"] });
    assertEquals(data.rows.map(({ group, amount, count }: Json) => [...group, amount, count]), [["A", "10.00", 1], [
      "C",
      "5.00",
      1,
    ]]);
    assertEquals(data.total, { amount: "15.00", currency: "EUR", count: 2 });
    assertEquals(data.unconverted, [{ currency: "GBP", amount: "12.00", count: 1 }, {
      currency: "THB",
      amount: "5.00",
      count: 2,
    }]);
    assertEquals(warnings.map(({ code }: Json) => code), ["rate_missing"]);
    const later = await books.call("summarize_spending", {
      from: "2026-10-06",
      to: "2026-10-09",
      compare: "previous_period",
      currency: "GBP",
    });
    assertEquals([later.data.unconverted, later.warnings.map(({ code }: Json) => code)], [[], [
      "period_running",
      "rate_missing",
    ]]);
    // The list shows the same value for each row.
    const list = await books.ok("list_expenses", { order: "asc" });
    assertEquals(list.rows.map(({ name, base_amount }: Json) => [name, base_amount]), [
      ["A", "10.00"],
      ["B", undefined],
      ["C", "5.00"],
      ["D", undefined],
      ["E", undefined],
    ]);
  },

  "adds upcoming bills": async (books) => {
    await books.ok("add_bill", {
      name: "Rent",
      amount: "1200",
      first_due: "2026-09-15",
      category: "Housing",
      tags: ["home"],
    });
    await books.ok("add_bill", { name: "Power", amount_mode: "variable", first_due: "2026-10-20" });
    await log(books, { name: "Sofa", amount: "300", category: "Housing" });
    const { data, warnings } = await books.call("summarize_spending", { include_upcoming: true });
    assertEquals(data.rows, [{
      group: ["Housing"],
      amount: "1500.00",
      share_percent: 100,
      count: 2,
      spent: "300.00",
      upcoming: "1200.00",
    }]);
    assertEquals(data.total, {
      amount: "1500.00",
      currency: "EUR",
      count: 2,
      spent: "300.00",
      upcoming: "1200.00",
    });
    assertEquals(warnings.map(({ code, message }: Json) => [code, message]), [[
      "amount_missing",
      "The amounts of Power, which are still upcoming, are not known yet.",
    ]]);
    assertEquals(
      (await books.ok("summarize_spending", { include_upcoming: true, kind: "one_off" })).total.amount,
      "300.00",
    );
    assertEquals(
      (await books.ok("summarize_spending", {
        include_upcoming: true,
        tags: ["home"],
        max_amount: "1200",
        query: "rent",
      })).total.amount,
      "1200.00",
    );
    assertEquals(
      (await books.ok("summarize_spending", { include_upcoming: true, min_amount: "1200.01" })).total.amount,
      "0.00",
    );
  },

  "averages the complete months, weeks or days since the first payment, if there are two": async (books) => {
    await log(
      books,
      { name: "Old", amount: "100", date: "2026-07-07" },
      { name: "Week", amount: "30", date: "2026-09-08" },
      { name: "New", amount: "1070", date: "2026-10-02" },
    );
    const average = async (question: Json) => (await books.ok("summarize_spending", question)).total.average;
    // October is not over, and Old began in July.
    const months = { per: "month", amount: "43.33", of: 3, since: "2026-07-01" };
    for (const group_by of [["month"], ["category", "month"], ["borne_by", "month"], ["month", "borne_by"]]) {
      assertEquals(await average({ period: "last_12_months", group_by }), months, `${group_by}`);
    }
    assertEquals((await average({ query: "Week", period: "last_12_months", group_by: ["month"] })).amount, "10.00");
    assertEquals(await average({ from: "2026-07-02", to: "2026-09-30", group_by: ["month"] }), {
      ...months,
      amount: "15.00",
      of: 2,
      since: "2026-08-01",
    });
    assertEquals(await average({ from: "2026-09-07", to: "2026-10-05", group_by: ["week"] }), {
      per: "week",
      amount: "275.00",
      of: 4,
      since: "2026-09-07",
    });
    assertEquals((await average({ period: "last_30_days", group_by: ["day"] })).of, 30);
    for (const question of [{ period: "this_month" }, { period: "last_month" }, { query: "Nothing" }]) {
      assertEquals(await average({ ...question, group_by: ["month"] }), undefined);
    }
  },

  "refuses invalid arguments": async (books) => {
    const cases: [string, string, Json][] = [
      ["invalid_argument", "period", { period: "this_month", from: "today" }],
      ["date_out_of_range", "from", { from: "2010-01-01" }],
      ["currency_unknown", "in_currency", { in_currency: "XXX" }],
      ["category_not_found", "categories", { categories: ["Fod"] }],
    ];
    for (const [code, field, question] of cases) {
      assertEquals((await books.fails(code, "summarize_spending", question)).field, field);
    }
  },

  "refuses more than 1000 rows": async (books, database) => {
    await database.query(
      `with e as (
         insert into app.expenses (id, organization_id, kind, name)
         select app.new_id('exp'), $1, 'one_off', 'N' from generate_series(1, 1001) returning id
       )
       insert into app.payments (organization_id, expense_id, amount_minor, currency, paid_on)
       select $1, e.id, 100, 'EUR', '2020-01-01'::date + row_number() over ()::int from e`,
      [books.organizationId],
    );
    const question = { from: "2020-01-01", group_by: ["day"] };
    assertEquals((await books.fails("invalid_argument", "summarize_spending", question)).field, "group_by");
    assertEquals((await rows(books, { ...question, group_by: ["week"] })).length, 144);
  },
});
