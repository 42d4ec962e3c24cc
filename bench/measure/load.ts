/** One timed block of requests over a few persistent connections. */
import { type Answer, Connection } from "./raw_http.ts";

/** A request, and the check of its response. */
export interface Load {
  /** Prepares a block before its timing starts. */
  prepare(count: number): Promise<void>;
  /** @param lane the connection; requests of one lane run in sequence */
  request(index: number, lane: number): Uint8Array;
  /** Whether the response is the expected one. */
  isGood(answer: Answer, lane: number): boolean;
}

export interface Block {
  perSecond: number;
  /** Milliseconds of each request. */
  latencies: number[];
  errors: number;
}

/** The first unexpected response, which shows the reason. */
export interface Failures {
  first?: string;
}

export class Lanes {
  readonly #connections: Connection[];

  constructor(port: number, count: number) {
    this.#connections = Array.from({ length: count }, () => new Connection(port));
  }

  async block(load: Load, count: number, failures: Failures = {}): Promise<Block> {
    await load.prepare(count);
    const latencies: number[] = [];
    let errors = 0;
    let next = 0;
    const startedAt = performance.now();
    await Promise.all(this.#connections.map(async (connection, lane) => {
      while (next < count) {
        const request = load.request(next++, lane);
        const sentAt = performance.now();
        const answer = await connection.send(request);
        latencies.push(performance.now() - sentAt);
        if (load.isGood(answer, lane)) continue;
        errors++;
        failures.first ??= `${answer.status} ${answer.body.slice(0, 300)}`;
      }
    }));
    return { perSecond: count / (performance.now() - startedAt) * 1000, latencies, errors };
  }

  close(): void {
    for (const connection of this.#connections) connection.close();
  }
}
