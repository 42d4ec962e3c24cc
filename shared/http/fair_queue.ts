/**
 * A number of places that are taken in turns: while all are taken, those who wait are served one of each in turn,
 * however many requests one of them has. Those who have proven who they are wait in a line of their own, and the others
 * can take only some of the places. It knows nothing of HTTP.
 */
import { systemTimer, type Timer } from "../clock.ts";

export interface FairQueueLimits {
  /** How many run at once. */
  places: number;
  /** How many of these are taken by unproven ones at most. */
  unproven: number;
  /** How many wait in each line at most. */
  waiting: number;
  /** How long one waits at most. */
  waitMs: number;
}

export type Kind = "proven" | "unproven";

interface Waiter {
  settle(admitted: boolean): void;
}

export class FairQueue {
  readonly #taken = { proven: 0, unproven: 0 };
  readonly #lines = { proven: new Line(), unproven: new Line() };
  /** Whose line is served next. */
  #next: Kind = "proven";

  constructor(private readonly limits: FairQueueLimits, private readonly timer: Timer = systemTimer) {}

  /** Takes a place if one is free: the way of nearly every request, which costs nothing. */
  tryEnter(kind: Kind): boolean {
    if (!this.#hasPlaceFor(kind)) return false;
    this.#taken[kind]++;
    return true;
  }

  /**
   * Waits for a place. When too many wait, the one who has most waiting loses its newest.
   * @returns whether it has a place; if not, there is nothing to leave.
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

  /** Gives the slot to the next in turn. The lines alternate, so that neither waits for the other to empty. */
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

  /** For one that was admitted and had left for a while: it gets a place at once, also beyond their number. */
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
  /** By whose they are; the first key is the next to be served, with its oldest. */
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

  /** Only of a line that is not empty. */
  shift(): Waiter {
    const [whose, queue] = this.#queues.entries().next().value!;
    this.#queues.delete(whose);
    const next = queue.shift()!;
    // To the end of the line, for what else it has.
    if (queue.length > 0) this.#queues.set(whose, queue);
    this.length--;
    return next;
  }

  /** Makes room by taking from who has most. @returns false when that is the one who asks. */
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
