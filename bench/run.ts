/** `deno task bench`: measures the service, its floors and its peers, and prints one table. See bench/README.md. */
import { print, readCommandLine, taskCommand } from "../local/command_line.ts";
import { findBinaries } from "../tests/_support/server.ts";
import { stopAll } from "./measure/processes.ts";
import { table } from "./measure/table.ts";
import type { Options, Row } from "./measure/row.ts";
import { VERSION as BETTER_AUTH } from "./peers/better_auth.ts";
import * as bundles from "./sections/bundles.ts";
import * as codeSize from "./sections/code_size.ts";
import * as coldStart from "./sections/cold_start.ts";
import * as database from "./sections/database_time.ts";
import * as endpoints from "./sections/endpoints.ts";
import * as imports from "./sections/imports.ts";
import { TARGETS } from "./targets.ts";

const SECTIONS: { names: readonly string[]; measure: (options: Options) => Promise<Row[]>; isSql?: true }[] = [
  { names: endpoints.NAMES, measure: endpoints.measureEndpoints },
  { names: database.NAMES, measure: database.measureDatabase, isSql: true },
  { names: imports.NAMES, measure: imports.measureImports, isSql: true },
  { names: coldStart.NAMES, measure: coldStart.measureColdStart },
  { names: bundles.NAMES, measure: bundles.measureBundles },
  { names: codeSize.NAMES, measure: codeSize.measureCodeSize },
];

const USAGE = `${taskCommand("bench")} [-- options]

  --only <text>   only the rows whose name contains it, such as "bundle" or "get_context / floor"
  --sql           only the database's part
  --short         fewer rounds and less data: for a look, not for a record
  --json <file>   also writes the rows there`;

const { values } = readCommandLine({
  only: { type: "string", default: "" },
  sql: { type: "boolean", default: false },
  short: { type: "boolean", default: false },
  json: { type: "string" },
}, USAGE);

const machine = {
  date: new Date().toISOString().slice(0, 16).replace("T", " ") + " UTC",
  cpu: `${navigator.hardwareConcurrency} × ${
    /^model name\s*: (.+)$/m.exec(await Deno.readTextFile("/proc/cpuinfo"))?.[1]
  }`,
  memory: `${Math.round(Deno.systemMemoryInfo().total / 2 ** 30)} GiB`,
  versions:
    `Deno ${Deno.version.deno}, PostgreSQL ${(await findBinaries()).version}, better-auth ${BETTER_AUTH} on Node ` +
    new TextDecoder().decode((await new Deno.Command("node", { args: ["--version"] }).output()).stdout).trim(),
  load: Deno.loadavg()[0]!.toFixed(2),
};
const options: Options = { isShort: values.short, only: values.only };
const rows: Row[] = [];
const failures: unknown[] = [];
for (const { names, measure, isSql } of SECTIONS) {
  if ((values.sql && !isSql) || !names.some((name) => name.includes(options.only))) continue;
  // A failing section must not discard the other sections' rows, which took minutes to measure.
  await measure(options).then((measured) => rows.push(...measured), (thrown) => failures.push(thrown));
}
await stopAll();
for (const thrown of failures) print(`A section failed: ${thrown instanceof Error ? thrown.stack : thrown}`);
if (rows.length + failures.length === 0) print(`No row's name contains ${JSON.stringify(options.only)}.`);
print(`${machine.date}, ${machine.cpu}, ${machine.memory}, load ${machine.load} before\n${machine.versions}\n`);
print(table(rows, TARGETS));
if (values.json) {
  await Deno.writeTextFile(values.json, JSON.stringify({ machine, rows, targets: TARGETS }, null, 1) + "\n");
}
Deno.exit(failures.length > 0 || rows.some(({ errors }) => errors > 0) ? 1 : 0);
