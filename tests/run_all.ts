/**
 * `deno task test`: every unit, function and database test on the embedded PostgreSQL, in parallel. Arguments go to
 * `deno test`; paths among them select the tests.
 */
import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import type { ReadableStream as NodeStream } from "node:stream/web";
import { inGroups, testsBelow, withoutGroup } from "./_support/test_files.ts";

/** Parts of suites (tests/suites.ts). */
const OWN_SUITES = ["tests/e2e/", "tests/upgrade/", "tests/hostile/", "tests/local/"];
/** Two groups run side by side. Each has a PGlite and its files' modules. */
const FILES_IN_A_GROUP = 28;
/** `deno task check` checks the types of all tests at once. */
const TEST = ["test", "--lock=tests/deno.lock", "--quiet", "--no-prompt", "--no-check", "-A"];

const args = Deno.args.filter((arg) => arg !== "--");
const isChosen = args.some((arg) => arg.startsWith("tests/"));
const groups = isChosen ? undefined : await inGroups(await testsBelow("tests/", OWN_SUITES), FILES_IN_A_GROUP);
const child = new Deno.Command(Deno.execPath(), {
  args: [...TEST, ...args, ...(groups ? ["--parallel", ...groups.args] : [])],
  stdout: groups ? "piped" : "inherit",
}).spawn();
if (groups) {
  const encoder = new TextEncoder();
  const output = Readable.fromWeb(child.stdout as unknown as NodeStream);
  for await (const line of createInterface({ input: output })) {
    await Deno.stdout.write(encoder.encode(`${withoutGroup(line)}\n`));
  }
}
const { success } = await child.status;
await groups?.remove();
Deno.exit(success ? 0 : 1);
