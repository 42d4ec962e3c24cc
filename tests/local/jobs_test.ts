/** The stand-ins for pg_cron, pg_net and Vault: a migration's schedules run, with the secret, after commit. */
import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import type { SqlDatabase } from "../../local/database/sql.ts";
import { nextRun, startCron } from "../../local/jobs/cron.ts";
import { startNet } from "../../local/jobs/net.ts";
import { createLog } from "../../shared/log.ts";
import { openDatabase } from "../_support/database.ts";

const log = createLog(() => {});

/** A server that records its requests, and a way to wait for one. */
function listener() {
  const requests: { method: string; path: string; authorization: string | null; body: string }[] = [];
  let heard = Promise.withResolvers<void>();
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    requests.push({
      method: request.method,
      path: pathname + search,
      authorization: request.headers.get("authorization"),
      body: await request.text(),
    });
    heard.resolve();
    if (pathname === "/slow") await new Promise((resolve) => setTimeout(resolve, 300));
    return Response.json({ ok: true }, { status: pathname === "/broken" ? 500 : 200 });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    requests,
    async next() {
      await heard.promise;
      heard = Promise.withResolvers();
    },
    close: () => server.shutdown(),
  };
}

/** The response to a queued request, after its arrival. */
async function answerTo(database: SqlDatabase, id: number): Promise<Record<string, unknown>> {
  for (;;) {
    const [row] = await database.query("select * from net._http_response where id = $1", [id]);
    if (row) return row;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Jobs of other tests stay scheduled. */
const SCHEDULED = { sanitizeOps: false, sanitizeResources: false };

const database = await openDatabase();
// The migrations' jobs have separate tests.
await database.exec("delete from cron.job");
const server = listener();
const net = await startNet(database, { log });
let offset = 0;
const cron = await startCron(database, { clock: () => new Date(Date.now() + offset), log });
const schedule = (name: string, when: string, command: string) =>
  database.query("select cron.schedule($1, $2, $3)", [name, when, command]);
/** A run is recorded when it ends; its request may have arrived earlier. */
const recorded = async (runs: string, atLeast: number) => {
  for (;;) {
    const rows = await database.query(
      `select * from cron.job_run_details where status in ('succeeded', 'failed') and ${runs}`,
    );
    if (rows.length >= atLeast) return rows;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

Deno.test.afterAll(async () => {
  await cron.stop();
  await net.stop();
  await server.close();
  await database.close();
});

Deno.test("a job runs every second, sends the bearer from the vault, and is recorded", SCHEDULED, async () => {
  await database.query("select vault.create_secret('s3cret', 'jobs_test')");
  await schedule(
    "tick",
    "1 second",
    `select net.http_get('${server.url}/tick', '{"a":"b c&d"}', jsonb_build_object('Authorization', 'Bearer ' ||
       (select decrypted_secret from vault.decrypted_secrets where name = 'jobs_test')))`,
  );
  await server.next();
  await server.next();
  assertEquals(server.requests[0], {
    method: "GET",
    path: "/tick?a=b%20c%26d",
    authorization: "Bearer s3cret",
    body: "",
  });
  await database.query("select cron.unschedule('tick')");
  assert((await recorded("true", 2)).every(({ status }) => status === "succeeded"));
});

Deno.test("moving the clock to just before a daily job makes it run", SCHEDULED, async () => {
  await schedule("daily", "0 8 * * *", `select net.http_get('${server.url}/daily')`);
  offset = Date.parse("2031-03-02T07:59:59.500Z") - Date.now();
  cron.reschedule();
  // A last tick may come in between.
  while (server.requests.at(-1)?.path !== "/daily") await server.next();
  assert(Date.now() + offset >= Date.parse("2031-03-02T08:00:00Z"));
  await database.query("select cron.unschedule('daily')");
});

Deno.test("a failing job is recorded and blocks nothing", SCHEDULED, async () => {
  await schedule("broken", "1 second", "select 1/0");
  await schedule("fine", "1 second", `select net.http_get('${server.url}/fine')`);
  await server.next();
  assertEquals(server.requests.at(-1)!.path, "/fine");
  const [run] = await recorded("status = 'failed'", 1);
  assertMatch(String(run!.return_message), /division by zero/);
  await database.query("select cron.unschedule('broken'), cron.unschedule('fine')");
});

Deno.test("a job replaces another one of the same name", SCHEDULED, async () => {
  await schedule("same", "0 8 * * *", "select 1");
  await schedule("same", "0 9 * * *", "select 2");
  assertEquals(await database.query("select schedule, command from cron.job where jobname = 'same'"), [
    { schedule: "0 9 * * *", command: "select 2" },
  ]);
});

Deno.test("schedules that pg_cron rejects are rejected", SCHEDULED, async () => {
  for (const wrong of ["60 seconds", "every day", "0 0 8 * * *", "@daily", "0 8 * * L"]) {
    await assertRejects(() => schedule("wrong", wrong, "select 1"), Error, "invalid schedule");
  }
});

Deno.test("responses, failures and timeouts are kept; rolled-back requests are not sent", SCHEDULED, async () => {
  const ask = async (path: string, timeout = 1000) => {
    const [row] = await database.query<{ id: number }>(
      "select net.http_get($1, timeout_milliseconds => $2) as id",
      [path, timeout],
    );
    return await answerTo(database, row!.id);
  };
  const ok = await ask(`${server.url}/plain`);
  assertEquals([ok.status_code, ok.content, ok.timed_out, ok.error_msg], [200, '{"ok":true}', false, null]);
  assertEquals((await ask(`${server.url}/broken`)).status_code, 500);
  const slow = await ask(`${server.url}/slow`, 50);
  assertEquals([slow.status_code, slow.timed_out, slow.error_msg], [null, true, "Timeout of 50 ms reached"]);
  const refused = await ask("http://127.0.0.1:1/");
  assertEquals([refused.status_code, refused.timed_out], [null, false]);
  assert(refused.error_msg);

  const before = server.requests.length;
  await database.transaction(async (session) => {
    await session.query("select net.http_get($1)", [`${server.url}/never`]);
    throw new Error("changed my mind");
  }).catch(() => {});
  await ask(`${server.url}/after`);
  assertEquals(server.requests.slice(before).map(({ path }) => path), ["/after"]);
});

Deno.test("two workers on one database run a due job once, and again after the clock moves", async () => {
  await using database = await openDatabase();
  await database.exec("delete from cron.job; create table runs (); ");
  await database.query("select cron.schedule('shared', '0 8 * * *', 'insert into runs default values')");
  let isReal = true;
  const runAtEight = async () => {
    const offset = Date.parse("2031-03-02T07:59:59.700Z") - Date.now();
    const clock = () => new Date(Date.now() + offset);
    const workers = await Promise.all([1, 2].map(() => startCron(database, { clock, log, isReal: () => isReal })));
    while (clock().getTime() < Date.parse("2031-03-02T08:00:00.200Z")) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    await Promise.all(workers.map((worker) => worker.stop()));
    const [row] = await database.query("select count(*)::int as count from runs");
    return row!.count;
  };
  assertEquals([await runAtEight(), await runAtEight()], [1, 1]);
  isReal = false;
  assertEquals(await runAtEight(), 3);
});

Deno.test("nextRun() works in UTC, for five fields, seconds and the last day of the month", () => {
  const next = (schedule: string, now: string) => nextRun(schedule, new Date(now))?.toISOString();
  assertEquals(next("0 8 * * *", "2026-11-20T08:00:00Z"), "2026-11-21T08:00:00.000Z");
  assertEquals(next("*/10 8-11 * * *", "2026-11-20T11:50:00Z"), "2026-11-21T08:00:00.000Z");
  assertEquals(next("0 6 2 * *", "2026-11-20T00:00:00Z"), "2026-12-02T06:00:00.000Z");
  assertEquals(next("0 6 $ * *", "2028-02-01T00:00:00Z"), "2028-02-29T06:00:00.000Z");
  assertEquals(next("30 seconds", "2026-11-20T00:00:00Z"), "2026-11-20T00:00:30.000Z");
});
