/**
 * Reads the longest statement of each format in the arguments, and a quarter of it. Prints the milliseconds of processor
 * time for each, and the machine's slowdown.
 */
import process from "node:process";
import { MAX_UPLOADED_ROWS, readImport } from "../../shared/import/read_import.ts";
import { readUpload } from "../../shared/import/read_upload.ts";
import { slowness } from "../_support/machine.ts";
import { STATEMENTS } from "./statements.ts";

const RUNS = 2;

function read(bytes: Uint8Array): number {
  const since = process.cpuUsage();
  const uploaded = readUpload(bytes, "statement");
  if ("code" in uploaded) throw new Error(JSON.stringify(uploaded));
  const read = readImport(uploaded.text, {}, "2026-11-23", { mostRows: MAX_UPLOADED_ROWS });
  const { user, system } = process.cpuUsage(since);
  if ("code" in read) throw new Error(JSON.stringify(read));
  if (read.questions.length + read.rows_bad.length > 0 || read.rows.length < read.leftOutRows.length) {
    throw new Error("was not read right");
  }
  return (user + system) / 1000;
}

/** The machine may be busy with other work, so the fastest run counts. */
const fastest = (bytes: Uint8Array) => Math.min(...Array.from({ length: RUNS }, () => read(bytes)));

let before = slowness().cpu;
for (const format of Deno.args) {
  const write = STATEMENTS[format]!;
  const quarter = fastest(write(MAX_UPLOADED_ROWS / 4));
  const whole = fastest(write(MAX_UPLOADED_ROWS));
  const after = slowness().cpu;
  // deno-lint-ignore no-console -- its output
  console.log(JSON.stringify({ format, quarter, whole, slowness: Math.max(before, after) }));
  before = after;
}
