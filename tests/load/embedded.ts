/**
 * The embedded stack under the same faults: killed at any instant, even while it starts; a full disk; two starts on one
 * folder. tests/upgrade/embedded_test.ts tests interrupted upgrades. `RUNS` makes it longer.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { connectFor, type Json, newPerson, personOf } from "../e2e/person.ts";
import { killChild, whenInterrupted } from "../_support/interrupt.ts";
import { startStack, type TestStack } from "../_support/stack.ts";
import { runStart } from "../_support/start_command.ts";
import { print } from "./report.ts";
import { mountDisk } from "./world/disk.ts";

const RUNS = Number(Deno.env.get("RUNS") ?? 4);
/** Continues until enough is written, because slow machines need more runs. */
const MOST_RUNS = 4 * RUNS;
const WRITERS = 3;
const ITEMS = 3;
/** Killed within this time, from the start of the process or from the first write. */
const LONGEST_MS = 1_500;
const EMAIL = "power@example.com";
const START = [
  "run",
  "--quiet",
  "--no-check",
  "-A",
  "local/start.ts",
  "--json",
  "--no-demo",
  "--no-schedules",
  "--port",
  "0",
];
const ROOT = new URL("../../", import.meta.url).pathname;

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));

/** Writes of a few rows each, acknowledged or without a response. */
class Writes {
  readonly acknowledged = new Set<string>();
  readonly begun = new Set<string>();
  #next = 0;

  async write(call: (tool: string, args: Record<string, unknown>) => Promise<Json>): Promise<boolean> {
    const name = `Write ${++this.#next}`;
    this.begun.add(name);
    const items = Array.from({ length: ITEMS }, (_, index) => ({ name: `${name}-${index}`, amount: "1.00" }));
    const envelope = await call("log_expenses", { items, on_duplicate: "allow" }).catch(() => undefined);
    if (!envelope?.ok) return false;
    this.acknowledged.add(name);
    return true;
  }

  /** @returns the faults of the stored books */
  compare(names: readonly string[]): string[] {
    const counts = new Map<string, number>();
    for (const name of names) {
      const write = name.replace(/-\d$/, "");
      counts.set(write, (counts.get(write) ?? 0) + 1);
    }
    return [
      ...[...this.acknowledged].filter((name) => counts.get(name) !== ITEMS).map((name) => `${name} is lost`),
      ...[...counts].filter(([, count]) => count !== ITEMS).map(([name, count]) => `${name} is there ${count} times`),
      ...[...counts.keys()].filter((name) => !this.begun.has(name)).map((name) => `${name} was never written`),
    ];
  }
}

async function stored(stack: TestStack): Promise<string[]> {
  const { client, call } = await connectFor(personOf(stack, EMAIL), stack.mcp_url);
  const names: string[] = [];
  for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
    const page: Json = await call("list_expenses", { limit: 100, ...(cursor && { cursor }) });
    names.push(...page.data.rows.map(({ name }: Json) => name));
    cursor = page.next_cursor;
  }
  await client.close();
  return names;
}

/** Starts a process on the folder and kills it while it starts. */
async function killWhileStarting(folder: string): Promise<void> {
  const child = new Deno.Command(Deno.execPath(), {
    args: [...START, "--data", folder],
    cwd: ROOT,
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const forget = whenInterrupted(() => killChild(child));
  await pause(Math.random() * LONGEST_MS);
  await killChild(child);
  forget();
}

Deno.test(`killing the stack at any instant, ${RUNS} times or more, loses no acknowledged write and leaves no partial one`, async () => {
  let stack = await startStack({ args: ["--no-demo", "--no-schedules"] });
  await newPerson(stack, EMAIL);
  const writes = new Writes();
  let runs = 0;
  while (runs < RUNS || writes.acknowledged.size <= RUNS) {
    assert(runs < MOST_RUNS, "too little was written");
    const { call } = await connectFor(personOf(stack, EMAIL), stack.mcp_url);
    const writers = Array.from({ length: WRITERS }, async () => {
      while (await writes.write(call));
    });
    await pause(Math.random() * LONGEST_MS);
    await stack.kill();
    await Promise.all(writers);
    if (runs % 2) await killWhileStarting(stack.folder);
    stack = await stack.restart();
    assertEquals(writes.compare(await stored(stack)), [], `run ${runs}`);
    runs++;
  }
  print(
    `${runs} times killed: ${writes.acknowledged.size} of ${writes.begun.size} writes were acknowledged, and are there`,
  );
  assertEquals(await stack.stop(), 0);
});

Deno.test("a second start on one folder names the first process, which keeps running", async () => {
  const stack = await startStack({ args: ["--no-demo", "--no-schedules"] });
  const person = await newPerson(stack, EMAIL);
  const { client, call } = await connectFor(person, stack.mcp_url);
  const second = await runStart("--no-demo", "--port", "0", "--data", stack.folder);
  assertEquals(second.code, 1);
  assertMatch(second.stderr, /is in use by another stack/);
  const writes = new Writes();
  assert(await writes.write(call));
  assertEquals(writes.compare(await stored(stack)), []);
  await client.close();
  assertEquals(await stack.stop(), 0);
});

Deno.test("on a full disk writes fail, acknowledged ones stay, and freed space resumes service", async () => {
  const disk = await mountDisk("160m");
  if (!disk) return print("not run: no file system may be mounted here");
  let stack = await startStack({ args: ["--no-demo", "--no-schedules", "--data", `${disk.dir}/data`], empty: true });
  try {
    await newPerson(stack, EMAIL);
    const writes = new Writes();
    const { call } = await connectFor(personOf(stack, EMAIL), stack.mcp_url);
    for (let n = 0; n < 10; n++) assert(await writes.write(call));
    const ballast = await disk.fill();
    // Existing pages can still be written, but sooner or later a new page is needed.
    for (let n = 0; n < 40 && await writes.write(call); n++);
    await ballast.remove();
    await stack.kill();
    stack = await stack.restart();
    assertEquals(writes.compare(await stored(stack)), []);
    const again = await connectFor(personOf(stack, EMAIL), stack.mcp_url);
    assert(await writes.write(again.call), "with room it writes again");
    await again.client.close();
    assertEquals(writes.compare(await stored(stack)), []);
  } finally {
    await stack.stop();
    await disk.unmount();
  }
});
