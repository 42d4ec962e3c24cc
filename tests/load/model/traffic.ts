/**
 * Sends every request of a run, times it, and searches its response for rows of other organizations. Counts a failure
 * unless a fault was active at that moment.
 */
import { Latencies } from "../measure/latency.ts";
import type { Slug } from "../../../shared/routes.ts";
import { CANARY } from "../world/secrets.ts";
import { MARKS } from "../world/seed.ts";
import type { Functions } from "../world/functions.ts";

/** Longer than the functions wait for the database. */
const DEADLINE_MS = 15_000;
/** After a fault, all delayed requests arrive at once, and the service may shed some. */
const RECOVERY_MS = 10_000;

export interface Reply {
  status: number;
  headers: Headers;
  text: string;
}

export interface Sent {
  /** Its name in the table of times. */
  kind: string;
  slug: Slug;
  path: string;
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  /** For requests that may take longer than a database call. */
  deadlineMs?: number;
  /** The owner of the response; all other marks belong to others. */
  organization?: number;
}

export class Traffic {
  readonly kinds = new Map<string, Latencies>();
  readonly problems: string[] = [];
  /** Every token that was issued to a client. */
  readonly issued: string[] = [];
  /** Responses by kind and status, and requests without one. */
  readonly outcomes = new Map<string, number>();
  /** Shed by the service; not a failure in overload tests. */
  shed = 0;
  #brokenSince: number | undefined;
  #brokenUntil = -Infinity;
  /** The periods at full capacity, each with its start and end. */
  #exceeded = [Infinity, -Infinity] as [number, number];

  constructor(private readonly functions: Functions) {}

  problem(told: string): void {
    if (this.problems.length < 200) this.problems.push(told);
  }

  /** From now on, failures are expected. */
  break(): void {
    this.#brokenSince ??= performance.now();
  }
  /** Running requests may still fail, later ones may not. */
  mend(): void {
    this.#brokenSince = undefined;
    this.#brokenUntil = performance.now();
  }
  /**
   * From now on the load measures the machine's capacity, so durations don't represent the later rate, and the service
   * may shed requests as in an overload.
   */
  exceed(): void {
    this.#exceeded = [performance.now(), Infinity];
  }
  /** Back at the rate; the service may still shed earlier requests. */
  keep(): void {
    this.#exceeded[1] = performance.now();
  }
  get isBroken(): boolean {
    return this.isExcused(performance.now(), { isShed: true });
  }
  /** @param isShed whether the service shed it. */
  isExcused(sentAt: number, { isShed = false } = {}): boolean {
    return this.#brokenSince !== undefined || sentAt < this.#brokenUntil + (isShed ? RECOVERY_MS : 0) ||
      isShed && this.#wasExceeded(sentAt);
  }

  /** @returns undefined without a response, or if the response only reports a failure */
  async send(sent: Sent): Promise<Reply | undefined> {
    const { kind, slug, path, method = "POST", headers, body, organization, deadlineMs = DEADLINE_MS } = sent;
    const sentAt = performance.now();
    let reply: Reply;
    try {
      const { port } = this.functions.instanceOf(slug);
      const response = await fetch(`http://127.0.0.1:${port}${path}`, {
        method,
        headers,
        body,
        redirect: "manual",
        signal: AbortSignal.timeout(deadlineMs),
      });
      reply = { status: response.status, headers: response.headers, text: await response.text() };
    } catch (thrown) {
      this.#count(`${kind} no answer`);
      if (!this.isExcused(sentAt)) this.problem(`${kind} got no answer: ${thrown}`);
      return undefined;
    }
    this.#count(`${kind} ${reply.status}`);
    if (!this.#wasExceeded(sentAt)) this.#time(kind, performance.now() - sentAt);
    if (reply.text.includes(CANARY)) this.problem(`${kind} was answered with a secret`);
    const foreign = organization === undefined ? undefined : foreignMark(reply.text, organization);
    if (foreign) this.problem(`${kind} of organization ${organization} got a row of another one: ${foreign}`);
    const isShed = reply.status === 503 && reply.headers.has("retry-after");
    if (isShed) this.shed++;
    if (reply.status >= 500) {
      if (!this.isExcused(sentAt, { isShed })) {
        this.problem(`${kind} was answered ${reply.status}: ${reply.text.slice(0, 300)}`);
      }
      return undefined;
    }
    return reply;
  }

  #wasExceeded(sentAt: number): boolean {
    const [from, until] = this.#exceeded;
    return sentAt >= from && sentAt < until;
  }
  #count(outcome: string): void {
    this.outcomes.set(outcome, (this.outcomes.get(outcome) ?? 0) + 1);
  }
  #time(kind: string, ms: number): void {
    for (const one of ["all", kind]) {
      const latencies = this.kinds.get(one) ?? new Latencies();
      this.kinds.set(one, latencies);
      latencies.add(ms);
    }
  }
}

/** Some words around another organization's mark. */
export function foreignMark(text: string, own: number): string | undefined {
  for (const match of text.matchAll(MARKS)) {
    if (Number(match[1]) !== own) return text.slice(Math.max(0, match.index - 60), match.index + 60);
  }
  return undefined;
}
