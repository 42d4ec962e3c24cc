/** The limit for balances is set, shown by forecast, and mailed before a balance falls below it, once for each fall. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import { addRate, type Books, type Json, openBooks } from "../_support/books.ts";
import { addBill, at, collect, database, type Digest, fresh, run } from "./reminder_run.ts";

const DAY = "2026-11-10";
const say = (books: Books, name: string, amount: string, more: Json = {}) =>
  books.ok("log_expenses", { items: [{ name, amount, kind: "balance", ...more }] });
const limit = (books: Books, low_balance_limit: string) => books.call("update_settings", { low_balance_limit });
const lowIn = (digests: Digest[]) =>
  digests.flatMap(({ content, recipient_id }) =>
    content.organizations.flatMap(({ notices }) => notices).filter(({ kind }) => kind === "low_balance").map((one) => ({
      ...one,
      recipient_id,
    }))
  );
/** The low balances that a day's digests announce, with the day of each. */
const told = async (day: string) =>
  lowIn(await run(at(day))).map(({ name, on, amount, low }) => [name, on, amount, low].join(" "));

/** 1000.00 on an account, and rent of 800.00 on 1 December. */
async function tenant(more: Json = {}): Promise<Books> {
  const books = await openBooks(database, { day: DAY });
  await say(books, "Giro", "1000", more);
  await addBill(books, "Rent", "2026-12-01", { amount: "800", reminder: { enabled: false } });
  return books;
}

testBooks("the limit for balances", { day: DAY }, {
  "is shown with the settings and in a forecast, and undo_change() restores the earlier one": async (books) => {
    // Expected income needs a balance too.
    await books.ok("log_expenses", {
      items: [{ name: "Salary", amount: "1", kind: "income", date: "2026-12-28", repeats: "monthly" }],
    });
    const none = await limit(books, "500");
    await books.fails("not_found", "forecast");
    await books.ok("update_settings", { relabel_closed: true });
    assertEquals(none.warnings.map(({ code }: Json) => code), ["no_balance_yet"]);
    await say(books, "Giro", "1000");
    await books.ok("add_bill", { name: "Rent", amount: "800", first_due: "2026-12-01" });
    const set = await limit(books, "900.50");
    assertEquals([set.warnings, set.data.settings.low_balance_limit], [[], { amount: "900.50", currency: "EUR" }]);
    const { limit: said } = await books.ok("forecast", { until: "2026-12-05" });
    assertEquals(said.below, [
      { account: "Giro", on: "2026-12-01", low: "200.00", likely: "200.00", currency: "EUR" },
    ]);
    assertStringIncludes(
      said.text,
      "Giro is expected to fall below the limit of 900.50 EUR on 2026-12-01: likely 200.00 EUR",
    );
    assertEquals((await books.ok("forecast", { until: "2026-11-30" })).limit, {
      text: "No balance above the limit of 900.50 EUR is expected to fall below it by 2026-11-30.",
      amount: "900.50",
      currency: "EUR",
      below: [],
    });
    await books.ok("undo_change", { change_id: set.change_id });
    assertEquals((await books.ok("get_context")).settings.low_balance_limit, { amount: "500.00", currency: "EUR" });
    const { recent_changes } = await books.ok("get_context", { include: ["recent_changes"] });
    assertStringIncludes(JSON.stringify(recent_changes), "a mail before a balance falls below 900.50 EUR");
    assertEquals((await limit(books, "")).data.settings.low_balance_limit, undefined);
    assertEquals((await books.ok("forecast")).limit, undefined);
  },
  "may be zero, follows the base currency, and is refused in another form": async (books) => {
    assertEquals((await limit(books, "0.00")).data.settings.low_balance_limit, { amount: "0.00", currency: "EUR" });
    for (
      const [code, amount] of [["invalid_argument", "-5"], ["invalid_argument", "ten"], ["amount_precision", "1.234"]]
    ) {
      await books.fails(code!, "update_settings", { low_balance_limit: amount });
    }
    const { settings } = await books.ok("update_settings", { base_currency: "JPY", low_balance_limit: "5000" });
    assertEquals(settings.low_balance_limit, { amount: "5000", currency: "JPY" });
    await books.ok("update_settings", { base_currency: "EUR", low_balance_limit: "0" });
    await say(books, "Giro", "800");
    await books.ok("add_bill", { name: "Rent", amount: "800.01", first_due: "2026-12-01" });
    const { limit: said } = await books.ok("forecast");
    assertEquals(said.below.map(({ on, likely }: Json) => [on, likely]), [["2026-12-01", "-0.01"]]);
  },
  "counts a planned spend, from its day on": async (books) => {
    await say(books, "Giro", "1000");
    await limit(books, "500");
    const below = async (more: Json) => {
      const { limit: said } = await books.ok("forecast", more);
      return said.below.map(({ account, on, likely }: Json) => [account ?? "all", on, likely]);
    };
    assertEquals(await below({}), []);
    const spend = { spend: "900", on: "2026-11-20" };
    assertEquals(await below(spend), [["Giro", "2026-11-20", "100.00"]]);
    assertEquals(await below({ ...spend, account: "Giro" }), [["Giro", "2026-11-20", "100.00"]]);
    // Without an account, the spend counts for the total of several accounts.
    await say(books, "Savings", "300");
    assertEquals(await below(spend), [["all", "2026-11-20", "400.00"]]);
    assertEquals(await below({ ...spend, account: "Giro" }), [["Giro", "2026-11-20", "100.00"]]);
  },
  "names balances that are below it or have no rate, and reports if no mail can be sent": async (books, database) => {
    await say(books, "Card", "100");
    await database.query("update app.accounts set kind = 'card'");
    await database.query("update app.balances set amount_minor = -amount_minor");
    assertEquals((await limit(books, "500")).warnings.map(({ code }: Json) => code), ["no_balance_yet"]);
    await say(books, "Giro", "200");
    await say(books, "Safe", "900", { currency: "USD" });
    await database.query("update identity.profiles set email_enabled = false where user_id = $1", [books.userId]);
    const { warnings } = await limit(books, "501");
    assertEquals(warnings.map(({ code }: Json) => code), ["mails_off", "balances_unwatched"]);
    const said =
      "Below the limit already: Giro (200.00 EUR) and all accounts together (100.00 EUR). Not compared with " +
      "the limit, because no exchange rate is known: Safe (USD).";
    assertStringIncludes(warnings[1].message, said);
    assertEquals(
      (await books.ok("forecast")).limit.text,
      `No balance above the limit of 501.00 EUR is expected to fall below it by 2026-12-31. ${said}`,
    );
  },
  "does not apply to an account whose balance was never above zero, such as a card": async (books) => {
    await say(books, "Visa", "50", { kind: "overdraft", date: "2026-11-01" });
    await say(books, "Visa", "0");
    await limit(books, "0");
    const spend = { spend: "10", account: "Visa" };
    const below = async () => (await books.ok("forecast", spend)).limit.below.map(({ account }: Json) => account);
    assertEquals(await below(), []);
    await say(books, "Visa", "20", { date: "2026-11-05" });
    assertEquals(await below(), ["Visa"]);
  },
  "of an earlier base currency is converted": async (books, database) => {
    await addRate(database, "USD", DAY, "2.0");
    await say(books, "Giro", "1000");
    await say(books, "Dollars", "700", { currency: "USD" });
    await say(books, "Safe", "500", { currency: "USD" });
    await books.ok("add_bill", { name: "Rent", amount: "800", first_due: "2026-12-01", currency: "EUR" });
    await limit(books, "300");
    await books.ok("update_settings", { base_currency: "USD" });
    // 300 EUR are 600 USD. The total starts with 3,200 USD.
    assertEquals((await books.ok("forecast", { spend: "2700", on: "2026-11-20" })).limit, {
      text:
        "All accounts together are expected to fall below the limit of 300.00 EUR on 2026-11-20: likely 500.00 USD, " +
        "possibly as low as 500.00. Below the limit already: Safe (500.00 USD).",
      amount: "300.00",
      currency: "EUR",
      below: [{ on: "2026-11-20", low: "500.00", likely: "500.00", currency: "USD" }],
      already_below: [{ account: "Safe", amount: "500.00", currency: "USD" }],
    });
  },
  "belongs to the owner and the managers": async (books) => {
    const member = await books.join();
    await member.fails("forbidden_role", "update_settings", { low_balance_limit: "1" });
    await (await books.join("manager")).ok("update_settings", { low_balance_limit: "1" });
  },
});

Deno.test("a balance that will fall below the limit is mailed once, with its day and amounts", async () => {
  await database.reset();
  const books = await tenant();
  assertEquals(await told("2026-11-11"), []);
  await limit(books, "500");
  const [one] = lowIn(await run(at("2026-11-12")));
  assertEquals(
    [one!.name, one!.on, one!.days, one!.amount, one!.low, one!.limit, one!.is_total],
    ["Giro", "2026-12-01", 19, "200.00", "200.00", "500.00", null],
  );
  for (const day of ["2026-11-12", "2026-11-13", "2026-11-30", "2026-12-01", "2026-12-03", "2026-12-12"]) {
    assertEquals(await told(day), [], day);
  }
  // After a new balance, the next rent is another fall.
  books.goTo("2026-12-13");
  await books.ok("mark_bill_paid", { bill_name: "Rent", due_on: "2026-12-01", paid_on: "2026-12-01" });
  await say(books, "Giro", "1200", { date: "2026-12-13" });
  assertEquals(await told("2026-12-14"), ["Giro 2027-01-01 400.00 400.00"]);
  assertEquals(await told("2026-12-15"), []);
});

Deno.test("after a newer balance, a fall within two days is mailed", async () => {
  await database.reset();
  const books = await tenant();
  await limit(books, "500");
  assertEquals(await told("2026-11-11"), ["Giro 2026-12-01 200.00 200.00"]);
  books.goTo("2026-12-13");
  await books.ok("mark_bill_paid", { bill_name: "Rent", due_on: "2026-12-01", paid_on: "2026-12-01" });
  await say(books, "Giro", "1200", { date: "2026-12-13" });
  await addBill(books, "Trip", "2026-12-15", { amount: "900", frequency: "once", reminder: { enabled: false } });
  assertEquals(await told("2026-12-14"), ["Giro 2026-12-15 300.00 300.00"]);
});

Deno.test("a limit that changed before the mail was sent causes no second mail, and two rows cause one notice", async () => {
  await database.reset();
  const books = await tenant();
  await limit(books, "500");
  await collect(at("2026-11-11"));
  books.goTo("2026-11-11");
  await database.query(
    `insert into jobs.notice_log (recipient_id, organization_id, account_id, kind, about_on, tell_on, digest_id)
     select recipient_id, organization_id, account_id, kind, about_on - 20, tell_on, digest_id from jobs.notice_log`,
  );
  await database.query("update identity.organizations set low_balance_since = $1", [at("2026-11-11", "08:05")]);
  const digests = await run(at("2026-11-11", "08:10"));
  assertEquals(lowIn(digests).map(({ name }) => name), ["Giro"]);
  assertEquals(await database.query("select sent_at is not null as sent from jobs.notice_log"), [
    { sent: true },
    { sent: true },
  ]);
  assertEquals(await told("2026-11-12"), []);
});

Deno.test("an earlier fall and a new limit are mailed again, and a fall that no longer comes is not", async () => {
  await database.reset();
  const books = await tenant();
  await limit(books, "500");
  assertEquals(await told("2026-11-11"), ["Giro 2026-12-01 200.00 200.00"]);
  await addBill(books, "Trip", "2026-11-20", { amount: "700", frequency: "once", reminder: { enabled: false } });
  assertEquals(await told("2026-11-12"), ["Giro 2026-11-20 300.00 300.00"]);
  books.goTo("2026-11-12");
  await limit(books, "250");
  assertEquals(await told("2026-11-13"), ["Giro 2026-12-01 -500.00 -500.00"]);
  books.goTo("2026-11-13");
  await limit(books, "240");
  await collect(at("2026-11-14"));
  await say(books, "Giro", "5000");
  assertEquals(await told("2026-11-14"), []);
});

Deno.test("only people who see everything and get all mails receive low-balance warnings, each about their own books", async () => {
  await database.reset();
  const [ana, other] = [await tenant(), await tenant()];
  await limit(ana, "500");
  const [member, viewer] = [await ana.join(), await ana.join("viewer")];
  // The member also sees these alone, which are not enough for a forecast.
  await say(member, "Own", "1000");
  await addBill(member, "Loan", "2026-12-01", { amount: "800", reminder: { enabled: false } });
  await database.query("update identity.memberships set mails = 'all' where organization_id = $1 and user_id <> $2", [
    ana.organizationId,
    ana.userId,
  ]);
  const hear = async (day: string) => {
    const heard = lowIn(await run(at(day))).map(({ recipient_id }) => recipient_id);
    const people = [ana, member, viewer, other].map(({ userId }) => userId);
    return heard.map((id) => ["owner", "member", "viewer", "other"][people.indexOf(id)]).toSorted();
  };
  assertEquals(await hear("2026-11-11"), ["member", "owner", "viewer"]);
  ana.goTo("2026-11-11");
  await limit(ana, "501");
  await ana.ok("update_settings", { own_only: true });
  assertEquals(await hear("2026-11-12"), ["owner", "viewer"]);
  ana.goTo("2026-11-12");
  await limit(ana, "502");
  await ana.ok("update_settings", { own_only: false });
  await ana.ok("update_settings", { category: { action: "create", name: "Own" } });
  await ana.ok("update_settings", { category: { action: "make_private", name: "Own" } });
  assertEquals(await hear("2026-11-13"), ["owner"]);
  ana.goTo("2026-11-13");
  await limit(ana, "503");
  await ana.ok("update_settings", { reminders: { my_mails: "none" } });
  assertEquals(await hear("2026-11-14"), []);
});

Deno.test("a card counts only in the total, the total is checked too, and hidden amounts stay hidden", async () => {
  const books = await fresh({ day: DAY });
  await say(books, "Giro", "600");
  await say(books, "Savings", "600");
  await say(books, "Card", "40");
  await database.query("update app.accounts set kind = 'card' where name = 'Card'");
  await addBill(books, "Rent", "2026-12-01", { amount: "800", reminder: { enabled: false } });
  await limit(books, "500");
  await books.ok("update_settings", { reminders: { hide_amounts_in_email: true } });
  assertEquals(
    lowIn(await run(at("2026-11-11"))).map((one) => [one.is_total, one.on, one.amount, one.low, one.limit]),
    [[true, "2026-12-01", null, null, null]],
  );
});

/** Runs `work` while the search for falls starts with a statement for these books. */
async function whilePlanted(books: Books, statement: string, act: () => Promise<void>): Promise<void> {
  const name = "app.find_low_balances";
  const [row] = await database.query<{ source: string }>("select pg_get_functiondef($1::regproc) as source", [name]);
  await database.exec(
    row!.source.replace(
      /\nbegin\n/,
      `$&if context.organization_id = '${books.organizationId}' then ${statement}; end if;\n`,
    ),
  );
  try {
    await act();
  } finally {
    await database.exec(row!.source);
  }
}

const inOrder = (people: Books[]) =>
  people.toSorted((one, other) => one.organizationId < other.organizationId ? -1 : 1);

Deno.test("limits are checked once a day, even when no balance falls", async () => {
  await database.reset();
  const books = await openBooks(database, { day: DAY });
  await say(books, "Giro", "1000");
  await limit(books, "500");
  assertEquals(await told("2026-11-11"), []);
  await addBill(books, "Rent", "2026-12-01", { amount: "800", reminder: { enabled: false } });
  assertEquals(await told("2026-11-11"), []);
  assertEquals(await told("2026-11-12"), ["Giro 2026-12-01 200.00 200.00"]);
});

Deno.test("a forecast that fails stops neither the other organizations nor its own budgets", async () => {
  await database.reset();
  const people: Books[] = [];
  for (let n = 0; n < 3; n++) {
    const books = await tenant();
    await limit(books, "500");
    await books.ok("update_settings", { budget: { action: "set", amount: "100" } });
    await books.ok("log_expenses", { items: [{ name: "Shoes", amount: "100" }] });
    people.push(books);
  }
  const [first, ...others] = inOrder(people);
  await whilePlanted(first!, "raise exception 'planted'", () => collect(at("2026-11-11")));
  const digests = await run(at("2026-11-11"));
  assertEquals(lowIn(digests).map((one) => one.recipient_id).toSorted(), others.map((one) => one.userId).toSorted());
  assertEquals(digests.filter(({ content }) => content.organizations[0]!.budgets.length > 0).length, 3);
  // It counts as checked, and the next day is another attempt.
  const next = lowIn(await run(at("2026-11-12"))).map(({ recipient_id }) => recipient_id);
  assertEquals(next, [first!.userId]);
});

Deno.test("limits are checked page by page after the bills", async () => {
  await database.reset();
  const people: Books[] = [];
  for (let n = 0; n < 5; n++) {
    const books = await tenant();
    await limit(books, "500");
    people.push(books);
  }
  const { next } = await database.asService<{ next: unknown }>("collect_reminders", { at: at("2026-11-11") });
  assertEquals(next, ["infinity", "org_"]);
  assertEquals(await database.query("select from jobs.notice_log"), []);
  await collect(at("2026-11-11"), 2);
  const heard = lowIn(await run(at("2026-11-11"))).map(({ recipient_id }) => recipient_id);
  assertEquals(heard.toSorted(), people.map(({ userId }) => userId).toSorted());
});

Deno.test("a page ends after two seconds, even between the members of an organization", async () => {
  await database.reset();
  const [first, second] = inOrder([await tenant(), await tenant()]);
  for (const books of [first!, second!]) await limit(books, "500");
  await first!.join("viewer");
  await database.query("update identity.memberships set mails = 'all'");
  const slow = "while clock_timestamp() < statement_timestamp() + interval '2.1 seconds' loop perform 1; end loop";
  await whilePlanted(first!, slow, async () => {
    const pages: unknown[] = [];
    for (let after: unknown = ["infinity", "org_"]; after !== null;) {
      after = (await database.asService<{ next: unknown }>("collect_reminders", { at: at("2026-11-11"), after })).next;
      pages.push(after);
    }
    assertEquals(pages, [["infinity", "org_"], ["infinity", first!.organizationId], null]);
  });
  assertEquals(lowIn(await run(at("2026-11-11"))).length, 3);
});
