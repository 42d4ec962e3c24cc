/**
 * Values in the base currency, through the connector and the daily job: a subscription in dollars with two values, a
 * statement in dirhams without any, and bank charges.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import {
  asDatabase,
  centralBanksJson,
  createJob,
  ecbXml,
  frankfurterJson,
  mailService,
  withRates,
} from "../functions/cron-reminders/harness.ts";
import { type Json, newMember } from "./connector_harness.ts";

const database = await sharedDatabase();

/** A person in Berlin on Tuesday, 6 October 2026, at 11:00. */
const newPerson = async () => (await newMember(database, { organization: "Acme" })).ok;

/** The daily job, at 10:00 in Berlin. The dollar rises on the 6th. */
async function runJob(day: string) {
  const rates = (of: string) => ({ USD: of >= "2026-10-06" ? "1.2" : "1.25" });
  const published = day > "2026-10-06" ? "2026-10-06" : "2026-10-05";
  const dayOf = (url: string) => /\d{4}-\d{2}-\d{2}/.exec(url)![0];
  const { run } = createJob({
    database: asDatabase(database),
    fetch: withRates(mailService().fetch, {
      ecb: () => new Response(ecbXml(published, { rates: rates(published) })),
      past: (url) =>
        new Response(
          url.includes("/v2/")
            ? centralBanksJson(dayOf(url), { ...rates(dayOf(url)), AED: "4" })
            : frankfurterJson(dayOf(url), rates(dayOf(url))),
        ),
    }),
    now: () => new Date(`${day}T08:00:00Z`),
    workMs: 20_000,
  });
  assertEquals((await run()).ok, true);
}

const codes = ({ warnings }: Json) => warnings.map(({ code }: Json) => code);

Deno.test("an expense has the same value everywhere, with the day of its rate", async () => {
  await database.reset();
  const ask = await newPerson();
  await runJob("2026-10-06");
  const { data: { bill } } = await ask("add_bill", {
    name: "Slack",
    amount: "105",
    currency: "USD",
    first_due: "2026-10-06",
  });
  const paid = await ask("mark_bill_paid", { bill_name: "Slack" });
  // Today's rate is not published before the afternoon.
  assertEquals([paid.data.payment.base_amount, codes(paid)], ["84.00", ["rate_pending"]]);
  assertMatch(paid.warnings[0].message, /^Some values in EUR will still change: rates from 2026-10-06 on/);

  const everywhere = async () => {
    const answers = [
      await ask("list_bills", { bill_id: bill.id }),
      await ask("list_expenses"),
      await ask("summarize_spending"),
      await ask("show_spending_chart"),
    ];
    const [bills, expenses, summary, chart] = answers.map(({ data }) => data);
    const [line] = (await ask("list_expenses", { format: "csv" })).data.csv.trim().split("\n").slice(1);
    return {
      values: [
        bills.payments[0].base_amount,
        expenses.rows[0].base_amount,
        summary.total.amount,
        chart.total.amount,
        line.split(",").at(-4),
      ],
      warned: answers.map(codes),
    };
  };
  assertEquals(await everywhere(), {
    values: ["84.00", "84.00", "84.00", "84.00", "84.00"],
    warned: [["rate_pending"], ["rate_pending"], ["rate_pending"], ["rate_pending"]],
  });
  // 105 / 1.2: the rate of the payment's day, from the next morning on and permanently.
  await runJob("2026-10-07");
  const final = { values: ["87.50", "87.50", "87.50", "87.50", "87.50"], warned: [[], [], [], []] };
  assertEquals(await everywhere(), final);
  await runJob("2026-10-08");
  assertEquals(await everywhere(), final);
});

Deno.test("the bank's charge becomes the expense's value", async () => {
  await database.reset();
  const ask = await newPerson();
  await runJob("2026-10-06");
  await ask("add_bill", { name: "Slack", amount: "105", currency: "USD", first_due: "2026-10-06" });
  const paid = await ask("mark_bill_paid", { bill_name: "Slack", charged: { amount: "93.37" } });
  assertEquals([paid.data.payment.base_amount, codes(paid)], ["93.37", []]);
  await runJob("2026-10-07");
  assertEquals((await ask("summarize_spending")).data.total.amount, "93.37");
  assertEquals((await ask("list_expenses")).data.rows[0].base_amount, "93.37");
});

Deno.test("an old statement in dirhams gets its values from the next run", async () => {
  await database.reset();
  const ask = await newPerson();
  const csv =
    "Date,Name,Amount,Currency\n2024-02-29,Hotel,400.00,AED\n2019-06-03,Taxi,40.00,AED\n2024-02-29,Cafe,12.50,USD";
  const { data: { preview } } = await ask("import_expenses", { csv });
  const imported = await ask("import_expenses", {
    import_id: preview.import_id,
    expected_count: 3,
    expected_totals: preview.totals,
  });
  assertEquals(codes(imported), ["rate_missing"]);
  assertMatch(imported.warnings[0].message, /may arrive with the next daily run/);
  const ALL = { from: "2019-01-01", to: "2026-10-06" };
  assertEquals((await ask("summarize_spending", ALL)).data.total.amount, "0.00");
  await runJob("2026-10-06");
  const { data, warnings } = await ask("summarize_spending", ALL);
  assertEquals([data.total.amount, data.unconverted, warnings], ["120.00", [], []]);
  assertEquals([data.fx.sources, data.fx.as_of], [["central_banks", "frankfurter"], "2024-02-29"]);
  assertEquals(
    (await ask("list_expenses", { ...ALL, order: "asc" })).data.rows.map(({ base_amount }: Json) => base_amount),
    ["10.00", "100.00", "10.00"],
  );
});

Deno.test("a new base currency revalues a year, and undo restores every value", async () => {
  await database.reset();
  const ask = await newPerson();
  await ask("log_expenses", {
    items: [
      { name: "Lunch", amount: "8", date: "2026-09-01" },
      { name: "Hotel", amount: "400", currency: "AED", date: "2026-09-02" },
      { name: "Slack", amount: "105", currency: "USD", date: "2026-09-03", charged: { amount: "93.37" } },
    ],
  });
  await runJob("2026-10-06");
  const year = { from: "2026-01-01", to: "2026-10-06" };
  const values = async () =>
    (await ask("list_expenses", { ...year, order: "asc" })).data.rows.map(({ base_amount }: Json) => base_amount);
  const before = await values();
  assertEquals(before, ["8.00", "100.00", "93.37"]);

  const change = await ask("update_settings", { base_currency: "AED" });
  assertEquals(change.data.revalued, { moved: 3, without_rate: 1, pending: 2 });
  assertMatch(change.warnings[0].message, /^3 payments are now valued in AED/);
  // The dirham's rates of the other days are requested as soon as a payment needs them.
  await runJob("2026-10-07");
  assertEquals(await values(), ["32.00", "400.00", "373.48"]);
  assertEquals((await ask("summarize_spending", year)).data.total.amount, "805.48");

  const undone = await ask("undo_change", { change_id: change.change_id });
  assert(undone.change_id);
  assertEquals(await values(), before);
  assertEquals((await ask("summarize_spending", year)).data.total.amount, "201.37");
});
