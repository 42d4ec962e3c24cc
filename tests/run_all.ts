/**
 * `deno task test`: every test of units, functions and the database on the embedded PostgreSQL, side by side. What runs
 * whole stacks or measures has tasks of its own. Arguments go to `deno test`; with paths among them, only those run.
 */

/** Stories on running stacks and their upgrades (test:e2e); CPU time, and a stack's start and memory (test:stack). */
const OWN_TASKS = ["tests/e2e/", "tests/upgrade/", "tests/hostile/", "tests/local/"];
/** `deno task check` looks at the types, once for all. */
const TEST = ["test", "--lock=tests/deno.lock", "--quiet", "--no-prompt", "--no-check", "-A"];

const args = Deno.args.filter((arg) => arg !== "--");
const what = args.some((arg) => arg.startsWith("tests/"))
  ? []
  : ["--parallel", `--ignore=${OWN_TASKS.join()}`, "tests/"];
const { success } = await new Deno.Command(Deno.execPath(), { args: [...TEST, ...args, ...what] }).spawn().status;
Deno.exit(success ? 0 : 1);
