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
/** A busy machine slows single runs; code that is too slow fails every attempt. */
const ATTEMPTS = 3;
/** The heap, including the file; the platform allows 256 MB for everything. */
const MOST_MB = 150;

interface Measured {
  format: string;
  quarter: number;
  whole: number;
  slowness: number;
}

async function measure(formats: string[]): Promise<Measured[]> {
  const { stdout, stderr, success } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--lock=tests/deno.lock",
      "--quiet",
      "--no-check",
      "-A",
      `--v8-flags=--max-old-space-size=${MOST_MB}`,
      "tests/hostile/read_statements.ts",
      ...formats,
    ],
    cwd: new URL("../../", import.meta.url),
  }).output();
  assert(success, new TextDecoder().decode(stderr));
  const measured: Measured[] = new TextDecoder().decode(stdout).trim().split("\n").map((line) => JSON.parse(line));
  assertEquals(measured.map(({ format }) => format), formats);
  return measured;
}

const isTooSlow = ({ quarter, whole, slowness }: Measured) =>
  whole >= MOST_MS * slowness || !growsWithin(quarter, whole, 4 * SLACK);

Deno.test("50,000 rows of any format are read in time, in bounded memory", async () => {
  let slow = (await measure(Object.keys(STATEMENTS))).filter(isTooSlow);
  for (let attempt = 1; attempt < ATTEMPTS && slow.length > 0; attempt++) {
    slow = (await measure(slow.map(({ format }) => format))).filter(isTooSlow);
  }
  assertEquals(slow, []);
});
