/**
 * Measures a call's CPU time, and whether it grows no faster than n log n. Wall time would include the machine's other
 * work.
 */
import process from "node:process";
import { growsWithin, isInTime } from "../_support/machine.ts";

export type Run = (text: string) => unknown;

/** The limit for a call or a page of work, in proportion to the machine's current speed. */
export const MAX_MS = 200;
/**
 * Below this time, the garbage collector and a busy machine dominate: linear reading once took 3 ms for a quarter and
 * 50 ms for the whole. A call that stays below it at its maximum length may grow at any rate.
 */
export const FLOOR_MS = 100;
const RUNS = 5;
/** Repeats, since random slowdowns do not affect every run. */
const ATTEMPTS = 3;
/** The allowed apparent growth beyond n log n, from a quarter to the whole. Quadratic growth would be four times. */
const SLACK = 1.6;

type Texts = [quarter: string, half: string, whole: string];

export interface Limits {
  /** The maximum length of a string. */
  limit: number;
  mostMs?: number;
}

/** @returns the fault, or undefined. */
export async function judge(
  run: Run,
  shape: (length: number) => string,
  { limit, mostMs = MAX_MS }: Limits,
): Promise<string | undefined> {
  const [quarter, half, whole] = [limit >> 2, limit >> 1, limit].map((length) => flat(shape(length))) as Texts;
  // Most calls finish too fast to measure, and most others are far from any limit, so only suspicious ones run more
  // than once.
  const first = await once(run, whole);
  if (first < FLOOR_MS) return undefined;
  if (!isInTime(first, 10 * mostMs, "cpu")) return `takes ${first.toFixed()} ms`;
  if (2 * first < mostMs && growsLinearly(await once(run, quarter), 1.5 * first, limit)) return undefined;
  let problem: string | undefined;
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const whole_ = await median(run, whole);
    if (whole_ < FLOOR_MS) return undefined;
    const quarter_ = await median(run, quarter);
    const half_ = await median(run, half);
    const said = `${
      [quarter_, half_, whole_].map((ms) => ms.toFixed(1)).join(", ")
    } ms at a quarter, a half, the whole`;
    if (!isInTime(whole_, mostMs, "cpu")) problem = `takes more than ${mostMs} ms: ${said}`;
    else if (!growsLinearly(quarter_, whole_, limit)) problem = `grows faster than n log n: ${said}`;
    else return undefined;
  }
  return problem;
}

/** Includes n log n. */
function growsLinearly(quarterMs: number, wholeMs: number, limit: number): boolean {
  const growth = 4 * Math.log(limit) / Math.log(limit / 4);
  return growsWithin(Math.max(quarterMs, FLOOR_MS / 8), wholeMs, growth * SLACK);
}

async function median(run: Run, text: string): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < RUNS; i++) times.push(await once(run, text));
  return times.sort((a, b) => a - b)[RUNS >> 1]!;
}

/** CPU milliseconds of this process, all threads. A parser may throw. */
async function once(run: Run, text: string): Promise<number> {
  const since = process.cpuUsage();
  try {
    await run(text);
  } catch {
    // The result does not matter here.
  }
  const { user, system } = process.cpuUsage(since);
  return (user + system) / 1000;
}

/** Flattens text into its form on arrival, because a concatenated string is copied at its first use. */
const flat = (text: string): string => JSON.parse(JSON.stringify(text));
