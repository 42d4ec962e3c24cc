/** Amounts from providers, the database's part: due links, their frequency, and accepted amounts. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import type { Books, Json } from "../_support/books.ts";
import type { TestDatabase } from "../_support/database.ts";

async function connect(
  database: TestDatabase,
  books: Books,
  name = "Power",
  { status = "active", ...schedule }: Record<string, unknown> = {},
): Promise<string> {
  const { bill } = await books.ok("add_bill", { name, amount_mode: "variable", first_due: "2026-11-25", ...schedule });
  await database.query(
    `insert into app.provider_links (organization_id, expense_id, provider_key, provider_name, account_label, status, created_at)
     values ($1, $2, 'utility', 'City Utility', 'Ac…01', $3, '2026-01-01')`,
    [books.organizationId, bill.id, status],
  );
  return bill.id;
}
/** Both calls, with the answer of each pending link's provider. */
async function sync(books: Books, answer: Record<string, unknown>, args: Record<string, unknown> = {}): Promise<Json> {
  const { bills, pending } = (await books.facts("sync_bill_amounts", args)).data;
  const results = (pending ?? []).map(({ link_id, lease_token, period }: Json) => ({
    link_id,
    lease_token,
    period,
    answer,
  }));
  return await books.call("store_bill_amounts", { bills, results });
}
const first = async (books: Books, answer: Record<string, unknown>, args?: Record<string, unknown>): Promise<Json> =>
  (await sync(books, answer, args)).data.bills[0];
const statement = (amount: string, currency = "EUR") => ({ outcome: "statement", amount, currency });
const failed = (code: string, more = {}) => ({ outcome: "failed", code, ...more });
const open = async (books: Books, id: string): Promise<Json> =>
  (await books.ok("list_bills", { bill_id: id })).bills[0];
/** Every stored statement, oldest first. */
const statements = (database: TestDatabase, books: Books) =>
  database.query(
    `select period::text, amount_minor::int as minor, status, reason from app.provider_statements
     where organization_id = $1 order by fetched_at, id`,
    [books.organizationId],
  );

testBooks("sync_bill_amounts", { day: "2026-11-20" }, {
  "neither corrects an estimate nor pays a date in a closed month": async (
    books,
    database,
  ) => {
    const estimated = await connect(database, books, "Power", { autopay: true });
    const october = { occurrence: { due_on: "2026-11-25", action: "set_amount", amount: "80" } };
    await books.ok("update_bill", { bill_id: estimated, ...october });
    await connect(database, books, "Water", { autopay: true, first_due: "2026-12-05" });
    books.goTo("2027-01-01");
    // Power's December is recorded with November's amount; Water's amount is unknown.
    await books.ok("update_settings", { closed_through: "2026-12" });
    const payments = () =>
      database.query(
        "select e.name, p.paid_on, p.amount_minor::int as minor, p.is_estimate from app.payments as p " +
          "join app.expenses as e on e.id = p.expense_id where p.organization_id = $1 order by p.paid_on",
        [books.organizationId],
      );
    const before = await payments();
    assertEquals(before, [
      { name: "Power", paid_on: "2026-11-25", minor: 8000, is_estimate: false },
      { name: "Power", paid_on: "2026-12-25", minor: 8000, is_estimate: true },
    ]);
    const { data: { bills } } = await sync(books, statement("75.00"), { period: "2026-12" });
    assertEquals(bills.map(({ name, status }: Json) => [name, status]), [["Power", "needs_review"], [
      "Water",
      "updated",
    ]]);
    assertEquals(await payments(), before);
    const { overdue } = await books.ok("review_bills");
    assertEquals(overdue.map(({ name, amount }: Json) => [name, amount]), [["Water", "75.00"]]);
    await books.ok("mark_bill_paid", { bill_name: "Water" });
    assertEquals((await payments()).at(-1), { name: "Water", paid_on: "2027-01-01", minor: 7500, is_estimate: false });
  },

  "applies last month's statement, once an hour, and can be undone": async (books, database) => {
    const id = await connect(database, books);
    const { data, change_id } = await sync(books, statement("84.20"));
    assertEquals(data.bills, [{
      bill_id: id,
      name: "Power",
      status: "updated",
      due_on: "2026-11-25",
      new: "84.20",
      currency: "EUR",
      text: "Power due 2026-11-25 is 84.20 EUR.",
    }]);
    assertEquals((await open(books, id)).amount, "84.20");
    assertEquals(await statements(database, books), [
      { period: "2026-10-01", minor: 8420, status: "applied", reason: null },
    ]);
    const again = await books.ok("sync_bill_amounts");
    assertEquals([again.pending, again.bills[0].status], [undefined, "unchanged"]);
    await books.ok("undo_change", { change_id });
    assertEquals((await open(books, id)).amount, undefined);
    books.goTo("2026-11-21");
    assertEquals((await first(books, statement("84.20"), { bill_ids: [id] })).status, "updated");
    books.goTo("2026-11-22");
    assertEquals((await first(books, statement("84.20"))).status, "unchanged");
    assertEquals((await statements(database, books)).length, 1);
  },
  "does not apply an unusual, foreign or paid amount, and reports it in list_bills": async (
    books,
    database,
  ) => {
    const id = await connect(database, books);
    await books.ok("mark_bill_paid", { bill_id: id, amount: "80", due_on: "2026-12-25" });
    const unusual = await first(books, statement("130"));
    assertEquals([unusual.status, unusual.usual, unusual.new], ["needs_review", "80.00", "130.00"]);
    const bill = await open(books, id);
    assertEquals([bill.amount, bill.provider], [undefined, {
      name: "City Utility",
      status: "active",
      needs_review: { due_on: "2026-11-25", amount: "130.00", currency: "EUR", reason: "unusual", usual: "80.00" },
    }]);
    const [finding] = (await books.ok("review_bills")).provider_attention;
    assertEquals([finding.kind, finding.text], [
      "needs_review",
      "City Utility reports 130.00 EUR for Power due 2026-11-25, which is far from the usual 80.00 EUR. It was not applied; if it is right, set the amount of that date with update_bill.",
    ]);
    books.goTo("2026-11-21");
    assertEquals((await first(books, statement("81", "USD"))).reason, undefined);
    assertEquals((await open(books, id)).provider.needs_review.reason, "other_currency");
    books.goTo("2026-11-22");
    assertEquals((await first(books, statement("0"))).status, "needs_review");
    assertEquals((await open(books, id)).provider.needs_review.reason, "nothing_to_pay");
    await books.ok("mark_bill_paid", { bill_id: id, amount: "82", due_on: "2026-11-25" });
    assertEquals((await open(books, id)).provider.needs_review, undefined, "paying answers the question");
    books.goTo("2026-11-23");
    const late = await first(books, statement("83"));
    assertEquals([late.status, late.old, late.new], ["needs_review", "82.00", "83.00"]);
    assertStringIncludes(
      (await books.ok("review_bills")).provider_attention[0].text,
      "which is already paid. The payment stays as it is.",
    );
    assertEquals(
      (await statements(database, books)).map(({ status, reason }) => [status, reason]),
      [["superseded", null], ["superseded", null], ["superseded", null], ["needs_review", "paid"]],
    );
  },
  "the statement corrects an automatic payment's estimate, and can be undone": async (books, database) => {
    const id = await connect(database, books, "Cloud", { autopay: true, amount: "80" });
    const paid = async () => (await books.ok("list_bills", { bill_id: id })).payments;
    books.goTo("2026-11-28");
    const { change_id } = await books.call("update_bill", { bill_id: id, set: { note: "rolls it" } });
    assertEquals([change_id !== undefined, (await open(books, id)).overdue], [true, []]);
    assertEquals((await paid()).map(({ amount, is_estimate }: Json) => [amount, is_estimate]), [["80.00", true]]);
    const synced = await sync(books, statement("71.30"));
    assertEquals([synced.data.bills[0].status, synced.data.bills[0].old], ["updated", "80.00"]);
    const [corrected] = await paid();
    assertEquals([corrected.amount, corrected.paid_on, corrected.is_estimate, corrected.source], [
      "71.30",
      "2026-11-25",
      undefined,
      "autopay",
    ]);
    assertEquals((await books.ok("summarize_spending", { period: "this_month" })).total.amount, "71.30");
    await books.ok("undo_change", { change_id: synced.change_id });
    assertEquals((await paid()).map(({ amount, is_estimate }: Json) => [amount, is_estimate]), [["80.00", true]]);
  },
  "a jump waits for a person, and the estimate stays": async (books, database) => {
    const id = await connect(database, books, "Cloud", { autopay: true, amount: "80" });
    books.goTo("2026-11-28");
    await books.ok("update_bill", { bill_id: id, set: { note: "rolls it" } });
    await books.ok("mark_bill_paid", { bill_id: id, amount: "80", due_on: "2026-12-25" });
    assertEquals((await first(books, statement("300"))).status, "needs_review");
    assertEquals((await books.ok("list_bills", { bill_id: id })).payments[1].amount, "80.00");
  },
  "a payment without an amount is recorded with the statement": async (books, database) => {
    const id = await connect(database, books, "Cloud", { autopay: true });
    books.goTo("2026-11-28");
    await books.ok("update_bill", { bill_id: id, set: { note: "rolls it" } });
    assertEquals([(await open(books, id)).overdue, (await books.ok("list_bills", { bill_id: id })).payments], [[], []]);
    await first(books, statement("71.30"));
    const { bills, payments } = await books.ok("list_bills", { bill_id: id });
    assertEquals([bills[0].overdue, payments[0].amount, payments[0].paid_on], [[], "71.30", "2026-11-25"]);
  },
  "returns only the waiting time within the hour": async (books, database) => {
    await connect(database, books);
    await sync(books, statement("84.20"));
    assertEquals(Object.keys(await books.ok("sync_bill_amounts")), ["bills"]);
  },
  "fetches a year at once, latest first, or one named month": async (books, database) => {
    books.goTo("2025-10-20");
    const id = await connect(database, books, "Cloud", { autopay: true, first_due: "2025-10-25" });
    await connect(database, books, "Other");
    books.goTo("2026-11-20");
    await database.query("select app.refresh_bill($1, '2026-11-20')", [id]);
    const named = (await books.ok("sync_bill_amounts", { bill_ids: [id], period: "2026-10" })).pending;
    assertEquals(named.map(({ period }: Json) => period), ["2026-09-01"]);
    await database.query("update app.provider_links set leased_until = null");
    const { data } = await sync(books, statement("71.30"));
    assertEquals(
      data.bills.map(({ name, due_on }: Json) => `${name} ${due_on}`),
      [
        "Cloud 2026-11-25",
        "Other 2026-11-25",
        ...["2026-10", "2026-09", "2026-08", "2026-07", "2026-06", "2026-05", "2026-04", "2026-03", "2026-02"],
        "2026-01",
        "2025-12",
      ].map((text) => text.length === 7 ? `Cloud ${text}-25` : text),
    );
    assertEquals(Object.keys(data), ["bills"]);
    assertEquals((await books.ok("list_bills", { bill_id: id })).payments.length, 11);
    books.goTo("2026-11-21");
    assertEquals((await books.ok("sync_bill_amounts")).pending.length, 2, "then there is the last month only");
  },
  "unfetched months stay open, and only the last answer ends the lease": async (books, database) => {
    books.goTo("2026-08-20");
    const id = await connect(database, books, "Cloud", { first_due: "2026-08-25" });
    books.goTo("2026-11-20");
    await database.query("select app.refresh_bill($1, '2026-11-20')", [id]);
    const { pending } = await books.ok("sync_bill_amounts");
    const results = pending.slice(0, 2).map(({ link_id, lease_token, period }: Json) => ({
      link_id,
      lease_token,
      period,
      answer: statement("71.30"),
    }));
    const { bills } = await books.ok("store_bill_amounts", { bills: [], results });
    assertEquals(bills.map(({ status }: Json) => status), ["updated", "updated"]);
    assertEquals(
      await database.query("select backlog::text, lease_token from app.provider_links where expense_id = $1", [id]),
      [
        { backlog: "{2026-08-01,2026-07-01}", lease_token: null },
      ],
    );
  },
  "a person's decision on an amount that was not applied ends the question": async (books, database) => {
    const id = await connect(database, books);
    await books.ok("mark_bill_paid", { bill_id: id, amount: "80", due_on: "2026-12-25" });
    await first(books, statement("130"));
    const set = { bill_id: id, occurrence: { action: "set_amount", due_on: "2026-11-25", amount: "100" } };
    await books.ok("update_bill", set);
    assertEquals((await open(books, id)).provider, { name: "City Utility", status: "active" });
    assertEquals((await books.ok("review_bills")).counts.provider_attention, 0);
    // A repeated statement changes nothing; a corrected one does.
    books.goTo("2026-11-21");
    assertEquals((await first(books, statement("130"))).status, "needs_review");
    assertEquals((await open(books, id)).amount, "100.00");
    books.goTo("2026-11-22");
    assertEquals((await first(books, statement("90"))).status, "updated");
    await books.ok("update_bill", set);
    books.goTo("2026-11-23");
    const same = await first(books, statement("90"));
    assertEquals([same.status, same.text], ["unchanged", "The amount of Power was set by hand and stays as it is."]);
  },
  "a question stays open regardless of later statements": async (books, database) => {
    const id = await connect(database, books);
    await first(books, statement("84.20", "USD"));
    books.goTo("2026-12-02");
    assertEquals((await first(books, statement("85"))).due_on, "2026-12-25");
    const question = (await open(books, id)).provider.needs_review;
    assertEquals([question.due_on, question.reason], ["2026-11-25", "other_currency"]);
    await books.ok("mark_bill_paid", { bill_id: id, amount: "80", due_on: "2026-11-25" });
    assertEquals((await open(books, id)).provider.needs_review, undefined);
  },
  "an outdated question names its current reason": async (books, database) => {
    const id = await connect(database, books);
    const date = { due_on: "2026-11-25" };
    const change = (occurrence: Json) =>
      books.ok("update_bill", { bill_id: id, occurrence: { ...date, ...occurrence } });
    await change({ action: "skip" });
    await first(books, statement("84.20"));
    assertEquals((await open(books, id)).provider.needs_review.reason, "skipped");
    // Follows the question's suggestion.
    books.goTo("2026-11-21");
    await change({ action: "reopen" });
    assertEquals((await open(books, id)).provider.needs_review, { ...date, amount: "84.20", currency: "EUR" });
    assertEquals(
      (await books.ok("review_bills")).provider_attention[0].text,
      'City Utility reports 84.20 EUR for Power due 2026-11-25, which could not be applied at the time. sync_bill_amounts with period "2026-11" applies it now.',
    );
    assertEquals((await first(books, statement("84.20"), { period: "2026-11" })).status, "updated");
    assertEquals((await open(books, id)).provider.needs_review, undefined);
    // Corrected after the zero payment.
    const { change_id } = await books.call("mark_bill_paid", { bill_id: id, advance: true });
    books.goTo("2026-11-22");
    await first(books, statement("200"));
    assertEquals((await open(books, id)).provider.needs_review.reason, "paid");
    await books.ok("undo_change", { change_id });
    assertEquals((await open(books, id)).provider.needs_review.reason, undefined);
    // Its currency now matches the bill's.
    books.goTo("2026-11-23");
    await first(books, statement("85", "USD"));
    assertEquals((await open(books, id)).provider.needs_review.reason, "other_currency");
    await books.ok("update_bill", { bill_id: id, set: { currency: "USD" } });
    assertEquals((await open(books, id)).provider.needs_review.reason, undefined);
    books.goTo("2026-11-24");
    assertEquals((await first(books, statement("85", "USD"))).status, "updated");
    assertEquals((await open(books, id)).provider.needs_review, undefined);
  },
  "a corrected statement replaces the first while the date is open, and can be reverted": async (books, database) => {
    const id = await connect(database, books);
    for (const [day, amount, was] of [["21", "84", undefined], ["22", "90.5", "84.00"], ["23", "84", "90.50"]]) {
      books.goTo(`2026-11-${day}`);
      const { status, old } = await first(books, statement(amount!));
      assertEquals([status, old], ["updated", was]);
    }
    assertEquals((await open(books, id)).amount, "84.00");
    assertEquals(
      (await statements(database, books)).map(({ minor, status }) => [minor, status]),
      [[9050, "superseded"], [8400, "applied"]],
    );
  },
  "a statement that confirms the paid amount needs no review": async (books, database) => {
    const id = await connect(database, books);
    await books.ok("mark_bill_paid", { advance: true, bill_id: id, amount: "84.20" });
    assertEquals((await first(books, statement("84.20"))).status, "unchanged");
    assertEquals((await statements(database, books))[0]!.status, "applied");
    assertEquals((await open(books, id)).provider, { name: "City Utility", status: "active" });
  },
  "an amount for a month without a due date is stored without a question": async (books, database) => {
    const id = await connect(database, books);
    const answer = await first(books, statement("84.20"), { bill_ids: [id], period: "2026-08" });
    assertEquals([answer.status, answer.text], ["unchanged", "Power is not due in 2026-08."]);
    assertEquals(await statements(database, books), [
      { period: "2026-07-01", minor: 8420, status: "ignored", reason: "not_due" },
    ]);
    assertEquals((await books.ok("review_bills")).provider_attention[0].kind, "amount_missing");
  },
  "a date that a weekend moves into the next month keeps its own statement": async (books, database) => {
    books.goTo("2026-10-20");
    // The 31st is a Saturday.
    await connect(database, books, "Power", { first_due: "2026-10-31", month_days: [-1], weekend_rule: "after" });
    const { due_on, status } = await first(books, statement("84.20"));
    assertEquals([status, due_on], ["updated", "2026-11-02"]);
    // The current date is still October's.
    books.goTo("2026-11-02");
    assertEquals((await first(books, statement("90"))).due_on, "2026-11-30");
    assertEquals((await books.ok("list_bills")).bills[0].next_due, "2026-11-02");
    books.goTo("2026-11-20");
    const again = await first(books, statement("95"), { period: "2026-11" });
    assertEquals([again.status, again.due_on, again.old], ["updated", "2026-11-30", "90.00"]);
  },
  "reports errors, immediately when the owner must reconnect": async (books, database) => {
    const id = await connect(database, books);
    const tries: [string, Record<string, unknown>, string, string][] = [
      [
        "21",
        failed("no_adapter"),
        "failed",
        "Amounts cannot be fetched from City Utility; enter the amount of Power by hand.",
      ],
      ["22", failed("not_ready"), "not_ready", "City Utility has no statement for 2026-10 yet."],
      [
        "23",
        failed("timeout"),
        "failed",
        "The amount of Power could not be fetched from City Utility. Try again in an hour.",
      ],
      [
        "24",
        statement("12,50"),
        "failed",
        "The amount of Power could not be fetched from City Utility. Try again in an hour.",
      ],
      [
        "25",
        statement("-3"),
        "failed",
        "The amount of Power could not be fetched from City Utility. Try again in an hour.",
      ],
      [
        "26",
        statement("3.123"),
        "failed",
        "The amount of Power could not be fetched from City Utility. Try again in an hour.",
      ],
      [
        "27",
        statement("3", "XXX"),
        "failed",
        "The amount of Power could not be fetched from City Utility. Try again in an hour.",
      ],
      [
        "28",
        failed("auth"),
        "needs_reauth",
        "The owner has to reconnect Power to City Utility: update_bill with provider connect gives the link.",
      ],
    ];
    for (const [day, said, status, text] of tries) {
      books.goTo(`2026-11-${day}`);
      const answer = await first(books, said);
      assertEquals([answer.status, answer.text], [status, text]);
    }
    books.goTo("2026-11-29");
    const { bills, pending } = await books.ok("sync_bill_amounts", { bill_ids: [id] });
    assertEquals([bills[0].status, pending], ["needs_reauth", undefined]);
    assertEquals((await open(books, id)).provider, { name: "City Utility", status: "needs_reauth" });
    assertEquals(await statements(database, books), []);
    const events = await database.query<Json>(
      "select event from identity.audit_events where organization_id = $1 and event = 'provider.refused'",
      [books.organizationId],
    );
    assertEquals(events.length, 1);
  },
  "a pause that the provider requests is respected": async (books, database) => {
    await connect(database, books);
    assertEquals((await first(books, failed("rate_limited", { retry_after: 40_000 }))).status, "failed");
    await database.query("update app.provider_links set asked_at = asked_at - interval '2 hours'");
    const { bills, pending } = await books.ok("sync_bill_amounts");
    assertEquals([bills[0].text, pending], ["City Utility asked us to wait. Try again later.", undefined]);
    books.goTo("2026-11-21");
    assertEquals((await first(books, statement("84"))).status, "updated");
  },
  "an answer under another lease, or for a connection that has ended, is not stored": async (
    books,
    database,
  ) => {
    const id = await connect(database, books);
    const { pending: [link] } = await books.ok("sync_bill_amounts");
    const result = {
      link_id: link.link_id,
      lease_token: crypto.randomUUID(),
      period: link.period,
      answer: statement("84"),
    };
    const store = async (more = {}) =>
      (await books.ok("store_bill_amounts", { bills: [], results: [{ ...result, ...more }] })).bills[0].status;
    assertEquals(await store(), "failed");
    await database.query("update app.provider_links set status = 'paused' where expense_id = $1", [id]);
    assertEquals(await store({ lease_token: link.lease_token }), "failed");
    assertEquals([await statements(database, books), (await open(books, id)).amount], [[], undefined]);
  },
  "a second call that fails costs a minute and a half, not an hour": async (books, database) => {
    const id = await connect(database, books);
    const { pending: [link] } = await books.ok("sync_bill_amounts");
    const meanwhile = await books.ok("sync_bill_amounts", { bill_ids: [id] });
    assertEquals([meanwhile.pending, meanwhile.bills[0].text], [
      undefined,
      "The amount of Power is being fetched from City Utility right now.",
    ]);
    await database.query("update app.provider_links set leased_until = leased_until - interval '90 seconds'");
    const { pending: [again] } = await books.ok("sync_bill_amounts");
    assertEquals([again.link_id, again.lease_token === link.lease_token], [link.link_id, false]);
  },
  "fetches twenty bills at once without paused ones, and counts the rest": async (books, database) => {
    for (let n = 10; n < 33; n++) await connect(database, books, `Bill ${n}`);
    const paused = await connect(database, books, "Cellar");
    await books.ok("update_bill", { bill_id: paused, set: { status: "paused" } });
    const { bills, pending } = await books.ok("sync_bill_amounts");
    assertEquals([pending.length, bills.length], [20, 4]);
    assertEquals(bills.at(-1).text, "Cellar is paused, so nothing is fetched from City Utility.");
    const meter = await connect(database, books, "Meter rent");
    await books.ok("update_bill", { bill_id: meter, set: { amount_mode: "fixed", amount: "5" } });
    const { bills: [fixed] } = await books.ok("sync_bill_amounts", { bill_ids: [meter] });
    assertEquals(fixed.text, "Meter rent has the same amount every time, so nothing is fetched from City Utility.");
    assertEquals(bills[0].status, "unchanged");
    assertStringIncludes(bills[0].text, "Call again for the rest.");
    assertEquals((await books.ok("sync_bill_amounts")).pending.length, 3);
  },
  "needs a plan that includes fetching, a bill and a month": async (books, database) => {
    const { bill } = await books.ok("add_bill", { name: "Rent", amount: "5", first_due: "2026-12-01" });
    assertEquals(
      (await books.ok("sync_bill_amounts", { bill_ids: [bill.id] })).bills[0].text,
      "Rent is not connected to a provider: update_bill with provider connect gives a link.",
    );
    await books.fails("not_found", "sync_bill_amounts", { bill_ids: ["bill_00000000"] });
    await books.fails("date_out_of_range", "sync_bill_amounts", { period: "2026-13" });
    await books.fails("date_out_of_range", "sync_bill_amounts", { period: "2026-12" });
    const power = await connect(database, books);
    await database.query("update identity.organizations set plan = 'pro' where id = $1", [books.organizationId]);
    await books.fails("feature_not_in_plan", "sync_bill_amounts");
    assertEquals((await open(books, power)).provider.status, "paused_by_plan");
    assertEquals((await books.ok("review_bills")).provider_attention[0].kind, "paused_by_plan");
  },
});

testBooks("sync_bill_amounts in a time zone ahead of UTC", {
  day: "2026-11-30",
  timezone: "Pacific/Kiritimati",
}, {
  "fetches nothing for a running month": async (books, database) => {
    await connect(database, books);
    assertEquals(books.today(), "2026-11-30");
    const { bills, pending } = await books.ok("sync_bill_amounts", { period: "2026-12" });
    assertEquals([bills[0].status, bills[0].text, pending], [
      "not_ready",
      "City Utility has no statement for 2026-11 yet.",
      undefined,
    ]);
  },
});
