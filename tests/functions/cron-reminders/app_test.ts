/** The job for the scheduler: authentication, the answer, and the effects. */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { addRate, openBooks } from "../../_support/books.ts";
import { sharedDatabase } from "../../_support/database.ts";
import {
  asDatabase,
  createJob,
  ecbXml,
  frankfurterJson,
  mailService,
  PREVIOUS_SECRET,
  SECRET,
  withRates,
} from "./harness.ts";

const database = await sharedDatabase();

const NOW = new Date("2026-11-20T08:00:00Z");
const goodRates = { ecb: () => new Response(ecbXml("2026-11-19")) };

function job(options: { now?: () => Date; env?: Record<string, string> } = {}) {
  const mail = mailService();
  return {
    mail,
    ...createJob({
      database: asDatabase(database),
      fetch: withRates(mail.fetch, goodRates),
      now: () => NOW,
      ...options,
    }),
  };
}

Deno.test("a run returns exactly the documented fields", async () => {
  await database.reset();
  const answer = await job().run();
  assertEquals(answer, {
    ok: true,
    candidates: 0,
    nextDueAdvanced: 0,
    digestsSent: 0,
    remindersSent: 0,
    fxRefreshed: true,
    errors: [],
  });
});

Deno.test("a missing or wrong secret is refused before any work", async () => {
  let calls = 0;
  const { request } = createJob({
    database: { call: () => Promise.reject(new Error(`called ${++calls}`)) },
    fetch: () => Promise.reject(new Error(`fetched ${++calls}`)),
    now: () => NOW,
  });
  const refused: [string, HeadersInit][] = [
    ["", {}],
    ["?secret=", {}],
    [`?secret=${SECRET}x`, {}],
    ["", { authorization: SECRET }],
    ["", { authorization: `Basic ${SECRET}` }],
    ["", { authorization: "Bearer wrong" }],
    ["?secret=wrong", { authorization: "Bearer wrong" }],
  ];
  for (const [query, headers] of refused) {
    const response = await request(`/api/cron/reminders${query}`, { headers });
    assertEquals(response.status, 401);
    assertEquals((await response.json()).error.code, "unauthorized");
  }
  assertEquals(calls, 0);
});

Deno.test("either header and the previous secret are accepted, and the log never contains the secret", async () => {
  await database.reset();
  const { request, lines } = job();
  const accepted: [string, HeadersInit][] = [
    [`?secret=${SECRET}`, {}],
    [`?secret=${SECRET}`, { authorization: "Bearer wrong" }],
    ["?secret=wrong", { authorization: `Bearer ${SECRET}` }],
    ["", { authorization: `bearer ${PREVIOUS_SECRET}` }],
  ];
  for (const [query, headers] of accepted) {
    const response = await request(`/functions/v1/cron-reminders${query}`, { headers });
    assertEquals(response.status, 200);
    await response.body?.cancel();
  }
  const log = lines.join("\n");
  assert(!log.includes(SECRET) && !log.includes("secret="));
  assertStringIncludes(log, `"route":"/api/cron/reminders"`);
});

Deno.test("other methods get 405 with Allow", async () => {
  const response = await job().request("/api/cron/reminders", { method: "POST" });
  assertEquals([response.status, response.headers.get("allow")], [405, "GET, HEAD"]);
});

Deno.test("due bills are mailed once, in one digest, and rolled after their dates", async () => {
  await database.reset();
  const books = await openBooks(database, { day: "2026-11-10", timezone: "Europe/Berlin" });
  await addRate(database, "USD", "2026-11-18", "1.4");
  const add = (name: string, first_due: string, more = {}) =>
    books.ok("add_bill", { name, amount: "10.00", first_due, ...more });
  await add("Rent", "2026-11-23", { amount: "1450.00" });
  await add("Netflix", "2026-11-22", { amount: "12.00", currency: "USD" });
  await add("Later", "2026-12-15");
  await add("Water", "2026-11-12");
  await add("Quiet", "2026-11-21", { reminder_enabled: false });

  const first = job();
  assertEquals(await first.run(), {
    ok: true,
    candidates: 4,
    nextDueAdvanced: 1,
    digestsSent: 1,
    // Two upcoming bills, and one overdue for a week.
    remindersSent: 3,
    fxRefreshed: true,
    errors: [],
  });
  const [mail] = first.mail.delivered;
  assertEquals(mail!.subject, "2 bills due this week, 1 overdue");
  assertMatch(mail!.text, /Rent +Monday, 23 November +in 3 days +€1,450\.00\n/);
  // At the rates that this run fetched.
  assertMatch(mail!.text, /Netflix +Sunday, 22 November +in 2 days +US\$12\.00\n {4}about €8\.00\n/);
  assertMatch(mail!.text, /Water +Thursday, 12 November +8 days ago +€10\.00\n/);
  assert(!mail!.text.includes("Later") && !mail!.text.includes("Quiet"));
  assertEquals(mail!.headers["List-Unsubscribe-Post"], "List-Unsubscribe=One-Click");

  const second = job();
  const again = await second.run();
  assertEquals([again.nextDueAdvanced, again.digestsSent, again.remindersSent], [0, 0, 0]);
  assertEquals(second.mail.calls, []);
  assertEquals(
    (await database.query("select stage, status from jobs.job_runs order by id")).slice(-6),
    ["candidates", "roll", "proposals", "rates", "reminders", "past_rates"].map((stage) => ({ stage, status: "ok" })),
  );
});

Deno.test("a digest suggests only possible actions: it snoozes no daily bill and marks no automatic payment", async () => {
  await database.reset();
  const books = await openBooks(database, { day: "2026-11-20" });
  const add = (name: string, more: Record<string, unknown>) =>
    books.ok("add_bill", { name, amount: "10.00", first_due: "2026-11-21", ...more });
  await add("A suite", { autopay: true });
  await add("Breakfast rolls", { frequency: "daily" });
  await add("Every other day", { frequency: "daily", every: 2, first_due: "2026-11-22" });
  const { run, mail } = job();
  await run();
  assertStringIncludes(
    mail.delivered[0]!.text,
    "Tell your assistant: “Mark ‘Breakfast rolls’ paid” or “Snooze ‘Every other day’ until Monday.”",
  );
});

Deno.test("a digest uses the date format of the owner's country", async () => {
  await database.reset();
  const books = await openBooks(database, { day: "2026-11-20" });
  await books.ok("add_bill", { name: "Rent", amount: "1450", first_due: "2026-11-23" });
  await database.exec("update identity.profiles set country = 'US' where true");
  const { run, mail } = job();
  await run();
  assertEquals(mail.delivered[0]!.subject, "“Rent” is due on Mon, Nov 23");
  assertMatch(mail.delivered[0]!.text, /Rent +Monday, November 23 +in 3 days +€1,450\.00\n/);
});

Deno.test("a stage that fails does not stop the others", async () => {
  await database.reset();
  const books = await openBooks(database, { day: "2026-11-19" });
  await books.ok("add_bill", { name: "Rent", amount: "10", first_due: "2026-11-21" });
  const mail = mailService();
  const own = asDatabase(database);
  for (
    const [broken, failed] of [
      ["find_rolling_pages", "roll"],
      ["collect_reminders", "reminders"],
      ["store_rates", "rates"],
    ]
  ) {
    const { run } = createJob({
      database: { call: (name, args) => name === broken ? Promise.reject(new Error("planted")) : own.call(name, args) },
      fetch: withRates(mail.fetch, { ecb: () => new Response(ecbXml("2026-11-19")) }),
      now: () => NOW,
    });
    const answer = await run();
    assertEquals(answer.ok, false);
    assertEquals(answer.errors.map(({ stage, code, count }) => ({ stage, code, count })), [
      { stage: failed, code: "internal", count: 1 },
    ]);
    assertEquals(answer.fxRefreshed, failed !== "rates");
  }
  assertEquals(mail.delivered.length, 1);
});

Deno.test("a run without a database returns 503", async () => {
  const { AppError } = await import("../../../shared/errors.ts");
  const { request } = createJob({
    database: { call: () => Promise.reject(new AppError("unavailable", "down")) },
    fetch: () => Promise.reject(new Error("no")),
    now: () => NOW,
  });
  const response = await request(`/api/cron/reminders?secret=${SECRET}`);
  assertEquals(response.status, 503);
  await response.body?.cancel();
});

Deno.test("rates come from the second source when the first is down", async () => {
  await database.reset();
  const { run } = createJob({
    database: asDatabase(database),
    fetch: withRates(mailService().fetch, {
      frankfurter: () => new Response(frankfurterJson("2026-11-19", { USD: "1.0940" })),
    }),
    now: () => NOW,
  });
  const answer = await run();
  assertEquals([answer.ok, answer.fxRefreshed, answer.errors.map(({ code, ref }) => [code, ref])], [true, true, [[
    "no_answer",
    "ecb",
  ]]]);
  assertEquals(await database.query("select rate::text, source, rate_on from app.fx_rates where quote = 'USD'"), [
    { rate: "1.0940000000", source: "frankfurter", rate_on: "2026-11-19" },
  ]);
});

Deno.test("a roll-only run after midnight records automatic payments and sends no mail", async () => {
  await database.reset();
  const books = await openBooks(database, { day: "2026-11-18" });
  await books.ok("add_bill", { name: "Netflix", amount: "15.99", first_due: "2026-11-19", autopay: true });
  await books.ok("add_bill", { name: "Rent", amount: "800", first_due: "2026-11-21" });
  let now = new Date("2026-11-20T00:01:00Z");
  const { mail, request, run } = job({ now: () => now });
  const answer = await request(`/api/cron/reminders?only=roll&secret=${SECRET}`);
  assertEquals(await answer.json(), {
    ok: true,
    candidates: 0,
    nextDueAdvanced: 1,
    digestsSent: 0,
    remindersSent: 0,
    fxRefreshed: false,
    errors: [],
  });
  assertEquals(mail.delivered.length, 0);
  assertEquals(await database.query("select paid_on, source from app.payments"), [
    { paid_on: "2026-11-19", source: "autopay" },
  ]);
  now = NOW;
  await run();
  assertEquals(mail.delivered.length, 1);
});
