/** Durations by kind of request, in buckets of 5 %, so that two hours fit in memory and any percentile is available. */

const STEP = Math.log(1.05);

export class Latencies {
  #buckets = new Map<number, number>();
  count = 0;
  worst = 0;

  add(ms: number): void {
    const bucket = Math.floor(Math.log(Math.max(ms, 0.05)) / STEP);
    this.#buckets.set(bucket, (this.#buckets.get(bucket) ?? 0) + 1);
    this.count++;
    this.worst = Math.max(this.worst, ms);
  }

  /** The time in milliseconds within which this fraction got a response, to 5 %. */
  quantile(share: number): number {
    let left = this.count * share;
    for (const [bucket, count] of [...this.#buckets].toSorted(([a], [b]) => a - b)) {
      left -= count;
      if (left <= 0) return Math.min(Math.exp((bucket + 1) * STEP), this.worst);
    }
    return this.worst;
  }
}

const figure = (ms: number) => ms < 10 ? ms.toFixed(1) : String(Math.round(ms));

/** p50, p99 and p99.9 of each kind, the most frequent first. */
export function latencyTable(kinds: ReadonlyMap<string, Latencies>): string[] {
  const all = [...kinds].toSorted(([, a], [, b]) => b.count - a.count);
  return [
    "                          count     p50     p99   p99.9   worst  ms",
    ...all.map(([kind, latencies]) =>
      kind.padEnd(22) + [
        String(latencies.count),
        ...[0.5, 0.99, 0.999].map((share) => figure(latencies.quantile(share))),
        figure(latencies.worst),
      ].map((text) => text.padStart(8)).join("")
    ),
  ];
}
