/**
 * A request's place among those that run at once (fair_queue.ts). The request gives it back while it waits for somebody
 * else (its sender, a provider, a mail server), so that nobody can hold all places by being slow.
 */
import { currentRequest } from "./current_request.ts";

export class Place {
  /** How many waits are under way: a request may ask several providers at once. */
  #waits = 0;
  #isOver = false;

  constructor(private readonly queue: { leave(): void; takeBack(): void }) {}

  /** Waits without the place, and takes it back afterwards. */
  async outside<Result>(wait: () => Promise<Result>): Promise<Result> {
    if (this.#isOver) return await wait();
    if (this.#waits++ === 0) this.queue.leave();
    try {
      return await wait();
    } finally {
      if (--this.#waits === 0 && !this.#isOver) this.queue.takeBack();
    }
  }

  /** When the request is answered. */
  end(): void {
    if (!this.#isOver && this.#waits === 0) this.queue.leave();
    this.#isOver = true;
  }
}

/** Waits for somebody else without the place of the current request, if it has one. */
export async function outsidePlace<Result>(wait: () => Promise<Result>): Promise<Result> {
  const place = currentRequest()?.place;
  return place ? await place.outside(wait) : await wait();
}
