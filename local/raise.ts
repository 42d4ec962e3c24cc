/**
 * `deno task raise [-- package …]`: raises pinned versions and runs the suites that tell what that breaks. Without a
 * name every package is raised. Nothing is committed.
 */
import { fail, print, readCommandLine, taskCommand } from "./command_line.ts";
import { startLock } from "./lock.ts";

/** In the order in which they say the most for the least time. */
const SUITES = ["ok", "check:edge", "check:deploy", "test:conformance"];

const { positionals: packages } = readCommandLine({}, `${taskCommand("raise")} [-- package …]`);

async function run(...args: string[]): Promise<void> {
  const { success } = await new Deno.Command(Deno.execPath(), { args }).spawn().status;
  if (success) return;
  fail(`deno ${args.join(" ")} failed. To take the versions back: git checkout import_map.json "*deno.lock"`);
}

const pins = () => Deno.readTextFileSync("import_map.json");
const before = pins();
// The command knows one lock, and adds everything in the import map to it.
await Deno.copyFile("tests/deno.lock", "deno.lock");
await run("outdated", "--update", "--latest", ...packages);
await Deno.copyFile("deno.lock", "tests/deno.lock");
await Deno.writeTextFile("deno.lock", await startLock());
if (pins() === before) {
  print("Nothing to raise.");
} else {
  for (const suite of SUITES) await run("task", suite);
  print("All of that passes. .ci/run runs the rest.");
}
