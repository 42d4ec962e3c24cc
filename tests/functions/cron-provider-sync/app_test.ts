/** The job for the scheduler: authentication, the month, the answer, and the fetched links. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { sha256 } from "../../../shared/std/sha256.ts";
import { type Books, openBooks } from "../../_support/books.ts";
import { addLink, fakeProvider, PREVIOUS_KEY, registryOf, SECRET } from "./harness.ts";
import { addBill, database, job, later, setUp } from "./scripted_job.ts";

Deno.test("a run without links returns exactly the documented fields", async () => {
  await database.reset();
  assertEquals(await job().run(), { ok: true, period: "2026-09-01", links: 0, synced: 0, errors: [] });
});

Deno.test("a missing or wrong secret, and an invalid or unfinished month, are refused before any work", async () => {
  let calls = 0;
  const { request } = job({ database: { call: () => Promise.reject(new Error(`called ${++calls}`)) } });
  const refused: [string, HeadersInit][] = [
    ["", {}],
    ["?secret=", {}],
    ["?secret=wrong&period=2026-09", {}],
    ["", { authorization: SECRET }],
    ["?period=nonsense", { authorization: "Bearer wrong" }],
  ];
  for (const [query, headers] of refused) {
    const response = await request(`/api/cron/provider-sync${query}`, { headers });
    assertEquals([response.status, (await response.json()).error.code], [401, "unauthorized"], query);
  }
  const headers = { authorization: `Bearer ${SECRET}` };
  const months = [
    ...["", "2026", "2026-9", "2026-13", "2026-00", "2026-09-02", "2026-09-01T00:00:00Z", "09-2026", "1026-09"],
    ...["2026-10", "2026-10-01", "2026-11", "2027-01", "2026-09&period=2026-08", "2026-09%0a", "previous"],
  ];
  for (const month of months) {
    const response = await request(`/api/cron/provider-sync?period=${month}`, { headers });
    assertEquals([response.status, (await response.json()).error.code], [400, "invalid_request"], month);
  }
  assertEquals(calls, 0);
  assertEquals((await request("/api/cron/provider-sync", { method: "POST", headers })).status, 405);
});

Deno.test("an unreachable database causes 503", async () => {
  const { request } = job({
    database: {
      call: async () => {
        const { AppError } = await import("../../../shared/errors.ts");
        throw new AppError("unavailable", "The service cannot reach its database.");
      },
    },
  });
  const response = await request(`/functions/v1/cron-provider-sync?secret=${SECRET}`);
  assertEquals([response.status, (await response.json()).error.code], [503, "unavailable"]);
});

Deno.test("links are counted unless they have ended; only eligible ones are fetched", async () => {
  const { registry, asked, books } = await setUp();
  const poor = await openBooks(database, { day: "2026-10-01" });
  const connect = async (owner: Books, name: string, status: string) =>
    await addLink(database, {
      organizationId: owner.organizationId,
      billId: await addBill(owner, name),
      provider: "power",
      credential: { account: name },
      status,
    });
  for (const status of ["pending", "needs_reauth", "paused", "revoked"]) await connect(books, status, status);
  await connect(poor, "without the plan", "active");
  const paused = await connect(books, "paused bill", "active");
  await database.query("update app.expenses set status = 'paused' where name = 'paused bill'");
  await database.query("update identity.organizations set plan = 'pro' where id = $1", [poor.organizationId]);
  // A statement from the time when the plan still included fetching doesn't count either.
  await database.query(
    `insert into app.provider_statements (organization_id, link_id, period, amount_minor, currency, payload_sha256, status, reason, fetched_at)
     select organization_id, id, '2026-09-01', 1, 'EUR', repeat('0', 64), 'ignored', 'not_due', now() from app.provider_links where organization_id = $1`,
    [poor.organizationId],
  );
  const answer = await job({ registry }).run();
  assertEquals([answer.links, answer.synced, asked], [6, 1, [{ account: "acme", month: "2026-09-01" }]]);
  assert(paused);
});

Deno.test("a run re-encrypts credentials under an earlier key, even of paused links, but not moved ones", async () => {
  const { registry, linkId, asked } = await setUp("power", { key: PREVIOUS_KEY });
  const elsewhere = await openBooks(database, { day: "2026-10-01" });
  const pausedLink = await addLink(database, {
    organizationId: elsewhere.organizationId,
    billId: await addBill(elsewhere),
    provider: "power",
    credential: { account: "waits" },
    key: PREVIOUS_KEY,
    status: "paused",
  });
  const env = { CREDENTIALS_KEY: `${btoa("k".repeat(32))},${PREVIOUS_KEY}` };
  // The query of docs/running.md for dropping the earlier key.
  const count = async () => {
    const id = sha256("k".repeat(32)).toString("hex").slice(0, 8);
    const [row] = await database.query<{ count: number }>(
      "select count(*)::int from app.provider_credentials where envelope ->> 'key_id' <> $1",
      [id],
    );
    return row!.count;
  };
  assertEquals(await count(), 2);
  assertEquals((await job({ registry, env }).run()).synced, 1);
  assertEquals(await count(), 0);
  assertEquals(
    await database.query("select counts -> 'resealed' as resealed from jobs.latest_runs where stage = 'sync'"),
    [{ resealed: 2 }],
  );
  await database.query("delete from app.provider_credentials where link_id = $1", [pausedLink]);
  assertEquals(
    (await job({ registry, now: () => later(1) }).run("2026-09")).errors,
    [],
    "the first key alone opens it now",
  );

  const other = await openBooks(database, { day: "2026-10-01" });
  const moved = await addLink(database, {
    organizationId: other.organizationId,
    billId: await addBill(other),
    provider: "power",
    credential: null,
  });
  await database.query(
    "insert into app.provider_credentials (link_id, envelope, updated_at) select $1, envelope, now() from app.provider_credentials where link_id = $2",
    [moved, linkId],
  );
  const answer = await job({ registry, now: () => later(2) }).run();
  assertEquals(answer.errors.map(({ code, ref }) => [code, ref]), [["unreadable_credential", moved]]);
  assertEquals(asked.length, 2);
  await database.query("delete from app.provider_credentials where link_id = $1", [moved]);
  assertEquals((await job({ registry, now: () => later(3) }).run()).errors.map(({ code }) => code), ["auth"]);
});

Deno.test("the job's response and log contain no secret, even when an adapter throws", async () => {
  const canary = "c4nary-of-the-job";
  const { linkId } = await setUp("power", { credential: { account: canary } });
  const broken = fakeProvider("power", ({ credential }) => {
    throw new TypeError(`Invalid URL: https://x/?key=${credential.account}`, { cause: new Error(credential.account) });
  });
  const sync = job({ registry: registryOf(broken) });
  const answer = await sync.run();
  assertEquals(answer.errors.map(({ code, ref }) => [code, ref]), [["defect", linkId]]);
  const ours = await database.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname in ('app', 'identity', 'oauth', 'billing', 'jobs', 'cron', 'net')`,
  );
  const dump = await Promise.all(ours.map(({ name }) => database.query(`select * from ${name}`)));
  const said = JSON.stringify([answer, dump]) + sync.lines.join("\n");
  assert(said.includes("aes-gcm-hkdf") && !said.includes(canary) && !said.includes(btoa(canary)));
  assertStringIncludes(sync.lines.join("\n"), "provider_defect");
});
