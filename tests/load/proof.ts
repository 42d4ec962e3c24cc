/** The harness tests itself: a short run finds and names each planted defect. */
import { assert, assertEquals } from "@std/assert";
import { startStandIn } from "../../bench/hops/world.ts";
import { postgresDatabase } from "../../local/database/postgres.ts";
import { startCluster } from "../_support/cluster.ts";
import { interruptOnce } from "../_support/interrupted_run.ts";
import { Traffic } from "./model/traffic.ts";
import { print } from "./report.ts";
import { soak } from "./soak.ts";
import type { Functions } from "./world/functions.ts";
import type { Plant } from "./world/plants.ts";

const FOUND_BY: Record<Plant, RegExp> = {
  "lost write": /should be \d+ \w+ and is absent|counts \d+ instead of \d+|answered totals/,
  "foreign row": /got a row of another one/,
  "double mail": /reminders were mailed twice/,
  "leak": /the memory of mcp grows/,
  "logged token": /a token is in the logs/,
};

for (const [plant, pattern] of Object.entries(FOUND_BY)) {
  Deno.test(`a planted ${plant} is found`, { sanitizeOps: false, sanitizeResources: false }, async () => {
    const { problems } = await soak({ seconds: 6, seed: 7, organizations: 6, rate: 30, plant });
    assert(problems.some((problem) => pattern.test(problem)), problems.join("\n") || "nothing was found");
    print(problems.find((problem) => pattern.test(problem))!.slice(0, 160));
  });
}

Deno.test("a 503 counts as a failure, except at full load", async () => {
  let answer = () => new Response(null, { status: 503, headers: { "retry-after": "5" } });
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, () => answer());
  const traffic = new Traffic({ instanceOf: () => ({ port: server.addr.port }) } as unknown as Functions);
  const failures = async () => {
    await traffic.send({ kind: "webhook", slug: "payment-webhook", path: "/" });
    return traffic.problems.splice(0).length;
  };
  assertEquals(await failures(), 1);
  traffic.exceed();
  assertEquals(await failures(), 0);
  answer = () => new Response(null, { status: 503 });
  assertEquals(await failures(), 1, "it does not say when to come again");
  traffic.keep();
  answer = () => new Response(null, { status: 503, headers: { "retry-after": "5" } });
  assertEquals(await failures(), 1);
  await server.shutdown();
});

Deno.test("a request without a free connection waits for the next connection, not for a job", {
  sanitizeOps: false,
  sanitizeResources: false,
}, async () => {
  const cluster = await startCluster();
  const admin = postgresDatabase(cluster.urlOf("supabase_admin", "supabase_exposed"), { max: 1 });
  await admin.exec(`
    create function public.rest(seconds float8) returns boolean language sql as 'select pg_sleep(seconds) is null';
    grant execute on function public.rest to service_role;
  `);
  await admin.close();
  const standIn = await startStandIn(cluster.urlOf("authenticator", "supabase_exposed"));
  const rest = async (seconds: number) => {
    const body = JSON.stringify({ seconds });
    const answer = await fetch(`http://127.0.0.1:${standIn.port}/rest/v1/rpc/rest`, { method: "POST", body });
    assertEquals([answer.status, await answer.text()], [200, "false"]);
  };
  try {
    await Promise.all(Array.from({ length: 10 }, () => rest(0.1)));
    const job = rest(4).then(() => "the job");
    const others = Promise.all(Array.from({ length: 40 }, () => rest(0.05))).then(() => "the others");
    assertEquals(await Promise.race([job, others]), "the others");
    await job;
  } finally {
    await standIn.stop();
    await cluster.stop();
  }
});

for (
  const [name, args, processes] of [
    ["the benchmark", ["bench/run.ts", "--short", "--only", "get_context"], 12],
    ["a load run", ["tests/load/run.ts", "--minutes", "1"], 14],
  ] as const
) {
  Deno.test(`${name} that is interrupted ends all of its processes`, async () => {
    const run = ["run", "--lock=tests/deno.lock", "--quiet", "--no-check", "-A", ...args];
    const { survivors } = await interruptOnce(run, { processes, signal: "SIGINT" });
    assertEquals(survivors, []);
  });
}
