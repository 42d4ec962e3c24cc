/** One run: opens the world, measures it, puts it under load, checks it, and searches for leaked secrets. */
import { checkSummerTime } from "./checks/summer_time.ts";
import { FAULTS } from "./faults/mod.ts";
import { type Fault, pause, untilWell } from "./faults/fault.ts";
import { chanceOf } from "../e2e/year/days.ts";
import { Load } from "./load.ts";
import { Memory, memoryProblems } from "./measure/memory.ts";
import { Stalls } from "./measure/stalls.ts";
import type { Latencies } from "./measure/latency.ts";
import { openWorld } from "./world/world.ts";

export interface SoakOptions {
  seconds: number;
  seed: number;
  faults?: boolean;
  plant?: string | undefined;
  /** Whether one process serves everything (docs/self-hosting.md). */
  isOneServer?: boolean;
  organizations?: number;
  /** A pattern for the names of the faults; all if absent. */
  only?: string | undefined;
  /** The number of faults; all if absent. */
  some?: number;
  /** Actions per second; measured first if absent. */
  rate?: number;
  /** Progress for a person who waits. */
  say?: (line: string) => void;
}

export interface SoakResult {
  options: SoakOptions;
  /** Client actions per second, at each measurement. */
  rates: number[];
  /** Skipped actions, because the machine's capacity was lower for a while. */
  heldBack: number;
  kinds: ReadonlyMap<string, Latencies>;
  outcomes: ReadonlyMap<string, number>;
  memory: ReturnType<Memory["slopes"]>;
  problems: string[];
  /** Slow statements, and their wait events. */
  stalls: readonly string[];
}

/** A fault starts after a part of its time, so that the load is running first and can recover afterwards. */
const BEFORE = 0.2;
/** If no request may fail, new instances start on the same processors that serve requests; a platform has others. */
const UNNOTICED_SHARE = 0.5;

async function breakFor(
  load: Load,
  fault: Fault,
  { seconds, say }: { seconds: number; say: (line: string) => void },
): Promise<void> {
  await pause(seconds * BEFORE * 1000);
  const { failures } = load.world.logs;
  const before = failures.length;
  const { rate } = load;
  if (fault.isUnnoticed) load.rate = rate * UNNOTICED_SHARE;
  else load.traffic.break();
  try {
    await fault.act(load);
    await untilWell(load);
  } catch (thrown) {
    load.traffic.problem(`${fault.name}: ${thrown instanceof Error ? thrown.stack : thrown}`);
  } finally {
    load.rate = rate;
    if (!fault.isUnnoticed) {
      for (const line of new Set(failures.splice(before).map(causeOf))) say(`     meanwhile ${line}`);
      load.traffic.mend();
    }
  }
}

/** All faults in a long run, some in a short one, different each time. */
function chooseFaults({ only = "", some = FAULTS.length, seed, isOneServer }: SoakOptions): Fault[] {
  const chance = chanceOf(seed);
  const possible = FAULTS.filter(({ isOfPlatform }) => !(isOneServer && isOfPlatform));
  const chosen = possible.filter(({ name }) => new RegExp(only).test(name));
  while (chosen.length > some) chosen.splice(chance.int(0, chosen.length - 1), 1);
  return chosen;
}

const requestIds = (problem: string) => [...problem.matchAll(/"request_id":"([^"]+)"/g)].map(([, id]) => id!);
/** An internal failure, without its variable parts. */
const causeOf = (line: string) => /"error":"([^"]*)/.exec(line)?.[1] ?? line;

const told = ({ name }: Fault, problems: number, ms: number) =>
  `${problems === 0 ? "held " : "FAILED"} ${name} (${(ms / 1000).toFixed(0)} s)`;

/** The fraction of a run for measuring the machine's capacity. */
const MEASURE_SHARE = 0.1;
const MEASURE_SECONDS = { least: 8, most: 20 };
/** Books grow, which changes the machine's capacity. */
const MEASURE_EVERY_MS = 600_000;
/** The shortest part of a run with an uninterrupted load. */
const PART_SECONDS = 5;
/** The comparison between parts takes minutes once the books contain hours of load. */
const mostParts = (seconds: number) => seconds > 1_800 ? 24 : 60;

export async function soak(options: SoakOptions): Promise<SoakResult> {
  const { seconds, seed, faults = false, plant, isOneServer = false, organizations, rate, say = () => {} } = options;
  const world = await openWorld({ faults, plant, isOneServer });
  const stalls = new Stalls(world);
  try {
    // Checks, measurements and faults take time, too.
    const load = await Load.open(world, { seed, organizations, seconds: 300 + seconds * 2 });
    const rates: number[] = [];
    let measuredAt = -Infinity;
    const findRate = async () => {
      if (performance.now() - measuredAt < MEASURE_EVERY_MS) return;
      const { least, most } = MEASURE_SECONDS;
      if (rate) load.rate = rate;
      else await load.measure(Math.max(least, Math.min(most, seconds * MEASURE_SHARE)));
      measuredAt = performance.now();
      rates.push(load.rate);
      say(`${load.rate.toFixed(0)} actions of clients a second from now on`);
    };
    await findRate();
    const memory = new Memory(world);
    const parts = Math.max(4, Math.min(mostParts(seconds), Math.floor(seconds / PART_SECONDS)));
    const problems: string[] = [];
    const toCome = faults ? chooseFaults(options) : [];
    // First a part without faults, which shows the growth of memory, then one fault after the other, each followed by a
    // quiet time.
    const calmParts = Math.max(1, parts - toCome.length);
    let calm: ReturnType<Memory["slopes"]> = [];
    for (let part = 0; part < calmParts || toCome.length > 0; part++) {
      const fault = part < calmParts ? undefined : toCome.shift();
      await findRate();
      const startedAt = performance.now();
      await load.run(seconds / parts, fault && breakFor(load, fault, { seconds: seconds / parts, say }));
      await memory.sample();
      if (part < calmParts) calm = memory.slopes();
      const found = await load.check();
      problems.push(...found);
      if (fault) say(told(fault, found.length + load.traffic.problems.length, performance.now() - startedAt));
      if (problems.length + load.traffic.problems.length > 0) break;
    }
    await load.finish();
    problems.push(
      ...await load.check({ complete: true }),
      ...world.logs.failures,
      ...faults ? await checkSummerTime(world, load.traffic) : [],
      ...memoryProblems(calm, seconds / parts * calmParts),
    );
    const all = [...new Set([...load.traffic.problems, ...problems])];
    return {
      options,
      rates,
      heldBack: load.heldBack,
      kinds: load.traffic.kinds,
      outcomes: load.traffic.outcomes,
      memory: calm,
      problems: [...all, ...await world.logs.linesOf(all.flatMap(requestIds))],
      stalls: stalls.lines,
    };
  } finally {
    await stalls.stop();
    await world.close();
  }
}
