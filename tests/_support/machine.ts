/**
 * Measures the machine's current slowness, so that limits in seconds hold anywhere: virtual machines lose half their
 * processor or most of their memory bandwidth from one minute to the next. The reference workload resembles our
 * parsers, with more strings, objects and maps than fit in caches.
 */
import process from "node:process";

const ROWS = 50_000;
const RUNS = 5;
const WARM_UPS = 3;
/** The duration of the reference workload on a machine that easily meets all limits. */
const USUAL_MS = 40;
/** A larger correction for slow memory would accept quadratic growth. */
const MOST_CORRECTION = 2;

const text = (rows: number) =>
  Array.from({ length: rows }, (_, i) => `2026-01-${i % 28},SHOP ${i * 7919 % rows} BERLIN,${i}.01`).join("\n");
const TEXT = text(ROWS);
const QUARTER = text(ROWS / 4);

function read(text: string): number {
  const rows = text.split("\n").map((line) => {
    const [date, name, amount] = line.split(",");
    return { date, name, amount: Number(amount) };
  });
  const sums = new Map<string, number>();
  for (const { name, amount } of rows) sums.set(name!, (sums.get(name!) ?? 0) + amount);
  return sums.size + JSON.stringify(rows).length;
}

interface Times {
  cpu: number;
  wall: number;
}

/** Medians in milliseconds. */
function times(text: string): Times {
  for (let i = 0; i < WARM_UPS; i++) read(text);
  const each = Array.from({ length: RUNS }, () => {
    const [since, startedAt] = [process.cpuUsage(), performance.now()];
    read(text);
    const { user, system } = process.cpuUsage(since);
    return { cpu: (user + system) / 1000, wall: performance.now() - startedAt };
  });
  const median = (of: keyof Times) => each.map((run) => run[of]).toSorted((a, b) => a - b)[RUNS >> 1]!;
  return { cpu: median("cpu"), wall: median("wall") };
}

/** @returns the current slowdown factor, 1 or more, in processor time and wall time. */
export function slowness(): Times {
  const { cpu, wall } = times(TEXT);
  return { cpu: Math.max(1, cpu / USUAL_MS), wall: Math.max(1, wall / USUAL_MS) };
}

/** @returns whether the duration is below the limit, corrected by the slowdown. */
export function isInTime(tookMs: number, limitMs: number, clock: keyof Times): boolean {
  return tookMs < limitMs || tookMs < limitMs * slowness()[clock];
}

/**
 * @returns whether the whole took at most this many times as long as a quarter. With slow memory, linear code also
 * takes more time per row, which raises the limit.
 */
export function growsWithin(quarterMs: number, wholeMs: number, most: number): boolean {
  if (wholeMs < most * quarterMs) return true;
  const correction = times(TEXT).cpu / times(QUARTER).cpu / 4;
  return wholeMs < most * quarterMs * Math.min(MOST_CORRECTION, Math.max(1, correction));
}
