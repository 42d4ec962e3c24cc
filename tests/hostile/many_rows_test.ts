/**
 * The longest statement is read within a request's processor time and half of its memory, and a statement of twice the
 * length takes twice as long.
 */
import { assert, assertEquals } from "@std/assert";
import { growsWithin } from "../_support/machine.ts";
import { STATEMENTS } from "./statements.ts";

/** A request has 2 s, half of which it needs for other work. */
const MOST_MS = 1800;
/** The allowed growth beyond the growth of the rows. */
const SLACK = 2;
/** The heap, including the file; the platform allows 256 MB for everything. */
const MOST_MB = 150;

Deno.test("50,000 rows of any format are read in time, in bounded memory", async () => {
  const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--lock=tests/deno.lock",
      "--quiet",
      "--no-check",
      "-A",
      `--v8-flags=--max-old-space-size=${MOST_MB}`,
      "tests/hostile/read_statements.ts",
    ],
    cwd: new URL("../../", import.meta.url),
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  const measured: { format: string; quarter: number; whole: number; slowness: number }[] = new TextDecoder().decode(
    stdout,
  ).trim()
    .split("\n").map((line) => JSON.parse(line));
  assertEquals(measured.map(({ format }) => format), Object.keys(STATEMENTS));
  for (const { format, quarter, whole, slowness } of measured) {
    const said = `${format} takes ${quarter.toFixed()} ms for a quarter and ${whole.toFixed()} ms for all`;
    assert(whole < MOST_MS * slowness, `${said}, on a machine ${slowness.toFixed(1)} times as slow as usual`);
    assert(growsWithin(quarter, whole, 4 * SLACK), said);
  }
});
