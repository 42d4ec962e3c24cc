/**
 * One request has one id: in the logs of the front door, the functions and the database, and in the response to the
 * person or the assistant. The front door is the deployable one, as a separate process.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { postgresDatabase } from "../../local/database/postgres.ts";
import { readMigrations } from "../../local/database/migrations.ts";
import { startCluster } from "../_support/cluster.ts";
import { newMigratedDatabase } from "../_support/new_database.ts";
import { signIn, startStack } from "../_support/stack.ts";
import { waitFor } from "../_support/wait_for.ts";
import { connectFor, personOf } from "../e2e/person.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

const cluster = await startCluster({ settings: { log_line_prefix: "[%a] " } });
const { url } = await newMigratedDatabase(cluster.urlOf("postgres", "supabase_closed"), await readMigrations());
const database = postgresDatabase(url, { max: 1 });
// Without it, the functions ignore a front door's id.
const FRONT_DOOR_SECRET = "a-secret-of-more-than-thirty-two-bytes";
const stack = await startStack({
  args: ["--db", url, "--no-demo", "--no-schedules"],
  env: { FRONT_DOOR_SECRET },
});
const door = await startFrontDoor();
Deno.test.afterAll(async () => {
  await door.stop();
  await stack.stop();
  await database.close();
  await cluster.stop();
});

/** `deno serve local/front_door/serve.ts`, before the stack's functions. */
async function startFrontDoor() {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["serve", "--no-prompt", "--allow-net", "--allow-env", "--host", "127.0.0.1", "--port", "0"]
      .concat(`${ROOT}local/front_door/serve.ts`),
    env: { FUNCTIONS_URL: stack.functions_url, FRONT_DOOR_SECRET, NO_COLOR: "1" },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let log = "";
  const ended = (async () => {
    for await (const text of child.stderr.pipeThrough(new TextDecoderStream())) log += text;
  })();
  const site = await waitFor(() => Promise.resolve(/http:\/\/[\d.:]+\d/.exec(log)?.[0]));
  return {
    site,
    log: () => log,
    async stop() {
      child.kill("SIGTERM");
      await ended;
      await child.status;
    },
  };
}

/** The lines of a log with the id, whenever they arrive. */
const linesWith = (log: () => string, id: string) =>
  waitFor(() => {
    const lines = log().split("\n").filter((line) => line.includes(id));
    return Promise.resolve(lines.length > 0 ? lines : undefined);
  });

/** Every log has lines of the request, and the database's log contains the error. */
async function assertSeen(id: string): Promise<void> {
  assertMatch(id, /^[0-9a-f-]{36}$/);
  assertMatch((await linesWith(cluster.log, `[request ${id}]`)).join("\n"), /ERROR: .*payments.* does not exist/);
  const [asked] = (await linesWith(door.log, id)).map((line) => JSON.parse(line));
  assertEquals([asked.event, asked.function], ["request", "front-door"]);
  const events = (await linesWith(stack.log, id)).map((line) => JSON.parse(line).event);
  assert(events.some((event) => event.endsWith("failure")), events.join());
}

Deno.test("a failing tool and a failing page return the id that is in all three logs", async () => {
  const { browser } = await signIn(stack, "mira@example.com");
  const client = await connectFor(personOf(stack, "mira@example.com"), stack.mcp_url);
  const { access_token: token } = client.tokens();
  await client.client.close();
  const call = async () => {
    const response = await fetch(`${door.site}/api/mcp`, {
      method: "POST",
      headers: { "authorization": `Bearer ${token}`, "content-type": "application/json", "accept": "application/json" },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method: "tools/call",
        params: { name: "list_expenses", arguments: {} },
      }),
    });
    return { result: (await response.json()).result, id: response.headers.get("x-request-id")! };
  };
  assertEquals((await call()).result.structuredContent.ok, true);
  // Between transactions the connection has no user.
  const idle = await database.query("select from pg_stat_activity where application_name like 'request %'");
  assertEquals(idle.length, 0);

  await database.exec("alter table app.payments rename to mislaid");
  const { result, id } = await call();
  assertEquals(result.structuredContent.error.details.request_id, id);
  assertEquals(result._meta.request_id, id);
  await assertSeen(id);

  const page = await fetch(`${door.site}/books`, { headers: { cookie: browser.cookieHeader } });
  const [, shown] = /class="request-id">[^<]*<code>([^<]+)<\/code>/.exec(await page.text())!;
  assertEquals([page.status, page.headers.get("x-request-id")], [500, shown!]);
  await assertSeen(shown!);
});

Deno.test("a refused tool call returns its request id too", async () => {
  await database.exec("alter table app.mislaid rename to payments");
  const client = await connectFor(personOf(stack, "mira@example.com"), stack.mcp_url);
  const result = await client.client.callTool({ name: "undo_change", arguments: { change_id: "chg_000000000000000" } });
  assertEquals(result.isError, true);
  assertMatch(String(result._meta?.request_id), /^[0-9a-f-]{36}$/);
  await client.client.close();
});
