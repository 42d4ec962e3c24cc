/**
 * `deno task test`: every test of units, functions and the database on the embedded PostgreSQL, side by side. What runs
 * whole stacks or measures has tasks of its own. Arguments go to `deno test`; with paths among them, only those run.
 */
import { dirname, join, relative } from "node:path";
import { pathToFileURL } from "node:url";

/** Stories on running stacks and their upgrades (test:e2e); a stack's commands (test:stack); time and memory (test:limits). */
const OWN_TASKS = ["tests/e2e/", "tests/upgrade/", "tests/hostile/", "tests/local/"];
/** `deno task check` looks at the types, once for all. */
const TEST = ["test", "--lock=tests/deno.lock", "--quiet", "--no-prompt", "--no-check", "-A"];
/**
 * As many files load what they have in common once: loading took a quarter of the time. Each group opens the databases
 * of its files at its start, so that more of them would need more memory.
 */
const FILES_IN_A_GROUP = 10;

const root = dirname(import.meta.dirname!);
const args = Deno.args.filter((arg) => arg !== "--");
const isChosen = args.some((arg) => arg.startsWith("tests/"));
const groups = isChosen ? undefined : await writeGroups();
const { success } = await new Deno.Command(Deno.execPath(), {
  args: [...TEST, ...args, ...(groups ? ["--config", join(root, "deno.json"), "--parallel", groups] : [])],
}).spawn().status;
if (groups) await Deno.remove(groups, { recursive: true });
Deno.exit(success ? 0 : 1);

/** Modules that import test files. What is beside each other is spread, since it takes about as long. @returns their folder. */
async function writeGroups(): Promise<string> {
  const files = (await Array.fromAsync(testFiles(join(root, "tests")))).sort();
  const folder = await Deno.makeTempDir({ prefix: "expense-tests-" });
  const count = Math.ceil(files.length / FILES_IN_A_GROUP);
  for (let group = 0; group < count; group++) {
    const imports = files.filter((_, at) => at % count === group).map((file) => `import "${pathToFileURL(file)}";\n`);
    await Deno.writeTextFile(join(folder, `${group}_test.ts`), imports.join(""));
  }
  return folder;
}

async function* testFiles(folder: string): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory && !OWN_TASKS.includes(`${relative(root, path).replaceAll("\\", "/")}/`)) yield* testFiles(path);
    else if (/_test\.tsx?$/.test(name)) yield path;
  }
}
