/** The memory of each process over time, and its growth. Linux only. */
import type { World } from "../world/world.ts";

interface Sample {
  /** Seconds since the first. */
  at: number;
  mib: number;
}

const MIB = 2 ** 20;
/** The heap fills and settles in the first part of a run, so the slope is measured over the rest. */
const WARM_UP = 0.4;

export class Memory {
  readonly #samples = new Map<string, Sample[]>();
  readonly #startedAt = performance.now();

  constructor(private readonly world: World) {}

  /** Heaps after a collection, resident sets without one. */
  async sample(): Promise<void> {
    const at = (performance.now() - this.#startedAt) / 1000;
    const { functions, standIn, cluster, admin } = this.world;
    const note = (name: string, bytes: number) => {
      this.#samples.set(name, [...this.#samples.get(name) ?? [], { at, mib: bytes / MIB }]);
    };
    for (const { slug, port, pid } of functions.all()) {
      const usage = await fetch(`http://127.0.0.1:${port}/.load/memory`).then(
        (answer) => answer.json(),
        () => undefined,
      );
      // For one process, because a restarted one starts small.
      if (!usage) continue;
      note(`${slug} heap ${pid}`, usage.heapUsed + usage.external);
      note(`${slug} resident ${pid}`, usage.rss);
    }
    if (standIn) note("stand-in resident", residentOf(standIn.pid));
    note("PostgreSQL private", privateOf(cluster.pid()));
    const [size] = await admin.query<{ bytes: number }>("select pg_database_size(current_database()) as bytes").catch(
      () => [],
    );
    if (size) note("database size", Number(size.bytes));
  }

  /** By process: first value, last value, and MiB a minute (least squares over the settled part). */
  slopes(): { name: string; first: number; last: number; perMinute: number }[] {
    return [...this.#samples].filter(([, samples]) => samples.length > 3).map(([name, samples]) => ({
      name: name.replace(/ \d+$/, ""),
      first: samples[0]!.mib,
      last: samples.at(-1)!.mib,
      perMinute: slopeOf(samples.filter(({ at }) => at >= samples.at(-1)!.at * WARM_UP)) * 60,
    }));
  }
}

/** Heaps grow while caches fill, which has more effect on the second half of a short run. */
const growthAllowed = (minutes: number) => 1 + 12 / minutes;

/** @returns the processes that grow without limit */
export const memoryProblems = (slopes: ReturnType<Memory["slopes"]>, seconds: number): string[] =>
  slopes.filter(({ name, perMinute }) => name.endsWith(" heap") && perMinute > growthAllowed(seconds / 60)).map((
    { name, perMinute },
  ) => `the memory of ${name.replace(" heap", "")} grows by ${perMinute.toFixed(1)} MiB a minute`);

export const memoryTable = (slopes: ReturnType<Memory["slopes"]>): string[] => [
  "                               first    last  a minute  MiB",
  ...slopes.map(({ name, first, last, perMinute }) =>
    name.padEnd(28) +
    [first, last, perMinute].map((mib, column) => mib.toFixed(1).padStart(column === 2 ? 10 : 8)).join("")
  ),
];

function slopeOf(samples: readonly Sample[]): number {
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const [at, mib] = [mean(samples.map(({ at }) => at)), mean(samples.map(({ mib }) => mib))];
  const spread = samples.reduce((sum, sample) => sum + (sample.at - at) ** 2, 0);
  return spread === 0 ? 0 : samples.reduce((sum, sample) => sum + (sample.at - at) * (sample.mib - mib), 0) / spread;
}

const field = (pid: number, file: string, name: string): number => {
  try {
    const line = new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(Deno.readTextFileSync(`/proc/${pid}/${file}`));
    return Number(line?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
};
const residentOf = (pid: number) => field(pid, "status", "VmRSS");

/** The memory of the postmaster and its children, without shared memory. */
function privateOf(postmaster: number): number {
  let bytes = 0;
  for (const { name } of Deno.readDirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const pid = Number(name);
    if (pid === postmaster || parentOf(pid) === postmaster) {
      bytes += field(pid, "status", "RssAnon");
    }
  }
  return bytes;
}

function parentOf(pid: number): number {
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(Deno.readTextFileSync(`/proc/${pid}/status`))?.[1]);
  } catch {
    return 0;
  }
}
