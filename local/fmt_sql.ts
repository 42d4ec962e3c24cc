/**
 * `deno task fmt:sql [-- --check]`: formats the project's SQL (local/sql/format.ts); `--check` only lists unformatted
 * files.
 */
import { print, readCommandLine, taskCommand } from "./command_line.ts";
import { formatSql, tooWide } from "./sql/format.ts";
import { readSchemaFiles, ROOT } from "./sql/schema_files.ts";

const { values } = readCommandLine(
  { check: { type: "boolean" } },
  `${taskCommand("fmt:sql")} [-- --check]`,
);

let faults = 0;
const fault = (line: string) => {
  faults += 1;
  print(line, Deno.stderr);
};
// Migrations are generated from these and never edited.
for (const { path, sql } of await readSchemaFiles()) {
  const url = new URL(path, ROOT);
  try {
    const formatted = formatSql(sql);
    if (values.check && formatted !== sql) fault(`${path} is not formatted: deno task fmt:sql`);
    else if (formatted !== sql) await Deno.writeTextFile(url, formatted);
    for (const line of tooWide(formatted)) fault(`${path}:${line} is wider than 120 columns; break it by hand`);
  } catch (thrown) {
    fault(`${path}: ${(thrown as Error).message}`);
  }
}
Deno.exit(faults === 0 ? 0 : 1);
