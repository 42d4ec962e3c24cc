/**
 * The job keeps one page at a time in memory, so 20,000 reminders need as much memory as 2,000. The test needs a
 * separate PostgreSQL server, like that of `deno task suite faults`, because PGlite would share the measured heap.
 */
import { assert, assertEquals } from "@std/assert";

const OWNERS = 2_000;
const BILLS_PER_OWNER = 10;
/** The job and its libraries need about 36 MiB; all its mails would add more than 40. */
const HEAP_MIB = 48;
const GROWTH_MIB = 6;

interface Sample {
  reminders: number;
  heap: number;
  resident: number;
}

if (!Deno.env.get("TEST_DATABASE_URL")) {
  throw new Error(
    "TEST_DATABASE_URL is not set: memory is measured against a PostgreSQL server; run deno task suite faults",
  );
}

async function runJob(...args: string[]): Promise<{ success: boolean; out: string; errors: string }> {
  const { success, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--lock=tests/deno.lock",
      "--quiet",
      "--no-prompt",
      "-A",
      // V8's young generation grows by up to 48 MiB under constant allocation, which would hide a leak.
      `--v8-flags=--expose-gc,--max-old-space-size=${HEAP_MIB},--max-semi-space-size=1`,
      new URL("memory_job.ts", import.meta.url).pathname,
      String(OWNERS),
      String(BILLS_PER_OWNER),
      ...args,
    ],
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { success, out: text(stdout), errors: text(stderr) };
}

Deno.test(`memory stays flat over ${OWNERS * BILLS_PER_OWNER} reminders`, async () => {
  const { success, out, errors } = await runJob();
  assert(success, errors);
  const { early, late } = JSON.parse(out.trim().split("\n").at(-1)!) as { early: Sample; late: Sample };
  Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify({ early, late })}\n`));
  assertEquals(late.reminders, OWNERS * BILLS_PER_OWNER);
  assert(early.reminders < OWNERS * BILLS_PER_OWNER / 5);
  assert(late.heap - early.heap < GROWTH_MIB, `the heap grew from ${early.heap} to ${late.heap} MiB`);
  assert(late.resident - early.resident < 3 * GROWTH_MIB, `it grew from ${early.resident} to ${late.resident} MiB`);
});

Deno.test("test of the test: a job that keeps its pages runs out of memory", async () => {
  const { success, errors } = await runJob("--keep");
  assertEquals(success, false);
  assert(/out of memory/i.test(errors), errors.slice(0, 1000));
});
