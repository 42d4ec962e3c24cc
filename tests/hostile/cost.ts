/** What a call costs in processor time, and whether that grows no faster than n log n. Wall time would tell of the machine's other work. */
import process from "node:process";

export type Run = (text: string) => unknown;

/** No call, and no page of work, may take longer. */
export const MOST_MS = 200;
/** Below it, the collector and the machine's other work tell more than the code does; a call that takes no longer at its limit may grow as it likes. */
export const FLOOR_MS = 30;
const RUNS = 5;
/** What makes a run slow by chance does not do so every time. */
const ATTEMPTS = 3;
/** How much faster than n log n it may seem to grow from a quarter to the whole: 1.6 times; n² would be four times. */
const SLACK = 1.6;

type Texts = [quarter: string, half: string, whole: string];

export interface Limits {
  /** Length of the longest text that there can be. */
  limit: number;
  mostMs?: number;
}

/** @returns what is wrong, or undefined. */
export async function judge(
  run: Run,
  shape: (length: number) => string,
  { limit, mostMs = MOST_MS }: Limits,
): Promise<string | undefined> {
  const [quarter, half, whole] = [limit >> 2, limit >> 1, limit].map((length) => flat(shape(length))) as Texts;
  // Most are done before there is anything to measure, and most of the others are far from any limit: only what may not be is looked at closely.
  const first = await once(run, whole);
  if (first < FLOOR_MS) return undefined;
  if (first > 10 * mostMs) return `takes ${first.toFixed()} ms`;
  if (2 * first < mostMs && 1.5 * first < allowed(await once(run, quarter), limit)) return undefined;
  let problem: string | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const whole_ = await median(run, whole);
    if (whole_ < FLOOR_MS) return undefined;
    const quarter_ = await median(run, quarter);
    const half_ = await median(run, half);
    const said = `${
      [quarter_, half_, whole_].map((ms) => ms.toFixed(1)).join(", ")
    } ms at a quarter, a half, the whole`;
    if (whole_ > mostMs) problem = `takes more than ${mostMs} ms: ${said}`;
    else if (whole_ > allowed(quarter_, limit)) problem = `grows faster than n log n: ${said}`;
    else return undefined;
  }
  return problem;
}

/** The most that the whole may take, given what a quarter takes. */
function allowed(quarterMs: number, limit: number): number {
  const growth = 4 * Math.log(limit) / Math.log(limit / 4);
  return growth * SLACK * Math.max(quarterMs, FLOOR_MS / 8);
}

async function median(run: Run, text: string): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < RUNS; i++) times.push(await once(run, text));
  return times.sort((a, b) => a - b)[RUNS >> 1]!;
}

/** Milliseconds of this process, of all its threads. A parser may throw. */
async function once(run: Run, text: string): Promise<number> {
  const since = process.cpuUsage();
  try {
    await run(text);
  } catch {
    // What it makes of the text is not asked here.
  }
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
}

/** Text as it arrives, in one piece: one that is put together from others is copied at its first use. */
const flat = (text: string): string => JSON.parse(JSON.stringify(text));
