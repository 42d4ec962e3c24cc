/**
 * `deno run --allow-read bench/compare.ts first.json second.json`: compares two runs of `deno task bench -- --json`.
 * Prints the table of docs/performance.md, then the rows that differ too much.
 */
import { print } from "../local/command_line.ts";
import type { Row } from "./measure/row.ts";
import { comparison, differences } from "./measure/table.ts";
import { TARGETS } from "./targets.ts";

/** The tolerance between two runs on an idle machine. */
const AGREE = 0.15;

const [first, second] = await Promise.all(
  Deno.args.slice(0, 2).map(async (path) => {
    const { machine, rows } = JSON.parse(await Deno.readTextFile(path));
    return { machine, rows: rows as Row[] };
  }),
);
if (!first || !second) throw new Error("two files that deno task bench -- --json wrote");
for (const { machine } of [first, second]) {
  print(`${machine.date}, ${machine.cpu}, ${machine.memory}, load ${machine.load} before, ${machine.versions}`);
}
print(`\n${comparison(first.rows, second.rows, TARGETS)}\n`);
const far = differences(first.rows, second.rows, AGREE);
print(far.length === 0 ? "The two agree within 15 %." : `They differ by more than 15 %: ${far.join(", ")}.`);
