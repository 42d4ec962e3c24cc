/**
 * The embedded stack upgrades the books in its data folder, or leaves them unchanged: broken migrations, and power cuts
 * in between.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { startStack, type TestStack } from "../_support/stack.ts";
import { connectFor, newPerson, personOf } from "../e2e/person.ts";
import { newCheckout } from "./checkout.ts";

const EMAIL = "upgrade@example.com";
const EXPAND = "alter table app.expenses add column planted text;";
/** Without a copy, the first file would stay applied when the second fails. */
const DESTRUCTIVE = "drop schema billing cascade;";
const BROKEN = "select nothing from nowhere;";

/** A folder with books in it, created by today's version. */
async function folderWithBooks(): Promise<TestStack> {
  const stack = await startStack({ args: ["--no-demo"] });
  const { call, client } = await connectFor(await newPerson(stack, EMAIL), stack.mcp_url);
  const { ok } = await call("log_expenses", { items: [{ name: "Kept lunch", amount: "14.50" }] });
  assert(ok);
  await client.close();
  assertEquals(await stack.stop({ keep: true }), 0);
  return stack;
}

/** The old version starts and has its books. */
async function assertBooks(before: TestStack): Promise<void> {
  const stack = await before.restart();
  await assertBooksAt(stack);
  assertEquals(await stack.stop({ keep: true }), 0);
  assertEquals((await names(stack.folder)).filter((name) => /before|scrap/.test(name)), []);
}

async function assertBooksAt(stack: TestStack): Promise<void> {
  const { call, client } = await connectFor(personOf(stack, EMAIL), stack.mcp_url);
  const { data } = await call("list_expenses", {});
  await client.close();
  assertEquals(data.rows.map(({ name }: { name: string }) => name), ["Kept lunch"]);
}

const names = (folder: string) => Array.fromAsync(Deno.readDir(folder), ({ name }) => name);

const ignore = Deno.env.has("TEST_DATABASE_URL");

Deno.test({
  name: "a failed upgrade keeps the books unchanged, reports it, and the old version starts",
  ignore,
}, async () => {
  const before = await folderWithBooks();
  const next = await newCheckout({ "20990101000000_lose.sql": DESTRUCTIVE, "20990102000000_broken.sql": BROKEN });
  const { code, stderr } = await next.start(before.folder).ended;
  assertEquals(code, 1);
  assertMatch(
    stderr,
    /^The upgrade failed and your books are as they were; start the version that you had before\. /m,
  );
  assertMatch(stderr, /20990102000000_broken\.sql line 1/);
  assert(!/--fresh|start over/.test(stderr), stderr);
  await assertBooks(before);
  await next.remove();
  await Deno.remove(before.folder, { recursive: true });
});

Deno.test({ name: "the next start reverts an upgrade that was killed halfway", ignore }, async () => {
  const before = await folderWithBooks();
  const next = await newCheckout({
    "20990101000000_lose.sql": DESTRUCTIVE,
    "20990102000000_slow.sql": "select pg_sleep(600);",
  });
  const { process, ended } = next.start(before.folder);
  while (!(await names(before.folder)).includes("postgres.before")) await pause();
  // The first file is probably applied by then, but nobody may see it.
  await pause(3000);
  // Kills the task runner's child, which owns the database.
  for (const pid of await childrenOf(process.pid)) Deno.kill(pid, "SIGKILL");
  await ended;
  assert((await names(before.folder)).includes("postgres.before"));
  await assertBooks(before);
  await next.remove();
  await Deno.remove(before.folder, { recursive: true });
});

Deno.test({
  name: "a successful upgrade keeps the books and leaves no copy, and the old version runs on it after a rollback",
  ignore,
}, async () => {
  const before = await folderWithBooks();
  const next = await newCheckout({ "20990101000000_expand.sql": EXPAND });
  const { ready, ended } = next.start(before.folder);
  const running = JSON.parse(await ready);
  await assertBooksAt({ ...before, ...running });
  Deno.kill(running.pid, "SIGTERM");
  assertEquals((await ended).code, 0);
  assert(!(await names(before.folder)).some((name) => /before|scrap/.test(name)));
  await assertBooks(before);
  await next.remove();
  await Deno.remove(before.folder, { recursive: true });
});

const pause = (ms = 20) => new Promise((resolve) => setTimeout(resolve, ms));

/** A process and all its descendants. */
async function childrenOf(pid: number): Promise<number[]> {
  const children = await Deno.readTextFile(`/proc/${pid}/task/${pid}/children`).catch(() => "");
  const below = await Promise.all(
    children.trim().split(/\s+/).filter(Boolean).map((child) => childrenOf(Number(child))),
  );
  return [...below.flat(), pid];
}
