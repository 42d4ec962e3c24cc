/** Events sent to a webhook, end to end: an app subscribes, a job delivers, and a receiver checks the result. */
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import { assert, assertEquals, assertFalse, assertMatch } from "@std/assert";
import { createGuardedFetch, type GuardedFetch, type GuardedRequest } from "../../../shared/net/guarded_fetch.ts";
import type { Books, Json } from "../../_support/books.ts";
import { connectApp, CREDENTIALS_KEY } from "../../_support/connected_app.ts";
import { addBill, at, database, fresh, run } from "../../db/reminder_run.ts";
import { asDatabase, createJob, SECRET as CRON_SECRET } from "../cron-reminders/harness.ts";

const DAY = "2026-11-10";
const URL = "https://hooks.example/assistant";
const SECRET = `whsec_${Buffer.alloc(32, 9).toString("base64")}`;

/** A receiver that checks signatures and repeats challenges; `status` is its response to events. */
function receiver() {
  const received: { id: string; event: Json; request: GuardedRequest }[] = [];
  const one = {
    received,
    status: 204,
    challengeStatus: 200,
    challenges: 0,
    repeats: true,
    key: Buffer.from(SECRET.slice(6), "base64"),
    fetch: ((request: GuardedRequest) => {
      const header = request.headers!;
      const id = header["webhook-id"]!;
      const signed = `${id}.${header["webhook-timestamp"]}.${request.body}`;
      assertEquals(header["webhook-signature"], `v1,${createHmac("sha256", one.key).update(signed).digest("base64")}`);
      assertMatch(header["x-mcp-subscription-id"]!, /^sub_/);
      const body = JSON.parse(request.body!);
      const answer = (status: number, text = "") => ({
        ok: true as const,
        status,
        headers: new Headers(),
        body: new TextEncoder().encode(text),
      });
      if (body.type === "verification") {
        one.challenges++;
        const challenge = one.repeats ? body.challenge : "another";
        return Promise.resolve(answer(one.challengeStatus, JSON.stringify({ challenge })));
      }
      received.push({ id, event: body, request });
      return Promise.resolve(answer(one.status));
    }) as GuardedFetch,
  };
  return one;
}

/** Books with an app that subscribed to due bills at seven. */
async function subscribed(books?: Books) {
  const owner = books ?? await fresh({ day: DAY });
  const clock = { now: new Date(at(DAY, "07:00")) };
  const hook = receiver();
  const app = await connectApp(database, owner, {
    clock: () => clock.now,
    guardedFetch: (request) => hook.fetch(request),
  });
  const params = { name: "bill.due", delivery: { mode: "webhook", url: URL, secret: SECRET } };
  const subscribe = (more: Json = {}) => app.ask("events/subscribe", { ...params, ...more });
  const job = createJob({
    database: asDatabase(database),
    fetch: () => Promise.reject(new Error("no mail")),
    now: () => clock.now,
    env: { CREDENTIALS_KEY },
    guardedFetch: (request) => hook.fetch(request),
  });
  return {
    owner,
    app,
    hook,
    subscribe,
    subscription: await subscribe(),
    goTo: (day: string, time: string) => void (clock.now = new Date(at(day, time))),
    async deliver() {
      const response = await job.request("/api/cron/reminders?only=events", {
        headers: { authorization: `Bearer ${CRON_SECRET}` },
      });
      assertEquals([response.status, (await response.json()).ok], [200, true], job.lines.join("\n"));
    },
    /** Makes a bill due, which creates its event. */
    async emit({ by = owner, name = "Water", ...more }: { by?: Books; name?: string; category?: string } = {}) {
      const bill = await addBill(by, name, "2026-11-12", more);
      await database.query(
        "insert into app.events (organization_id, user_id, name, about, created_at) values ($1, $2, 'bill.due', array[$3], $4)",
        [owner.organizationId, owner.userId, bill, clock.now.toISOString()],
      );
      return bill;
    },
  };
}

Deno.test("an app subscribes, repeats the challenge, and gets each event once, signed and without names", async () => {
  const t = await subscribed();
  assertMatch(t.subscription.id, /^sub_[0-9a-f]{32}$/);
  assertEquals([t.subscription.refreshBefore, t.subscription.truncated], ["2026-11-11T07:00:00.000Z", false]);
  assertEquals(t.hook.challenges, 1);
  const bill = await addBill(t.owner, "Secret surgery", "2026-11-12");
  await run(at(DAY));
  t.goTo(DAY, "08:01");
  await t.deliver();
  assertEquals(t.hook.received.length, 0, "another transaction may still put one before it");
  t.goTo(DAY, "08:02");
  await t.deliver();
  await t.deliver();
  assertEquals(t.hook.received.length, 1);
  const [{ id, event, request }] = t.hook.received as [typeof t.hook.received[0]];
  assertEquals([event.eventId, event.name], [id, "bill.due"]);
  assertEquals(event.data, { organization_id: t.owner.organizationId, ids: [bill], count: 1 });
  assertFalse(request.body!.includes("surgery"));
  assertEquals(request.headers!["x-mcp-subscription-id"], t.subscription.id);
  const [row] = await database.query<{ text: string }>("select s::text as text from app.event_subscriptions as s");
  assertFalse(row!.text.includes(SECRET.slice(6, 20)), "the secret is sealed");
});

Deno.test("a failing receiver gets the same event again with the same id, at growing intervals, for a day", async () => {
  const t = await subscribed();
  t.hook.status = 500;
  await t.subscribe({ ttlMs: 1e12 });
  await t.emit();
  const hours: number[] = [];
  for (let minutes = 2; minutes < 26 * 60; minutes += 2) {
    const now = new Date(Date.parse(at(DAY, "07:00")) + minutes * 60_000).toISOString();
    t.goTo(now.slice(0, 10), now.slice(11, 16));
    const before = t.hook.received.length;
    if ((await database.query<{ w: boolean }>("select app.has_waiting_events($1) as w", [now]))[0]!.w) {
      await t.deliver();
    }
    if (t.hook.received.length > before) hours.push(minutes);
  }
  assert(hours.length >= 6 && hours.length <= 9, hours.join(" "));
  assert(hours.at(-1)! < 24 * 60, "given up after a day");
  assertEquals(new Set(t.hook.received.map(({ id }) => id)).size, 1);
});

Deno.test("an unresponsive receiver delays no other receiver's events", async () => {
  const t = await subscribed();
  const silent = `${URL}/silent`;
  await t.subscribe({ delivery: { mode: "webhook", url: silent, secret: SECRET } });
  await t.emit();
  await database.query(
    `insert into app.events (organization_id, user_id, name, about, created_at)
     select e.organization_id, e.user_id, e.name, e.about, e.created_at from app.events as e, generate_series(2, 50)`,
  );
  const { fetch, received } = t.hook;
  const others = Promise.withResolvers<void>();
  t.hook.fetch = async (request) => {
    if (request.url === silent) {
      await others.promise;
      return { ok: false, reason: "timed_out" };
    }
    const answer = await fetch(request);
    if (received.length === 50) others.resolve();
    return answer;
  };
  t.goTo(DAY, "07:03");
  await t.deliver();
  assertEquals([received.length, new Set(received.map(({ id }) => id)).size], [50, 50]);
});

Deno.test("a run killed between sending and settling causes a second delivery with the same id", async () => {
  const t = await subscribed();
  await t.emit();
  t.goTo(DAY, "07:02");
  const claim = () => database.asService<Json>("claim_event", { at: at(DAY, "07:02") });
  const first = await claim();
  assertEquals(await claim(), null);
  t.goTo(DAY, "07:04");
  await t.deliver();
  assertEquals(t.hook.received.map(({ id }) => id), [first.event.id]);
});

Deno.test("a run that settles late, after another run continued, changes nothing", async () => {
  const t = await subscribed();
  await t.emit();
  t.goTo(DAY, "07:01");
  await t.emit({ name: "Gas" });
  t.goTo(DAY, "07:03");
  const slow = await database.asService<Json>("claim_event", { at: at(DAY, "07:03") });
  t.goTo(DAY, "07:05");
  await t.deliver();
  const ids = t.hook.received.map(({ id }) => id);
  assertEquals(ids.length, 2);
  for (const isDone of [true, false]) {
    await database.asService("settle_event", {
      subscription_id: slow.subscription_id,
      place: { at: slow.event.at, id: slow.event.id },
      is_done: isDone,
      at: at(DAY, "07:06"),
    });
    t.goTo(DAY, "09:00");
    await t.deliver();
    assertEquals(t.hook.received.map(({ id }) => id), ids);
  }
});

/** Changes that end a member's right to events about the owner's bill in the category Payroll. */
const ENDINGS: Record<string, (owner: Books, member: Books, grantId: string) => Promise<unknown>> = {
  "the grant was revoked": (_, { userId }, grantId) =>
    database.asService("revoke_grant", { user_id: userId, grant_id: grantId, at: at(DAY, "07:01") }),
  "the app may only read": (_, { userId }, grantId) =>
    database.asService("change_grant_access", {
      user_id: userId,
      grant_id: grantId,
      access: "read",
      at: at(DAY, "07:01"),
    }),
  "all tokens expired": (_, __, grantId) =>
    database.query("update oauth.tokens set expires_at = $2 where grant_id = $1", [grantId, at(DAY, "07:01")]),
  "the grant expired": (_, __, grantId) =>
    database.query("update oauth.grants set expires_at = $2 where id = $1", [grantId, at(DAY, "07:01")]),
  "the member left": (owner, { userId }) =>
    database.asService("remove_member", {
      user_id: owner.userId,
      organization_id: owner.organizationId,
      member_id: userId,
      at: at(DAY, "07:01"),
    }),
  "the member became a viewer": (_, { userId }) =>
    database.query("update identity.memberships set role = 'viewer' where user_id = $1", [userId]),
  "the person was suspended": (_, { userId }) =>
    database.query("update auth.users set banned_until = 'infinity' where id = $1", [userId]),
  "the plan ended": ({ organizationId }) =>
    database.query("update identity.organizations set plan = 'free', trial_ends_at = null where id = $1", [
      organizationId,
    ]),
  "the category became private": (owner) =>
    owner.ok("update_settings", { category: { action: "make_private", name: "Payroll" } }),
  "the bill was deleted": () => database.query("update app.expenses set deleted_at = now()"),
  "the organization is being deleted": ({ organizationId }) =>
    database.query("update identity.organizations set deletes_at = '2026-12-01' where id = $1", [organizationId]),
};
for (const [what, end] of [...Object.entries(ENDINGS), ["", undefined] as const]) {
  Deno.test(
    end ? `an event that was written before is not sent when ${what}` : "with all rights it is sent",
    async () => {
      const owner = await fresh({ day: DAY });
      const member = await owner.join();
      await owner.ok("update_settings", { category: { action: "create", name: "Payroll" } });
      const t = await subscribed(member);
      await t.emit({ by: owner, category: "Payroll" });
      await end?.(owner, member, t.app.grantId);
      t.goTo(DAY, "07:03");
      await t.deliver();
      assertEquals(t.hook.received.length, end ? 0 : 1);
      // Regaining the right does not restore the subscription.
      await database.query("update oauth.grants set access = 'write'");
      t.goTo(DAY, "07:05");
      await t.deliver();
      assertEquals(t.hook.received.length, end ? 0 : 1);
    },
  );
}

Deno.test("the end of a grant or membership ends its subscriptions", async () => {
  for (const what of ["the grant was revoked", "the member left"]) {
    const owner = await fresh({ day: DAY });
    const member = await owner.join();
    const t = await subscribed(member);
    await ENDINGS[what]!(owner, member, t.app.grantId);
    assertEquals(await database.query("select from app.event_subscriptions"), [], what);
  }
});

Deno.test("an app whose person stopped its events gets none, and can't renew until they allow it", async () => {
  const owner = await fresh({ day: DAY });
  const member = await owner.join();
  const t = await subscribed(owner);
  const allow = (isAllowed: boolean, userId = owner.userId) =>
    database.asService<Json>("allow_subscriptions", {
      user_id: userId,
      grant_id: t.app.grantId,
      is_allowed: isAllowed,
      at: at(DAY, "07:01"),
    });
  await t.emit();
  assertEquals(await allow(false, member.userId), { outcome: "unknown_grant" });
  assertEquals(await allow(false), { outcome: "changed" });
  t.goTo(DAY, "07:03");
  await t.deliver();
  assertEquals(t.hook.received.length, 0);
  assertEquals((await t.subscribe()).code, -32012);
  assertEquals(t.hook.challenges, 1, "a stopped app's receiver is not asked");
  assertEquals(await allow(true, member.userId), { outcome: "unknown_grant" });
  assertEquals((await t.subscribe()).code, -32012);
  await allow(true);
  assertEquals((await t.subscribe()).id, t.subscription.id);
  t.goTo(DAY, "07:04");
  await t.emit({ name: "Gas" });
  t.goTo(DAY, "07:06");
  await t.deliver();
  assertEquals(t.hook.received.length, 1, "none that happened before it subscribed anew");
});

Deno.test("a subscription is not stored if its person stopped events during the challenge", async () => {
  const t = await subscribed();
  const { fetch } = t.hook;
  t.hook.fetch = async (request) => {
    await database.asService("allow_subscriptions", {
      user_id: t.owner.userId,
      grant_id: t.app.grantId,
      is_allowed: false,
      at: at(DAY, "07:00"),
    });
    return await fetch(request);
  };
  assertEquals((await t.subscribe()).code, -32012);
  assertEquals(await database.query("select from app.event_subscriptions"), []);
});

Deno.test("subscribing again renews, unsubscribing ends, and a subscription expires without renewal", async () => {
  const t = await subscribed();
  t.goTo(DAY, "12:00");
  const again = await t.subscribe({ ttlMs: 1 });
  assertEquals([again.id, again.refreshBefore], [t.subscription.id, "2026-11-10T13:00:00.000Z"]);
  assertEquals(t.hook.challenges, 2);
  t.goTo(DAY, "12:58");
  await t.emit();
  t.goTo(DAY, "13:00");
  await t.deliver();
  assertEquals(t.hook.received.length, 0, "expired");
  t.goTo(DAY, "12:59");
  assertEquals((await t.subscribe({ ttlMs: 1e12 })).refreshBefore, "2026-11-17T12:59:00.000Z");
  t.goTo(DAY, "13:00");
  await t.deliver();
  assertEquals(t.hook.received.length, 1);
  const params = { name: "bill.due", delivery: { url: URL } };
  await t.emit();
  assertEquals((await t.app.ask("events/unsubscribe", params)).code, undefined);
  assertEquals((await t.app.ask("events/unsubscribe", params)).code, -32011);
  t.goTo(DAY, "13:02");
  await t.deliver();
  assertEquals(t.hook.received.length, 1);
});

Deno.test("an expired subscription starts again from the present", async () => {
  const t = await subscribed();
  t.goTo("2026-11-11", "06:59");
  await t.emit();
  t.goTo("2026-11-11", "07:01");
  await t.subscribe();
  t.goTo("2026-11-11", "07:03");
  await t.deliver();
  assertEquals(t.hook.received.length, 0);
});

Deno.test("a renewal replaces the secret and retries a failed receiver", async () => {
  const t = await subscribed();
  t.hook.status = 503;
  await t.emit();
  t.goTo(DAY, "07:02");
  await t.deliver();
  t.hook.status = 204;
  t.hook.key = Buffer.alloc(24, 1);
  await t.subscribe({
    delivery: { mode: "webhook", url: URL, secret: `whsec_${t.hook.key.toString("base64")}` },
  });
  t.goTo(DAY, "07:04");
  await t.deliver();
  assertEquals(t.hook.received.length, 2);
});

Deno.test("a renewal from an earlier cursor replays the events since then, with the same ids", async () => {
  const t = await subscribed();
  await t.emit();
  t.goTo(DAY, "07:01");
  await t.emit();
  t.goTo(DAY, "07:03");
  await t.deliver();
  const ids = t.hook.received.map(({ id }) => id);
  assertEquals([ids.length, new Set(ids).size], [2, 2]);
  await t.subscribe();
  await t.deliver();
  assertEquals(t.hook.received.length, 2, "without a cursor it goes on");
  const { cursor } = await t.subscribe({ cursor: t.hook.received[0]!.event.cursor });
  assertEquals(cursor, t.hook.received[0]!.event.cursor);
  await t.deliver();
  assertEquals(t.hook.received.map(({ id }) => id), [...ids, ids[1]]);
  assertEquals((await t.subscribe({ cursor: "2026-11-01T07:00:00+00:00~" })).truncated, true);
});

Deno.test("a permanently refused event is not sent again, but the next one is", async () => {
  for (const status of [410, 413]) {
    const t = await subscribed();
    t.hook.status = status;
    await t.emit();
    t.goTo(DAY, "07:03");
    await t.deliver();
    t.goTo(DAY, "09:00");
    await t.deliver();
    assertEquals(t.hook.received.length, 1, String(status));
    t.hook.status = 204;
    const next = await t.emit({ name: "Gas" });
    t.goTo(DAY, "09:03");
    await t.deliver();
    assertEquals(t.hook.received.map(({ event }) => event.data.ids).at(-1), [next]);
  }
});

Deno.test("bad URLs, secrets, modes and receivers are refused, and so is the eleventh subscription", async () => {
  const t = await subscribed();
  const code = async (more: Json) => (await t.subscribe(more)).code;
  const delivery = { mode: "webhook", url: URL, secret: SECRET };
  assertEquals(await code({ delivery: { ...delivery, url: "http://hooks.example/" } }), -32602);
  for (const secret of ["whsec_c2hvcnQ=", SECRET.slice(6), `whsec_${"A".repeat(200)}`]) {
    assertEquals(await code({ delivery: { ...delivery, secret } }), -32602, secret);
  }
  assertEquals(await code({ delivery: { ...delivery, mode: "push" } }), -32014);
  assertEquals(await code({ name: "bill.paid" }), -32011);
  t.hook.repeats = false;
  const refused = await t.subscribe({ delivery: { ...delivery, url: `${URL}/2` } });
  assertEquals([refused.code, refused.data], [-32015, { reason: "challenge_failed" }]);
  t.hook.repeats = true;
  for (let n = 2; n <= 10; n++) assertEquals(await code({ delivery: { ...delivery, url: `${URL}/${n}` } }), undefined);
  assertEquals(await code({ delivery: { ...delivery, url: `${URL}/11` } }), -32013);
  assertEquals(await code({ delivery: { ...delivery, url: `${URL}/10` } }), undefined, "renewing needs no room");
});

Deno.test("a webhook at a private address is refused, even if its name points there only later", async () => {
  for (const address of ["10.0.0.1", "127.0.0.1", "169.254.169.254", "::1"]) {
    const connected: string[] = [];
    const guardedFetch = createGuardedFetch({
      network: {
        resolve: (_, type) => Promise.resolve((type === "AAAA") === address.includes(":") ? [address] : []),
        connect: (to) => {
          connected.push(to);
          throw new Error("refused");
        },
        startTls: (connection) => Promise.resolve(connection),
      },
      fetch: () => Promise.reject(new Error("no fetch")),
      refusedHosts: [],
    });
    const t = await subscribed();
    t.hook.fetch = guardedFetch;
    assertEquals([(await t.subscribe()).data, connected], [{ reason: "connection_refused" }, []]);
    await t.emit();
    t.goTo(DAY, "07:03");
    await t.deliver();
    const [row] = await database.query<{ attempts: number }>("select attempts from app.event_subscriptions");
    assertEquals([row!.attempts, connected, t.hook.received], [1, [], []]);
  }
});

Deno.test("a redirect is not followed, neither for a challenge nor for an event", async () => {
  const t = await subscribed();
  await t.emit();
  t.hook.status = 307;
  t.goTo(DAY, "07:03");
  await t.deliver();
  assertEquals(t.hook.received.length, 1, "it waits");
  t.hook.challengeStatus = 307;
  assertEquals((await t.subscribe()).data, { reason: "challenge_failed" });
});
