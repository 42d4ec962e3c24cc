/**
 * A number of places that are taken in turns: while all are taken, those who wait are served one of each in turn,
 * however many requests one of them has. It knows nothing of HTTP.
 */

export interface FairQueueLimits {
  /** How many run at once. */
  places: number;
  /** How many wait at most. */
  waiting: number;
  /** How long one waits at most. */
  waitMs: number;
}

interface Waiter {
  settle(admitted: boolean): void;
  timer: ReturnType<typeof setTimeout>;
}

export class FairQueue {
  #running = 0;
  #waiting = 0;
  /** By whose they are; the first key is the next to be served, with its oldest. */
  readonly #queues = new Map<string, Waiter[]>();

  constructor(private readonly limits: FairQueueLimits) {}

  /** Takes a place if one is free: the way of nearly every request, which costs nothing. */
  tryEnter(): boolean {
    if (this.#running >= this.limits.places) return false;
    this.#running++;
    return true;
  }

  /**
   * Waits for a place. When too many wait, the one who has most waiting loses its newest.
   * @returns whether it has a place; if not, there is nothing to leave.
   */
  async enter(whose: string): Promise<boolean> {
    if (this.tryEnter()) return true;
    if (this.#waiting >= this.limits.waiting && !this.#giveWayTo(whose)) return false;
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const queue = this.#queues.get(whose) ?? [];
    const waiter: Waiter = {
      settle: (admitted) => {
        clearTimeout(waiter.timer);
        this.#waiting--;
        resolve(admitted);
      },
      timer: setTimeout(() => {
        queue.splice(queue.indexOf(waiter), 1);
        if (queue.length === 0) this.#queues.delete(whose);
        waiter.settle(false);
      }, this.limits.waitMs),
    };
    queue.push(waiter);
    this.#queues.set(whose, queue);
    this.#waiting++;
    return await promise;
  }

  /** Gives the place to whoever's turn it is. */
  leave(): void {
    for (const [whose, queue] of this.#queues) {
      this.#queues.delete(whose);
      const next = queue.shift()!;
      // To the end of the line, for what else it has.
      if (queue.length > 0) this.#queues.set(whose, queue);
      next.settle(true);
      return;
    }
    this.#running--;
  }

  /** Makes room by taking from who has most. @returns false when that is the one who asks. */
  #giveWayTo(whose: string): boolean {
    const own = this.#queues.get(whose)?.length ?? 0;
    const [greediest, queue] = [...this.#queues].reduce((most, one) => one[1].length > most[1].length ? one : most);
    if (queue.length <= own + 1) return false;
    const newest = queue.pop()!;
    if (queue.length === 0) this.#queues.delete(greediest);
    newest.settle(false);
    return true;
  }
}
