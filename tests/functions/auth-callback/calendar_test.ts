/** A person's calendar: the right to a calendar address, its contents, and its end. */
import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import ICAL from "ical.js";
import { addMember } from "../../_support/books.ts";
import type { TestDatabase } from "../../_support/database.ts";
import { accountTest, auditOf, onboarded } from "./account_harness.ts";
import { type Browser, createPages, formsOf, over, type Pages } from "./harness.ts";

async function addBill(
  database: TestDatabase,
  { organizationId, name, due, more = "{}" }: { organizationId: string; name: string; due: string; more?: string },
): Promise<string> {
  const [bill] = await database.query<{ id: string }>(
    `insert into app.expenses as e (id, organization_id, kind, name, amount_mode, amount_minor, currency, frequency, every, anchor_on, weekend_rule, tracked_from, next_due, status)
     select app.new_id('bill'), $1, 'bill', $2, coalesce(m.amount_mode, 'fixed'), case when m.amount_mode is distinct from 'variable' then 90000 end, 'EUR',
       coalesce(m.frequency, 'monthly'), 1, $3, coalesce(m.weekend_rule, 'none'), $3, $3, 'active'
     from jsonb_to_record($4::text::jsonb) as m (frequency text, weekend_rule text, amount_mode text)
     returning e.id`,
    [organizationId, name, due, more],
  );
  await database.query("select app.refresh_bill($1, '2026-11-20')", [bill!.id]);
  return bill!.id;
}

/**
 * Clicks the button on an account page, which may have been opened earlier, and returns the path of the shown address.
 */
async function getAddress(browser: Browser, page?: string): Promise<string> {
  const response = await browser.submit(page ?? await (await browser.get("/account")).text(), 'value="create"');
  assertEquals([response.status, response.headers.get("cache-control")], [200, "no-store"]);
  const [, path] = /<code class="copy">https:\/\/expenses\.example(\/calendar\/exp_cal_[\w-]{43}\.ics)<\/code>/.exec(
    await response.text(),
  )!;
  return path!;
}

/** The response to an app, which has no session. */
async function read(pages: Pages, path: string, headers: Record<string, string> = {}, method = "GET") {
  const response = await pages.app.request(`https://expenses.example${path}`, { method, headers });
  const text = await response.text();
  return { status: response.status, headers: response.headers, text };
}

function eventsIn(text: string): [day: string, summary: string][] {
  const calendar = new ICAL.Component(ICAL.parse(text));
  return calendar.getAllSubcomponents("vevent").map((event) => [
    String(event.getFirstPropertyValue("dtstart")),
    String(event.getFirstPropertyValue("summary")),
  ]);
}

const press = async (browser: Browser, action: string) =>
  await browser.submit(await (await browser.get("/account")).text(), `value="${action}"`);

accountTest("an address lists due dates for an app without a session", async (pages, database) => {
  const mira = await onboarded(pages, database);
  const { organizationId } = mira;
  await addBill(database, { organizationId, name: "Rent", due: "2026-10-30" });
  await addBill(database, { organizationId, name: "Water", due: "2026-12-15", more: '{"amount_mode": "variable"}' });
  const withoutCalendar = await (await mira.browser.get("/account")).text();
  const path = await getAddress(mira.browser);
  const { status, headers, text } = await read(pages, path);
  assertEquals(status, 200);
  assertEquals(
    ["content-type", "content-disposition", "cache-control", "x-content-type-options", "referrer-policy"].map((name) =>
      headers.get(name)
    ),
    [
      "text/calendar; charset=utf-8",
      'attachment; filename="bills.ics"',
      "private, no-cache",
      "nosniff",
      "no-referrer",
    ],
  );
  const events = eventsIn(text);
  assertEquals(events.slice(0, 4), [
    ["2026-10-30", "Due: Rent"],
    ["2026-11-30", "Due: Rent"],
    ["2026-12-15", "Due: Water"],
    ["2026-12-30", "Due: Rent"],
  ]);
  assertEquals([events.length, events.at(-1)![0]], [13 + 12, "2027-11-15"]);
  assertFalse(text.includes("900"), "no amounts unless they are shown");
  assertEquals((await auditOf(database)).at(-1), "calendar.created");
  const [stored] = await database.query<{ hash: string }>(
    "select token_hash::text as hash from identity.calendar_feeds",
  );
  assertMatch(stored!.hash, /^\\x[0-9a-f]{64}$/);

  assertEquals(
    (await press(mira.browser, "show_amounts")).headers.get("location"),
    "/account?done=calendar_with_amounts",
  );
  assertEquals(eventsIn((await read(pages, path)).text).slice(1, 3), [
    ["2026-11-30", "Due: Rent, €900.00"],
    ["2026-12-15", "Due: Water"],
  ]);
  await press(mira.browser, "hide_amounts");
  assertEquals((await read(pages, path)).text, text);
  await press(mira.browser, "show_amounts");
  const fresh = await getAddress(mira.browser, withoutCalendar);
  assertFalse((await read(pages, fresh)).text.includes("900"), "a new address hides amounts again");
});

accountTest("an unchanged calendar returns 304", async (pages, database) => {
  const mira = await onboarded(pages, database);
  const { organizationId } = mira;
  const bill = await addBill(database, { organizationId, name: "Rent", due: "2026-12-01" });
  const path = await getAddress(mira.browser);
  const first = await read(pages, path);
  const tag = first.headers.get("etag")!;
  pages.clock.now = new Date(pages.clock.now.getTime() + 3600_000);
  const again = await read(pages, path, { "if-none-match": tag });
  assertEquals([again.status, again.text, again.headers.get("etag"), again.headers.get("cache-control")], [
    304,
    "",
    tag,
    "private, no-cache",
  ]);
  assertEquals((await read(pages, path, { "if-none-match": `W/${tag}, "other"` })).status, 304);
  const head = await read(pages, path, {}, "HEAD");
  assertEquals([head.status, head.text, head.headers.get("etag"), head.headers.get("content-type")], [
    200,
    "",
    tag,
    "text/calendar; charset=utf-8",
  ]);
  assertEquals((await read(pages, path, {}, "POST")).headers.get("allow"), "GET, HEAD");

  await database.query("update app.expenses set name = 'The rent' where id = $1", [bill]);
  const changed = await read(pages, path, { "if-none-match": tag });
  assertEquals(changed.status, 200);
  const uids = (text: string) => text.match(/^UID:.*$/gm);
  assertEquals(uids(changed.text), uids(first.text), "the same events, renamed");
});

accountTest("paid and skipped dates are omitted, and dates of one day are one event", async (pages, database) => {
  const mira = await onboarded(pages, database);
  const { organizationId } = mira;
  const rent = await addBill(database, { organizationId, name: "Rent", due: "2026-11-10" });
  await addBill(database, {
    organizationId,
    name: "Rolls",
    due: "2026-11-20",
    more: '{"frequency": "daily", "weekend_rule": "after"}',
  });
  await database.query(
    "update app.expense_occurrences set status = 'paid', closed_at = now() where organization_id = $1 and expense_id = $2 and due_on <= '2026-12-10'",
    [organizationId, rent],
  );
  const path = await getAddress(mira.browser);
  await press(mira.browser, "show_amounts");
  const events = eventsIn((await read(pages, path)).text);
  assertEquals(events.find(([, summary]) => summary.includes("Rent"))![0], "2027-01-10");
  assertEquals(events.filter(([day]) => day <= "2026-11-24"), [
    ["2026-11-20", "Due: Rolls, €900.00"],
    ["2026-11-23", "Due: Rolls (3 times), €2,700.00"],
    ["2026-11-24", "Due: Rolls, €900.00"],
  ]);
});

accountTest("a calendar is bounded, contains the nearest dates, and names its end", async (pages, database) => {
  const mira = await onboarded(pages, database);
  const { organizationId } = mira;
  for (const name of ["Rolls", "Milk"]) {
    await addBill(database, { organizationId, name, due: "2026-06-01", more: '{"frequency": "daily"}' });
  }
  const path = await getAddress(mira.browser);
  const { text } = await read(pages, path);
  const days = eventsIn(text).map(([day]) => day);
  assertEquals([days.length, days[0], days.at(-1)], [600, "2026-10-01", "2027-07-27"]);
  assertMatch(text.replaceAll("\r\n ", ""), /X-WR-CALDESC:Not everything fits: bills due after 27 July 2027/);

  // So many that a month is more than enough.
  for (let n = 0; n < 18; n++) {
    await addBill(database, { organizationId, name: `Bread ${n}`, due: "2026-11-20", more: '{"frequency": "daily"}' });
  }
  const crowded = (await read(pages, path)).text;
  const coming = eventsIn(crowded).map(([day]) => day).filter((day) => day >= "2026-11-20");
  assertEquals([coming.length, coming[0], coming.at(-1)], [500, "2026-11-20", "2026-12-14"]);
  assertMatch(crowded.replaceAll("\r\n ", ""), /bills due after 14 December 2026/);
});

accountTest("two people with the same books have separate addresses", async (pages, database) => {
  const mira = await onboarded(pages, database);
  const { organizationId } = mira;
  await addBill(database, { organizationId, name: "Rent", due: "2026-12-01" });
  const ben = await onboarded(pages, database, "ben@example.com", { organization_name: "Bens Books" });
  await addBill(database, {
    organizationId: ben.organizationId,
    name: "Secret",
    due: "2026-12-02",
  });
  await addMember(database, organizationId, ben.id, "member");
  const miras = await getAddress(mira.browser);
  const page = await (await ben.browser.get("/account")).text();
  const form = formsOf(page).find(({ fields }) =>
    fields.action === "create" && fields.organization_id === organizationId
  )!;
  const created = await (await ben.browser.post(form.action, form.fields)).text();
  const bens = /\/calendar\/[\w.-]+/.exec(created)![0];
  for (const path of [miras, bens]) {
    const { text } = await read(pages, path);
    assert(text.includes("Due: Rent") && !text.includes("Secret"), text);
  }
  // A person's setting changes only their own address.
  await press(mira.browser, "show_amounts");
  assertFalse((await read(pages, bens)).text.includes("900.00"));
  // The end of a membership ends only its own address.
  await database.query("delete from identity.memberships where user_id = $1 and organization_id = $2", [
    ben.id,
    organizationId,
  ]);
  assertEquals([(await read(pages, bens)).status, (await read(pages, miras)).status], [404, 200]);
  const before = await database.query("select * from identity.calendar_feeds");
  for (const action of ["create", "show_amounts", "hide_amounts", "end"]) {
    const { status } = await ben.browser.post(form.action, { ...form.fields, action });
    assertEquals(status, { create: 403, end: 303 }[action] ?? 404, action);
  }
  assertEquals(await database.query("select * from identity.calendar_feeds"), before, "nothing of hers was touched");
});

accountTest("every invalid address gets the same response, and no log contains one", async (pages, database) => {
  const mira = await onboarded(pages, database);
  const { organizationId } = mira;
  await addBill(database, { organizationId, name: "Rent", due: "2026-12-01" });
  const ended = await getAddress(mira.browser);
  const replaced = await (async () => {
    assertEquals((await press(mira.browser, "end")).headers.get("location"), "/account?done=calendar_ended");
    const first = await getAddress(mira.browser);
    const { fields, action } = formsOf(await (await mira.browser.get("/account")).text()).find(({ fields }) =>
      fields.action === "end"
    )!;
    await mira.browser.post(action, { ...fields, action: "create" });
    return first;
  })();
  await press(mira.browser, "end");
  const path = await getAddress(mira.browser);
  const paths = [
    ended,
    replaced,
    "/calendar/none",
    `/calendar/exp_cal_${"A".repeat(43)}.ics`,
    `${path.slice(0, -4)}x.ics`,
  ];
  const trial = "update identity.organizations set trial_ends_at = $2 where id = $1";
  const refusals = [];
  for (const other of paths) refusals.push(await read(pages, other));
  await database.query(trial, [organizationId, "2026-01-01T00:00:00Z"]);
  refusals.push(await read(pages, path));
  await database.query(trial, [organizationId, "2027-01-01T00:00:00Z"]);
  await database.query("update auth.users set banned_until = '2030-01-01' where id = $1", [mira.id]);
  refusals.push(await read(pages, path));
  await database.query("update auth.users set banned_until = null where id = $1", [mira.id]);
  for (const { status, headers, text } of refusals) {
    headers.delete("x-request-id");
    assertEquals([status, text, [...headers]], [404, refusals[0]!.text, [...refusals[0]!.headers]]);
  }
  assertEquals([(await read(pages, path)).status, refusals[0]!.text], [200, "Page not found\n"]);
  const log = pages.log.join("\n");
  assertMatch(log, /"route":"\/calendar\/\[redacted\]"/);
  const tokens = [...paths, path].map((known) => /exp_cal_[\w-]+/.exec(known)?.[0] ?? "calendar/none");
  for (const token of tokens) assertFalse(log.includes(token), token);
  // Even in spellings that match no route, and at the function's own URL.
  await read(pages, `/Calendar/${path.slice(10)}`);
  await read(pages, `/functions/v1/auth-callback${path}`);
  assertFalse(pages.log.join("\n").includes(path.slice(10, -4)));
});

accountTest("an outage is logged in one line without the address", async (pages, database) => {
  const mira = await onboarded(pages, database);
  const path = await getAddress(mira.browser);
  const broken = createPages({ call: () => Promise.reject(new Error(`no ${path}`)) });
  const { status, text, headers } = await read(broken, path);
  assertEquals([status, headers.get("content-type")], [500, "text/plain; charset=UTF-8"]);
  const token = path.slice(10, -4);
  assertFalse(text.includes(token) || broken.log.join("\n").includes(token), broken.log.join("\n"));
});

accountTest("wrong addresses are limited by caller, right ones by calendar", async (_, database) => {
  const pages = createPages(over(database), { frontDoorSecrets: ["front-door-secret-of-thirty-two-bytes"] });
  const mira = await onboarded(pages, database);
  const path = await getAddress(mira.browser);
  const from = (address: string) => ({
    "x-front-door-secret": "front-door-secret-of-thirty-two-bytes",
    "x-forwarded-for": address,
  });
  const wrong = `/calendar/exp_cal_${"A".repeat(43)}.ics`;
  const statuses = async (path: string, address: string, times: number) => {
    const seen = [];
    for (let n = 0; n < times; n++) seen.push((await read(pages, path, from(address))).status);
    return seen;
  };
  assertEquals(new Set(await statuses(wrong, "203.0.113.1", 60)), new Set([404]));
  const limited = await read(pages, wrong, from("203.0.113.1"));
  assertEquals([limited.status, limited.text, limited.headers.get("retry-after")], [429, "Wait a moment\n", "60"]);
  assertEquals(await statuses(wrong, "203.0.113.2", 1), [404], "another caller");
  assertEquals(await statuses(path, "203.0.113.1", 1), [200], "whoever has an address does not share the limit");
  assertEquals(new Set(await statuses(path, "203.0.113.3", 59)), new Set([200]));
  assertEquals(await statuses(path, "203.0.113.4", 1), [429], "one calendar, whoever asks");
});

accountTest("forms require this site and person, and show an address once", async (pages, database) => {
  const mira = await onboarded(pages, database);
  const eva = await onboarded(pages, database, "eva@example.com");
  const form = formsOf(await (await mira.browser.get("/account")).text()).find(({ fields }) =>
    fields.action === "create"
  )!;
  const refused = async (browser: Browser, fields: Record<string, string>, headers = {}) =>
    (await browser.post(form.action, fields, headers)).status;
  assertEquals(await refused(eva.browser, form.fields), 403, "her token");
  assertEquals(await refused(mira.browser, form.fields, { "sec-fetch-site": "cross-site" }), 403);
  assertEquals(await refused(mira.browser, { ...form.fields, form_token: "" }), 403);
  const own = formsOf(await (await eva.browser.get("/account")).text()).find(({ fields }) =>
    fields.action === "create"
  )!;
  assertEquals(await refused(eva.browser, { ...own.fields, organization_id: form.fields.organization_id! }), 403);
  assertEquals(await refused(mira.browser, { ...form.fields, action: "other" }), 400);
  assertEquals(await database.query("select * from identity.calendar_feeds"), []);

  const path = await getAddress(mira.browser);
  const account = await (await mira.browser.get("/account")).text();
  assertFalse(account.includes(path.slice(10, -4)));
  const stranger = await pages.browser().post(form.action, form.fields);
  assertEquals([stranger.status, stranger.headers.get("location")], [303, "/login?next=%2Faccount%2Fcalendar"]);
  assertEquals((await mira.browser.get("/account/calendar")).headers.get("location"), "/account");

  // Without the plan the page has no button, and an old form is rejected.
  await press(mira.browser, "end");
  await database.query("update identity.organizations set trial_ends_at = '2026-01-01'");
  assertFalse((await (await mira.browser.get("/account")).text()).includes('value="create"'));
  assertEquals(await refused(mira.browser, form.fields), 403);
});
