/**
 * A fixed number of places, served in turns: while all are taken, each waiting caller gets one place per round,
 * however many requests it has. Verified callers wait in a separate line, and unverified ones can take only some of
 * the places. Independent of HTTP.
 */
import { systemTimer, type Timer } from "../clock.ts";

export interface FairQueueLimits {
  /** How many run at once. */
  places: number;
  /** The maximum number of places for unverified callers. */
  unproven: number;
  /** The length of each line. */
  waiting: number;
  /** The longest wait. */
  waitMs: number;
}

export type Kind = "proven" | "unproven";

interface Waiter {
  settle(admitted: boolean): void;
}

export class FairQueue {
  readonly #taken = { proven: 0, unproven: 0 };
  readonly #lines = { proven: new Line(), unproven: new Line() };
  /** The line that is served next. */
  #next: Kind = "proven";

  constructor(private readonly limits: FairQueueLimits, private readonly timer: Timer = systemTimer) {}

  /** Takes a place if one is free, which is the case for nearly every request. */
  tryEnter(kind: Kind): boolean {
    if (!this.#hasPlaceFor(kind)) return false;
    this.#taken[kind]++;
    return true;
  }

  /**
   * Waits for a place. When too many wait, the caller with the most waiting requests loses its newest.
   * @returns whether it got a place; if not, do not call `leave`.
   */
  async enter(kind: Kind, whose: string): Promise<boolean> {
    if (this.tryEnter(kind)) return true;
    const line = this.#lines[kind];
    if (line.length >= this.limits.waiting && !line.giveWayTo(whose)) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const cancel = this.timer(this.limits.waitMs, () => {
      line.remove(whose, waiter);
      waiter.settle(false);
    });
    const waiter: Waiter = {
      settle: (admitted) => {
        cancel();
        resolve(admitted);
      },
    };
    line.add(whose, waiter);
    return await promise;
  }

  /** Gives the slot to the next in turn. The lines alternate, so neither waits until the other is empty. */
  leave(kind: Kind): void {
    this.#taken[kind]--;
    for (const next of this.#next === "proven" ? KINDS : KINDS.toReversed()) {
      if (this.#lines[next].length === 0 || !this.#hasPlaceFor(next)) continue;
      this.#next = next === "proven" ? "unproven" : "proven";
      this.#taken[next]++;
      this.#lines[next].shift().settle(true);
      return;
    }
  }

  /** Readmits a request that released its place temporarily: immediately, even above the number of places. */
  takeBack(kind: Kind): void {
    this.#taken[kind]++;
  }

  #hasPlaceFor(kind: Kind): boolean {
    const { proven, unproven } = this.#taken;
    return proven + unproven < this.limits.places && (kind === "proven" || unproven < this.limits.unproven);
  }
}

const KINDS: readonly Kind[] = ["proven", "unproven"];

class Line {
  length = 0;
  /** By caller; the first key is next, with its oldest request. */
  readonly #queues = new Map<string, Waiter[]>();

  add(whose: string, waiter: Waiter): void {
    const queue = this.#queues.get(whose) ?? [];
    queue.push(waiter);
    this.#queues.set(whose, queue);
    this.length++;
  }

  remove(whose: string, waiter: Waiter): void {
    const queue = this.#queues.get(whose)!;
    queue.splice(queue.indexOf(waiter), 1);
    if (queue.length === 0) this.#queues.delete(whose);
    this.length--;
  }

  /** The line must not be empty. */
  shift(): Waiter {
    const [whose, queue] = this.#queues.entries().next().value!;
    this.#queues.delete(whose);
    const next = queue.shift()!;
    // The caller's other requests go to the end of the line.
    if (queue.length > 0) this.#queues.set(whose, queue);
    this.length--;
    return next;
  }

  /** Makes room by dropping a request of the caller with the most. @returns false if that is this caller. */
  giveWayTo(whose: string): boolean {
    if (this.length === 0) return false;
    const own = this.#queues.get(whose)?.length ?? 0;
    const [greediest, queue] = [...this.#queues].reduce((most, one) => one[1].length > most[1].length ? one : most);
    if (queue.length <= own + 1) return false;
    const newest = queue.at(-1)!;
    this.remove(greediest, newest);
    newest.settle(false);
    return true;
  }
}
