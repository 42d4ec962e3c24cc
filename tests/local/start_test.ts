/** The command-line contract of `deno task start`; correction 7 (one stack per folder) is here too. */
import { assert, assertEquals, assertMatch, assertNotEquals, assertStringIncludes } from "@std/assert";
import { join } from "node:path";
import { refuseOldDeno } from "../../local/deno_version.ts";
import { startStack } from "../_support/stack.ts";
import { runStart } from "../_support/start_command.ts";

const stack = await startStack({ args: ["--no-demo"], env: { CRON_SECRET: "c".repeat(32) } });
let ended: Promise<number> | undefined;
const end = () => ended ??= stack.stop({ keep: true });
Deno.test.afterAll(async () => {
  await end();
  await Deno.remove(stack.folder, { recursive: true });
});

Deno.test("the embedded stack prints one line of JSON with everything that scripts need", () => {
  const { pid, site_url, mcp_url, functions_url, supabase_url, local_url, mail_url, database_url } = stack;
  assertMatch(site_url, /^http:\/\/127\.0\.0\.1:\d+$/);
  assertEquals({ mcp_url, functions_url, supabase_url, mail_url, database_url }, {
    mcp_url: `${site_url}/api/mcp`,
    functions_url: `${site_url}/functions/v1`,
    supabase_url: site_url,
    mail_url: `${local_url}/mail`,
    database_url: Deno.env.has("TEST_DATABASE_URL") ? database_url : null,
  });
  assertMatch(stack.smtp_url!, /^smtp:\/\/127\.0\.0\.1:\d+$/);
  assertMatch(local_url!, /^http:\/\/127\.0\.0\.1:\d+\/[0-9a-f-]{36}$/);
  assertNotEquals(new URL(local_url!).port, new URL(site_url).port);
  assertEquals(stack.stand_ins.map(({ name }) => name), [
    "Mail",
    "Forwarded mail",
    "Limits",
    "Bill providers",
    "Payments",
    ...(Deno.env.has("TEST_DATABASE_URL") ? [] : ["Database"]),
    "Platform",
  ]);
  assert(pid > 0);
  assertMatch(stack.publishable_key, /^sb_publishable_/);
  assertMatch(stack.secret_key, /^sb_secret_/);
  assert(stack.payment_webhook_secret.length >= 32);
  assertEquals(stack.cron_secret, "c".repeat(32), "the environment goes before secrets.json");
});

Deno.test("the embedded stack writes the same object to a file that only its owner can read", async () => {
  const file = join(stack.folder, "running.json");
  const { mode } = await Deno.stat(file);
  assertEquals(mode! & 0o777, 0o600);
  // Without the handle's functions.
  const { folder: _, log: __, ...printed } = JSON.parse(JSON.stringify(stack));
  assertEquals(JSON.parse(await Deno.readTextFile(file)), printed);
  assertEquals((await Deno.stat(join(stack.folder, "secrets.json"))).mode! & 0o777, 0o600);
});

Deno.test("the embedded stack listens only on loopback and is healthy", async () => {
  assertEquals(await statusOf(`${stack.site_url}/api/health`), 200);
});

Deno.test("the embedded stack refuses a second stack on the same folder, by name, with exit code 1", async () => {
  const second = await runStart("--port", "0", "--data", stack.folder);
  assertEquals([second.code, second.stdout], [1, ""]);
  assertMatch(second.stderr, new RegExp(`in use by another stack \\(${stack.site_url}, process ${stack.pid}\\)`));
  assertEquals(await statusOf(`${stack.site_url}/api/health`), 200);
});

Deno.test("the embedded stack refuses a port in use", async () => {
  const folder = await Deno.makeTempDir();
  const { port } = new URL(stack.site_url);
  const second = await runStart("--port", port, "--data", folder);
  assertEquals(second.code, 1);
  assertStringIncludes(second.stderr, `Port ${port} is in use. Choose another with --port`);
  await Deno.remove(folder, { recursive: true });
});

// The last test, because it stops the stack.
Deno.test("the embedded stack ends on SIGTERM with exit code 0, removes running.json, and keeps its secrets unless --fresh", async () => {
  assertEquals(await end(), 0);
  const names = await Array.fromAsync(Deno.readDir(stack.folder), ({ name }) => name);
  assert(!names.includes("running.json"));

  const keyAfter = async (...args: string[]) => {
    const again = await startStack({ empty: true, args: ["--no-demo", "--data", stack.folder, ...args] });
    await again.stop();
    return again.secret_key;
  };
  assertEquals(await keyAfter(), stack.secret_key);
  if (!Deno.env.has("TEST_DATABASE_URL")) assertNotEquals(await keyAfter("--fresh"), stack.secret_key);
});

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url);
  await response.body?.cancel();
  return response.status;
}

Deno.test("a terminal shows the welcome with the user's folder, and a file gets the log", async () => {
  const folder = await Deno.makeTempDir({ prefix: "expense stack " });
  const child = new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "start", "--port", "0", "--no-demo", "--no-schedules", "--demo-rates", "--data", folder],
    cwd: new URL("../../", import.meta.url),
    env: { NO_COLOR: "1", npm_command: "exec" },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  let welcome = "";
  const output = child.stdout.pipeThrough(new TextDecoderStream());
  for await (const text of output.values({ preventCancel: true })) {
    welcome += text;
    if (welcome.includes("Ctrl-C")) break;
  }
  assertMatch(welcome, /^Creating the database\. The first one takes about \d+ seconds\.$/m);
  assertStringIncludes(welcome, `npx -y deno@${Deno.version.deno} task demo --data '${folder}'`);
  assertStringIncludes(welcome, `${folder}/stack.log`);
  assertMatch(welcome, /Exchange rates +are a snapshot of \d{4}-\d\d-\d\d: values are provisional/);
  assertMatch(welcome, /In place of the real thing\n\n {2}Mail +stays in the mailbox/);
  const site = /Site +(\S+)/.exec(welcome)![1]!;
  assertEquals(
    await fetch(`${site}/login`).then((response) => response.body?.cancel().then(() => response.status)),
    200,
  );
  assertStringIncludes(await Deno.readTextFile(join(folder, "stack.log")), '"route":"/login"');
  const { pid } = JSON.parse(await Deno.readTextFile(join(folder, "running.json")));
  Deno.kill(pid, "SIGINT");
  assertEquals([await new Response(child.stderr).text(), (await child.status).code], ["", 0]);
  const farewell = (await Array.fromAsync(output)).join("");
  assertStringIncludes(farewell, `Stopped. Your data is in ${folder}; npx -y deno@${Deno.version.deno} task start`);
  await Deno.remove(folder, { recursive: true });
});

const REFUSED: [args: string[], message: RegExp][] = [
  [["--prot", "1"], /Unknown option '--prot'/],
  [["--port", "x"], /--port x is not a port/],
  [["--db", "mysql://x"], /neither "embedded" nor a postgres/],
  [["--site-url", "nowhere"], /--site-url nowhere is not a URL/],
  [["--site-url", "https://expenses.test"], /expenses\.test can be reached by others.*--accept-public-risk/],
  [["--site-url", "http://192.168.1.7:7400"], /can be reached by others/],
];
for (const [args, message] of REFUSED) {
  Deno.test(`deno task start refuses ${args.join(" ")} with exit code 1`, async () => {
    const { code, stdout, stderr } = await runStart(...args);
    assertEquals([code, stdout], [1, ""]);
    assertMatch(stderr, message);
    assertMatch(stderr, /--no-schedules/);
  });
}

Deno.test("a folder that can't be created is named, with a remedy", async () => {
  const file = await Deno.makeTempFile();
  const { code, stderr } = await runStart("--port", "0", "--data", `${file}/books`);
  assertEquals([code, stderr], [
    1,
    `${file}/books can't be used: a file is in the way. Choose another folder with --data.\n`,
  ]);
  await Deno.remove(file);
});

Deno.test("an outdated Deno is reported in one line", () => {
  const told = ["2.1.4", "2.7.9", "2.8.0", "2.9.6", "2.10.0", "3.0.0"].map((
    version,
  ) => [version, refuseOldDeno(version)]);
  assertEquals(told.filter(([, refusal]) => refusal).map(([version]) => version), ["2.1.4", "2.7.9"]);
  assertEquals(told[0]![1], "Deno 2.1.4 is too old: 2.8 or newer is needed. Try: npx -y deno@2.9.6 task start");
});

Deno.test("a foreign folder is neither used nor emptied", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(join(folder, "thesis.txt"), "years of work");
  for (const args of [[], ["--fresh"]]) {
    const { code, stderr } = await runStart("--port", "0", "--data", folder, ...args);
    assertEquals(code, 1);
    assertMatch(stderr, /not empty and was not made by this stack/);
  }
  assertEquals(await Deno.readTextFile(join(folder, "thesis.txt")), "years of work");
  await Deno.remove(folder, { recursive: true });
});

Deno.test({
  name: "a damaged database is reported with a remedy",
  ignore: Deno.env.has("TEST_DATABASE_URL"),
  async fn() {
    const stack = await startStack({ args: ["--no-demo"] });
    await stack.stop({ keep: true });
    await Deno.truncate(join(stack.folder, "postgres/global/pg_control"));
    const { code, stderr } = await runStart("--port", "0", "--data", stack.folder, "--demo-rates");
    assertEquals([code, stderr], [
      1,
      `The database in ${stack.folder} can't be opened: its files seem damaged. Put a copy of the folder in its place, ` +
      "or start with --fresh, which deletes all data.\n",
    ]);
    await Deno.remove(stack.folder, { recursive: true });
  },
});

Deno.test("a database whose creation was killed is created again", async () => {
  const folder = await Deno.makeTempDir();
  await Deno.writeTextFile(join(folder, "expense-service-stack"), "");
  await Deno.mkdir(join(folder, "postgres"));
  await Deno.writeTextFile(join(folder, "postgres", "PG_VERSION"), "17\n");
  const stack = await startStack({ empty: true, args: ["--no-demo", "--data", folder] });
  assertEquals(await stack.stop(), 0);
  await Deno.remove(folder, { recursive: true });
});
