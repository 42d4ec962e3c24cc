/**
 * `deno task suite mutants [-- words]`: plants one bug at a time (mutants.ts) in a copy of the project and runs the
 * tests that should detect it. Fails if they detect fewer than 95 %.
 * @param words in the names of the bugs to plant; all bugs if absent
 */
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { print } from "../../local/command_line.ts";
import { copy } from "../_support/copy.ts";
import { type Mutant, MUTANTS } from "./mutants.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const PARTS = [
  "deno.json",
  "package.json",
  "import_map.json",
  "functions",
  "shared",
  "local",
  "supabase",
  "tests",
  "bench",
];
const GOAL_PERCENT = 95;
/** A bug that makes its tests hang counts as detected. */
const LIMIT_MS = 8 * 60_000;

type Outcome = "caught" | "missed";

/** @throws {Error} when the tests could not run, because nobody could deploy such a bug. */
async function plant(folder: string, { file, from, to, tests }: Mutant): Promise<Outcome> {
  const path = join(folder, file);
  const healthy = await Deno.readTextFile(path);
  if (healthy.split(from).length !== 2) throw new Error(`${file} does not have once: ${from}`);
  await Deno.writeTextFile(path, healthy.replace(from, () => to));
  try {
    const signal = AbortSignal.timeout(LIMIT_MS);
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["test", "--lock=tests/deno.lock", "--quiet", "--no-prompt", "--no-check", "--fail-fast", "-A", ...tests],
      cwd: folder,
      env: { NO_COLOR: "1" },
      signal,
    }).output();
    if (signal.aborted) return "caught";
    if (code === 0) return "missed";
    const output = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    if (!/\| [1-9]\d* failed/.test(output) || /MigrationError|SyntaxError/.test(output)) throw new Error(output);
    return "caught";
  } finally {
    await Deno.writeTextFile(path, healthy);
  }
}

const words = Deno.args.filter((arg) => arg !== "--");
const chosen = MUTANTS.filter(({ bug, file }) => words.every((word) => `${bug} ${file}`.includes(word)));
const folder = await Deno.makeTempDir({ prefix: "expense-mutants-" });
for (const part of PARTS) await copy(join(ROOT, part), join(folder, part));
await Deno.symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
let caught = 0;
try {
  for (const mutant of chosen) {
    const outcome = await plant(folder, mutant);
    if (outcome === "caught") caught++;
    print(`${outcome}  ${mutant.bug} (${mutant.file})`);
  }
} finally {
  await Deno.remove(folder, { recursive: true });
}
const percent = Math.floor(caught * 100 / chosen.length);
print(`${caught} of ${chosen.length} planted bugs caught: ${percent} %`);
if (!(percent >= GOAL_PERCENT)) Deno.exit(1);
