/**
 * `deno task fmt:sql [-- --check]`: formats the project's SQL (local/sql/format.ts) and lists its files in
 * `supabase/config.toml`; `--check` only reports differences.
 */
import { print, readCommandLine, taskCommand } from "./command_line.ts";
import { formatSql, tooWide } from "./sql/format.ts";
import { listSchemaFiles, readSchemaFiles, ROOT } from "./sql/schema_files.ts";

const { values } = readCommandLine(
  { check: { type: "boolean" } },
  `${taskCommand("fmt:sql")} [-- --check]`,
);

let faults = 0;
const fault = (line: string) => {
  faults += 1;
  print(line, Deno.stderr);
};
const write = async (path: string, before: string, after: string) => {
  if (values.check && after !== before) fault(`${path} is not formatted: deno task fmt:sql`);
  else if (after !== before) await Deno.writeTextFile(new URL(path, ROOT), after);
};
// Migrations are generated from these and never edited.
for (const { path, sql } of await readSchemaFiles()) {
  try {
    const formatted = formatSql(sql);
    await write(path, sql, formatted);
    for (const line of tooWide(formatted)) fault(`${path}:${line} is wider than 120 columns; break it by hand`);
  } catch (thrown) {
    fault(`${path}: ${(thrown as Error).message}`);
  }
}
const config = await Deno.readTextFile(new URL("supabase/config.toml", ROOT));
await write("supabase/config.toml", config, listSchemaFiles(config, await readSchemaFiles()));
Deno.exit(faults === 0 ? 0 : 1);
