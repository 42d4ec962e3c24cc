/** One run: the world is opened, measured, loaded, checked, and searched for what it should not have kept. */
import { FAULTS } from "./faults/mod.ts";
import { type Fault, pause, untilWell } from "./faults/fault.ts";
import { Load } from "./load.ts";
import { Memory } from "./measure/memory.ts";
import type { Latencies } from "./measure/latency.ts";
import { openWorld } from "./world/world.ts";

export interface SoakOptions {
  seconds: number;
  seed: number;
  faults?: boolean;
  plant?: string | undefined;
  organizations?: number;
  /** Part of the names of the faults to have; all without it. */
  only?: string | undefined;
}

export interface SoakResult {
  options: SoakOptions;
  holds: number;
  rate: number;
  kinds: ReadonlyMap<string, Latencies>;
  outcomes: ReadonlyMap<string, number>;
  memory: ReturnType<Memory["slopes"]>;
  /** What happened, in order. */
  story: string[];
  problems: string[];
}

/** A fault comes after a part of its time, so that the load is under way and can recover. */
const BEFORE = 0.2;

async function breakFor(load: Load, fault: Fault, seconds: number): Promise<void> {
  await pause(seconds * BEFORE * 1000);
  if (!fault.isUnnoticed) load.traffic.break();
  try {
    await fault.act(load);
    await untilWell(load);
  } catch (thrown) {
    load.traffic.problem(`${fault.name}: ${thrown instanceof Error ? thrown.stack : thrown}`);
  } finally {
    load.traffic.mend();
  }
}

const told = ({ name }: Fault, problems: number, ms: number) =>
  `${problems === 0 ? "held " : "FAILED"} ${name} (${(ms / 1000).toFixed(0)} s)`;

const MEASURE_SECONDS = 6;
/** The shortest part of a run that is loaded without a pause. */
const PART_SECONDS = 5;

export async function soak(options: SoakOptions): Promise<SoakResult> {
  const { seconds, seed, faults = false, plant, organizations, only } = options;
  const world = await openWorld({ faults, plant });
  const story: string[] = [];
  try {
    const load = await Load.open(world, { seed, organizations });
    const holds = await load.measure(MEASURE_SECONDS);
    const memory = new Memory(world);
    const parts = Math.max(4, Math.min(60, Math.floor(seconds / PART_SECONDS)));
    const problems: string[] = [];
    const toCome = faults ? [...FAULTS].filter(({ name }) => !only || name.includes(only)) : [];
    for (let part = 0; part < parts || toCome.length > 0; part++) {
      const fault = toCome.shift();
      const startedAt = performance.now();
      await Promise.all([load.run(seconds / parts), fault && breakFor(load, fault, seconds / parts)]);
      await memory.sample();
      const found = await load.check();
      problems.push(...found);
      if (fault) story.push(told(fault, found.length, performance.now() - startedAt));
      if (problems.length > 0) break;
    }
    await load.finish();
    problems.push(...await load.check({ complete: true }), ...world.logs.failures);
    return {
      options,
      holds,
      rate: load.rate,
      kinds: load.traffic.kinds,
      outcomes: load.traffic.outcomes,
      memory: memory.slopes(),
      story,
      problems: [...new Set([...load.traffic.problems, ...problems])],
    };
  } finally {
    await world.close();
  }
}
