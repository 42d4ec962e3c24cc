/**
 * `deno task db:migration -- <name>`: writes the migration from the current migrations to supabase/schemas, and
 * increments the schema version. `--baseline` rewrites the single baseline while nothing is released; `--release`
 * freezes the current state.
 */
import { print, readCommandLine, taskCommand } from "../../local/command_line.ts";
import { ROOT } from "../../local/sql/schema_files.ts";
import { startCluster } from "../_support/cluster.ts";
import { release } from "./release.ts";
import { writeBaseline, writeMigration } from "./write_migration.ts";

const usage = `${taskCommand("db:migration")} -- <name> | --baseline | --release`;
const { values, positionals } = readCommandLine(
  { baseline: { type: "boolean" }, release: { type: "boolean" } },
  usage,
);
const [name, ...more] = positionals;
if (more.length > 0 || [name, values.baseline, values.release].filter(Boolean).length !== 1) {
  print(usage, Deno.stderr);
  Deno.exit(2);
}

try {
  if (values.baseline) {
    print(await writeBaseline(ROOT));
  } else {
    const cluster = await startCluster();
    try {
      const lines = values.release ? await release(cluster, ROOT) : await writeMigration(cluster, {
        root: ROOT,
        name: name!,
        now: new Date(),
      });
      lines.forEach((line) => print(line));
    } finally {
      await cluster.stop();
    }
  }
} catch (thrown) {
  print((thrown as Error).message, Deno.stderr);
  Deno.exit(1);
}
