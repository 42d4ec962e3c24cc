/** forecast: balances, bills and usual spending until a day, checked by hand. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import { addRate, type Books, type Json } from "../_support/books.ts";
import { importOfFile } from "../_support/import_args.ts";

const TODAY = "2026-11-20";
const say = (books: Books, name: string, amount: string, more: Json = {}) =>
  books.ok("log_expenses", { items: [{ name, amount, kind: "balance", ...more }] });
const point = ({ on, low, likely, high }: Json) => [on, low, likely, high];
const codesOf = async (books: Books, args: Json = {}) =>
  (await books.facts("forecast", args)).data.left_out.map(({ code }: Json) => code);
const commit = async (books: Books, account: string, file: string): Promise<Json> => {
  const { preview } = await books.ok(
    "import_expenses",
    importOfFile(file, { account, mapping: { negative_is_expense: true } }),
  );
  return await books.call("import_expenses", preview.commit_with);
};

testBooks("forecast", { day: TODAY }, {
  "starts from the balance and subtracts open, overdue and future bills": async (books) => {
    await say(books, "Giro", "1500");
    await books.ok("add_bill", { name: "Rent", amount: "800", first_due: "2026-12-01" });
    await books.ok("add_bill", { name: "Phone", amount: "20.50", first_due: "2026-11-23", frequency: "weekly" });
    const { total, accounts, days, left_out, assumptions } = await books.ok("forecast", { until: "2026-12-06" });
    // Phone on 23 and 30 November, rent on 1 December.
    assertEquals(point(total.end), ["2026-12-06", "659.00", "659.00", "659.00"]);
    assertEquals(point(accounts[0].end), point(total.end));
    assertEquals(accounts[0].known, { amount: "1500.00", on: TODAY, source: "person" });
    assertEquals(
      total.text,
      "Likely 659.00 EUR on 2026-12-06 (between 659.00 and 659.00); the lowest is likely 659.00 EUR on 2026-12-01 (between 659.00 and 1479.50).",
    );
    assertEquals(days.map((day: Json) => [day.on, day.likely, ...(day.changes ?? [])]), [
      ["2026-11-20", "1500.00"],
      ["2026-11-22", "1500.00"],
      ["2026-11-23", "1479.50", "Phone -20.50 EUR"],
      ["2026-11-29", "1479.50"],
      ["2026-11-30", "1459.00", "Phone -20.50 EUR"],
      ["2026-12-01", "659.00", "Rent -800.00 EUR"],
      ["2026-12-06", "659.00"],
    ]);
    assertEquals(assumptions, []);
    assertMatch(left_out.join(" "), /Spending other than bills/);
  },
  "an overdue bill counts today, a paid one not again, and one without an amount is named": async (books) => {
    books.goTo("2026-11-01");
    await books.ok("add_bill", { name: "Rent", amount: "800", first_due: "2026-11-10" });
    await books.ok("add_bill", { name: "Gym", amount: "30", first_due: "2026-11-12" });
    await books.ok("add_bill", { name: "Water", amount_mode: "variable", first_due: "2026-11-25" });
    books.goTo(TODAY);
    await say(books, "Giro", "1000", { date: "2026-11-15" });
    // Paid after the day of the balance, so it has left the account.
    await books.ok("mark_bill_paid", { bill_name: "Gym", paid_on: "2026-11-18" });
    const { total, left_out } = await books.ok("forecast", { until: "2026-11-30" });
    assertEquals(point(total.end), ["2026-11-30", "170.00", "170.00", "170.00"]);
    assertMatch(left_out.join(" "), /Bills without a known amount: Water\./);
    await say(books, "Giro", "970", { date: "2026-11-18" });
    assertEquals((await books.ok("forecast", { until: "2026-11-30" })).total.end.likely, "170.00");
  },
  "a planned spend is shown beside the forecast, and moves the default end": async (books) => {
    await say(books, "Giro", "1500");
    await books.ok("add_bill", { name: "Rent", amount: "800", first_due: "2026-12-01", ends_after: 1 });
    const { until, total } = await books.ok("forecast", { spend: "900", on: "2027-03-01" });
    assertEquals(until, "2027-03-31");
    assertEquals(total.end.likely, "700.00");
    assertEquals(total.after_spending.end.likely, "-200.00");
    assertEquals(point(total.after_spending.lowest), ["2027-03-01", "-200.00", "-200.00", "-200.00"]);
    assertMatch(total.text, /With 900\.00 EUR spent on 2027-03-01: likely -200\.00 EUR on 2027-03-31/);
    assertEquals(
      (await books.ok("forecast", { account: "giro", spend: "1", on: "today" })).accounts[0].after_spending,
      {
        amount: "1.00",
        on: TODAY,
        lowest: { on: "2026-12-01", low: "699.00", likely: "699.00", high: "1499.00" },
        end: { on: "2026-12-31", low: "699.00", likely: "699.00", high: "699.00" },
      },
    );
  },
  "days out of range, unknown accounts and missing or old balances are refused": async (books) => {
    await books.fails("not_found", "forecast");
    await say(books, "Giro", "1500", { date: "2026-10-01" });
    const { message } = await books.fails("not_found", "forecast");
    assertMatch(message, /The last one, 1500\.00 EUR on 2026-10-01, is older than 45 days/);
    await say(books, "Savings", "200", { date: "2026-10-06" });
    const { left_out, total } = await books.ok("forecast");
    assertEquals(total.lowest.likely, "200.00");
    assertMatch(left_out.join(" "), /Giro: its last balance, 1500\.00 EUR on 2026-10-01, is older than 45 days/);
    await books.fails("not_found", "forecast", { account: "Giro" });
    await books.fails("not_found", "forecast", { account: "Visa" });
    for (
      const args of [{ until: TODAY }, { until: "2027-11-22" }, { until: "2026-11-30", spend: "1", on: "2026-12-01" }]
    ) {
      await books.fails("date_out_of_range", "forecast", args);
    }
    await books.fails("date_out_of_range", "forecast", { spend: "1", on: "2026-11-19" });
    assertEquals((await books.ok("forecast", { until: "2027-11-21" })).total.end.likely, "200.00");
  },
  "balances in several currencies, cards and savings add up; those without a rate are omitted": async (
    books,
    database,
  ) => {
    await addRate(database, "USD", TODAY, "1.25");
    await say(books, "Giro", "1000");
    await say(books, "Visa", "250", { kind: "overdraft" });
    await say(books, "Broker", "500", { currency: "USD" });
    await say(books, "Abroad", "70000", { currency: "AMD" });
    await books.ok("add_bill", { name: "Hosting", amount: "25", currency: "USD", first_due: "2026-11-25" });
    const { total, accounts, left_out } = await books.ok("forecast", { until: "2026-11-30" });
    // 1000 - 250 + 500 / 1.25 - 25 / 1.25
    assertEquals(total.end.likely, "1130.00");
    assertEquals(accounts.map(({ account, end, currency }: Json) => [account, end.likely, currency]), [
      ["Abroad", "70000.00", "AMD"],
      ["Broker", "500.00", "USD"],
      ["Giro", "1000.00", "EUR"],
      ["Visa", "-250.00", "EUR"],
    ]);
    assertMatch(left_out.join(" "), /Amounts in AMD are not in the total: no exchange rate is known/);
    assertMatch(left_out.join(" "), /In the total only, because their account is not known: Hosting\./);
  },
  "usual spending continues at the mean of past weeks, and its range grows with their variation": async (books) => {
    let balance = 1560;
    const days = ["2026-09-28", "2026-10-05", "2026-10-12", "2026-10-19", "2026-10-26", "2026-11-02", "2026-11-09"];
    const rows = [...days, "2026-11-16"].map((date, n) =>
      `${date},Market,-${n % 2 ? 80 : 60}.00,${balance -= n % 2 ? 80 : 60}.00`
    );
    await commit(books, "Giro", ["Date,Name,Amount,Balance", ...rows].join("\n"));
    const { accounts: [giro], total, assumptions } = await books.ok("forecast", { until: "2026-11-30" });
    assertEquals(giro.known, { amount: "1000.00", on: "2026-11-16", source: "statement" });
    // The last month of 30.4375 days has 360.00, so fourteen days have 165.59. Its four quarters have 140, 80, 60 and
    // 80, a variance of 1200: give or take 1.645 * (1 + 2/4) * sqrt(1200 * (2 + 2 * 2 / 4)) = 148.05.
    assertEquals(point(total.end), ["2026-11-30", "686.36", "834.41", "982.46"]);
    assertEquals(point(giro.end), point(total.end));
    assertEquals(assumptions.map(({ amount, give_or_take, weeks }: Json) => [amount, give_or_take, weeks]), [
      ["-165.59", "148.05", 4],
    ]);
    const [ofGiro] = (await books.ok("forecast", { until: "2026-11-30", account: "Giro" })).assumptions;
    assertMatch(ofGiro.text, /^Usual spending and transfers from Giro after 2026-11-16 /);
    // Charges from before the bill was added count as its dates from now on.
    await books.ok("add_bill", { name: "Market", amount: "70", frequency: "weekly", first_due: "2026-11-23" });
    assertEquals((await books.ok("forecast", { until: "2026-11-30" })).total.end.likely, "860.00");
  },
  "a transfer between known accounts changes both and no total": async (books, database) => {
    const rows = (sign: string, first: number, step: number) =>
      ["2026-10-12", "2026-10-19", "2026-10-26", "2026-11-02", "2026-11-09", "2026-11-16"].map((date, n) =>
        `${date},Transfer between own accounts,${sign}70.00,${first + step * n}.00`
      );
    const header = "Date,Name,Amount,Balance";
    // A purchase before the whole weeks, because a file of transfers alone imports nothing.
    const bought = (name: string, balance: number) => `2026-10-11,${name},-2.00,${balance}.00`;
    await commit(books, "Giro", [header, bought("Tea", 1420), ...rows("-", 1350, -70)].join("\n"));
    await commit(books, "Savings", [header, bought("Stamps", 80), ...rows("", 150, 70)].join("\n"));
    // A transfer may count as income until the other account's file arrives.
    for (const kind of ["own_transfer", "income"]) {
      await database.query("update app.statement_lines set kind = $1 where direction = 'refund'", [kind]);
      const { accounts, total } = await books.ok("forecast", { until: "2026-11-30" });
      assertEquals(accounts.map(({ account, end }: Json) => [account, end.likely]), [
        ["Giro", "839.01"],
        ["Savings", "660.99"],
      ]);
      assertEquals(point(total.end), ["2026-11-30", "1500.00", "1500.00", "1500.00"]);
    }
  },
  "an emptied account continues in the account that got its money, and a bill belongs to the account of its charges":
    async (
      books,
    ) => {
      const header = "Date,Name,Amount,Balance";
      const rents = ["2026-09-02", "2026-10-02"].map((date, n) => `${date},Rent Meyer,-600.00,${2400 - 600 * n}.00`);
      await commit(
        books,
        "Old bank",
        [header, ...rents, "2026-10-30,Market,-60.00,1740.00", "2026-11-02,Transfer between own accounts,-1740.00,0.00"]
          .join(
            "\n",
          ),
      );
      await commit(
        books,
        "New bank",
        [header, "2026-11-02,Transfer between own accounts,1740.00,1740.00", "2026-11-10,Tea,-2.00,1738.00"].join("\n"),
      );
      await say(books, "Savings", "500");
      await books.ok("add_bill", { name: "Rent Meyer", amount: "600", first_due: "2026-12-01" });
      const { accounts, left_out } = await books.ok("forecast", { until: "2026-12-05" });
      const [fresh, old, savings] = accounts.map(({ end }: Json) => Number(end.likely));
      assertEquals([old, savings], [0, 500]);
      assert(fresh < 1738 - 600 - 10 && fresh > 1738 - 600 - 40, `${fresh}`);
      assertEquals(left_out.filter((text: string) => /total only/.test(text)), []);
    },
  "usual spending is the same when a person states a later balance": async (books) => {
    const days = ["2026-09-07", "2026-09-14", "2026-09-21", "2026-09-28", "2026-10-05", "2026-10-12", "2026-10-19"];
    const rows = [...days, "2026-10-26"].map((date) => `${date},Market,-70.00`);
    await commit(books, "Giro", ["Date,Name,Amount", ...rows].join("\n"));
    await say(books, "Giro", "1000");
    // Five times 70.00 in the last month, for ten days.
    assertEquals((await books.ok("forecast", { until: "2026-11-30" })).total.end.likely, "885.01");
  },
  "recorded spending counts after a balance, with little history and after a break": async (books) => {
    await say(books, "Giro", "1000", { date: "2026-11-18" });
    const { results: [{ id }] } = await books.ok("log_expenses", {
      items: [{ name: "Sofa", amount: "400", date: "2026-11-19" }],
    });
    const until = { until: "2026-11-30" };
    assertEquals((await books.ok("forecast", until)).total.end.likely, "600.00");
    // Four weeks of history whose last weeks have no payment.
    await books.ok("log_expenses", { items: [{ name: "Tea", amount: "2", date: "2026-10-20" }] });
    await books.ok("delete_records", { ids: [id] });
    assertEquals((await books.ok("forecast", until)).total.end.likely, "1000.00");
  },
  "a bill in a currency without a rate is named": async (books) => {
    await say(books, "Giro", "1000");
    await books.ok("add_bill", { name: "Hosting", amount: "25", currency: "AMD", first_due: "2026-11-25" });
    const { total, left_out } = await books.ok("forecast", { until: "2026-11-30" });
    assertEquals(total.end.likely, "1000.00");
    assertMatch(left_out.join(" "), /Amounts in AMD are not in the total/);
  },
  "an income is expected once after a raise, despite a reimbursement, and each week": async (books) => {
    await say(books, "Giro", "0");
    books.goTo("2026-08-10");
    const income = (item: Json) => books.ok("log_expenses", { items: [{ kind: "income", ...item }] });
    await income({ name: "Salary, ACME", amount: "3000", date: "2026-08-15", repeats: "monthly" });
    for (const date of ["2026-09-15", "2026-10-15", "2026-11-13"]) {
      books.goTo(date);
      await income({ name: "ACME GMBH", amount: "3400", date });
    }
    books.goTo(TODAY);
    await income({ name: "Salary, ACME", amount: "40", date: TODAY });
    await say(books, "Giro", "0");
    const expected = async (until: string) =>
      (await books.ok("forecast", { until })).days.flatMap(({ changes }: Json) => changes ?? []);
    assertEquals(await expected("2026-12-31"), ["Salary, ACME 3400.00 EUR"]);
    await income({ name: "Cleaning", amount: "300", date: "2026-11-06", repeats: "weekly" });
    await income({ name: "Cleaning", amount: "300", date: "2026-11-16" });
    assertEquals((await expected("2026-12-01")).filter((text: string) => text.startsWith("Cleaning")).length, 2);
  },
  "expected income is added until it arrives, even when it is late": async (books, database) => {
    await say(books, "Giro", "100", { date: "2026-11-18" });
    assertEquals(await codesOf(books), ["spending_unknown", "no_income"]);
    const income = async (day: string, column: string, more = "null, null") =>
      void await database.query(
        `insert into app.incomes (organization_id, name, sort, amount_minor, currency, source, created_by, ${column}, frequency, every)
         values ($1, 'Work', 'salary', 250000, 'EUR', 'assistant', $2, $3, ${more})`,
        [books.organizationId, books.userId, day],
      );
    await income("2026-11-15", "anchor_on", "'monthly', 1");
    const until = { until: "2026-12-31" };
    const { total, days } = await books.ok("forecast", until);
    assertEquals([total.lowest.on, total.lowest.likely, total.end.likely], [TODAY, "2600.00", "5100.00"]);
    assertEquals(total.end.low, "100.00", "five days late, so the December payment is doubtful, too");
    // Income may arrive three days early or late: low counts it late, and high early. Low leaves out overdue income.
    const december = days.filter(({ on }: Json) => on.startsWith("2026-12-1"));
    assertEquals(december.map(point), [
      ["2026-12-13", "100.00", "2600.00", "5100.00"],
      ["2026-12-15", "100.00", "5100.00", "5100.00"],
    ]);
    await income("2026-11-14", "received_on");
    assertEquals((await books.ok("forecast", until)).total.end.likely, "2600.00");
    await income("2026-11-19", "received_on");
    const late = await books.ok("forecast", until);
    assertEquals(late.total.end.likely, "5100.00", "later than the balance");
    assertEquals(point(late.days[0]), [TODAY, "2600.00", "2600.00", "2600.00"]);
  },
  "income that is late, has stopped or comes later is reported with its day and amount": async (books) => {
    const income = (item: Json) => books.ok("log_expenses", { items: [{ kind: "income", amount: "1400", ...item }] });
    const about = async (until: string) =>
      (await books.ok("forecast", { until })).left_out.filter((text: string) => /Salary|Bakery|Income/.test(text));
    await income({ name: "Salary", date: "2026-11-28", repeats: "monthly" });
    await say(books, "Giro", "100");
    const later = 'Income: none is expected in this period. The next is "Salary", 1400.00 EUR, on 2026-11-28.';
    assertEquals(await about("2026-11-27"), [later]);
    assertEquals(await about("2026-11-28"), []);
    books.goTo("2026-11-29");
    const late = '"Salary", 1400.00 EUR, was expected on 2026-11-28 and is not in the books. ';
    assertEquals(await about("2026-12-27"), [
      `${late}It counts as if it came today. Low leaves it out, and its later payments once it is four days late.`,
    ]);
    const { total } = await books.ok("forecast", { until: "2026-12-27" });
    assertEquals([total.lowest.low, total.lowest.likely], ["100.00", "1500.00"]);
    assertEquals((await books.ok("forecast", { until: "2027-01-05" })).total.end.low, "1500.00", "late by a day");
    books.goTo("2026-12-10");
    await say(books, "Giro", "100");
    assertEquals(await about("2026-12-31"), [`${late}It is not counted.`]);
    for (const date of ["2026-09-01", "2026-10-01", "2026-11-01"]) {
      await income({ name: "Bakery", amount: "300", date });
    }
    books.goTo("2026-12-13");
    assertEquals(
      (await about("2026-12-31"))[1],
      '"Bakery", 300.00 EUR, came regularly until 2026-11-01 and then stopped, so none is expected.',
    );
    await income({ name: "Bakery", amount: "320", date: "2026-12-11" });
    assertEquals((await about("2026-12-31")).length, 1);
  },
  "income that a balance may contain is reported, and so is a sum of accounts that differs from the total": async (
    books,
  ) => {
    await say(books, "Giro", "100", { date: "2026-11-16" });
    await say(books, "Cash", "20", { date: "2026-11-19" });
    const bonus = (date: string) =>
      books.ok("log_expenses", { items: [{ name: "Bonus", amount: "500", kind: "income", date }] });
    await bonus("2026-11-18");
    const forecast = () => books.ok("forecast", { until: "2026-12-05" });
    const first = await forecast();
    assertEquals(first.total.end.likely, "120.00");
    assertMatch(
      first.left_out.join(" "),
      /Not counted, because a balance may contain it already: "Bonus", 500\.00 EUR on 2026-11-18\./,
    );
    await bonus("2026-11-20");
    const { total, left_out } = await forecast();
    assertEquals(total.end.likely, "620.00");
    assertMatch(left_out.join(" "), /The accounts add up to 120\.00 EUR at the end, but the total is 620\.00:/);
  },
  "recurring charges without a bill are named, because the forecast spreads them over the days": async (books) => {
    const rows = ["09", "10", "11"].flatMap((month, n) => [
      `2026-${month}-02,Rent Meyer,-600.00,${3000 - 700 * n}.00`,
      `2026-${month}-09,${["Market", "Bookshop", "Tailor"][n]},-100.00,${2900 - 700 * n}.00`,
    ]);
    await commit(books, "Giro", ["Date,Name,Amount,Balance", ...rows].join("\n"));
    const about = async () => (await books.ok("forecast")).left_out.filter((text: string) => /Rent Meyer/.test(text));
    assertEquals(await about(), [
      "Counted evenly over the days and not on their dates, because they have no bill: Rent Meyer (600.00 EUR). " +
      "review_bills proposes bills for them.",
    ]);
    await books.ok("add_bill", { name: "Rent Meyer", amount: "600", first_due: "2026-12-02", frequency: "monthly" });
    assertEquals(await about(), []);
  },
  "hidden records do not affect the forecast of people who can't see them": async (books) => {
    const member = await books.join();
    await books.ok("update_settings", { category: { action: "make_private", name: "Health" } });
    await say(member, "Giro", "1000", { date: "2026-11-18" });
    await say(books, "Savings", "5000");
    const seen = async () => JSON.stringify(await member.call("forecast", { until: "2026-12-31" }));
    const before = await seen();
    assertMatch(before, /does not see all payments/);
    assertEquals(/Savings|5000/.test(before), false);
    await books.ok("add_bill", { name: "Therapy", amount: "90", first_due: "2026-11-25", category: "Health" });
    await books.ok("log_expenses", {
      items: [{ name: "Doctor", amount: "60", category: "Health", date: "2026-11-19" }],
    });
    const owner = await books.ok("forecast", { until: "2026-12-31" });
    assertEquals(owner.total.end.likely, "5820.00");
    assertEquals(await seen(), before);
    const viewer = await books.join("viewer");
    const { hint } = await viewer.fails("not_found", "forecast");
    assertMatch(hint, /others in the organization may see more/);
  },
});
