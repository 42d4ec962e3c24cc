/**
 * `deno task test`: every test on the embedded stack. Files run side by side, except those that measure: they have the
 * machine to themselves afterwards. Arguments go to `deno test`; with paths among them, only those run.
 */

/** CPU time of this process (hostile), and a stack's start and memory (local). */
const MEASURING = ["tests/hostile/", "tests/local/"];
/** `deno task check` looks at the types, once for all. */
const TEST = ["test", "--quiet", "--no-prompt", "--no-check", "-A"];

const args = Deno.args.filter((arg) => arg !== "--");
const runs = args.some((arg) => arg.startsWith("tests/"))
  ? [[]]
  : [["--parallel", `--ignore=${MEASURING.join()}`, "tests/"], MEASURING];

let failed = false;
for (const run of runs) {
  const { success } = await new Deno.Command(Deno.execPath(), { args: [...TEST, ...args, ...run] }).spawn().status;
  failed ||= !success;
}
Deno.exit(failed ? 1 : 0);
