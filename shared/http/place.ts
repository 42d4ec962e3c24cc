/**
 * A request's place among the running ones (fair_queue.ts). The request gives it back while it waits for another party
 * (its sender, a provider, a mail server), so that slow parties cannot hold all places.
 */
import { currentRequest } from "./current_request.ts";

export class Place {
  /** How many waits are in progress, because a request may query several providers at once. */
  #waits = 0;
  #isOver = false;

  constructor(private readonly queue: { leave(): void; takeBack(): void }) {}

  /** Waits without the place and takes it back afterwards. */
  async outside<Result>(wait: () => Promise<Result>): Promise<Result> {
    if (this.#isOver) return await wait();
    if (this.#waits++ === 0) this.queue.leave();
    try {
      return await wait();
    } finally {
      if (--this.#waits === 0 && !this.#isOver) this.queue.takeBack();
    }
  }

  /** Called when the request is answered. */
  end(): void {
    if (!this.#isOver && this.#waits === 0) this.queue.leave();
    this.#isOver = true;
  }
}

/** Waits for another party without holding the current request's place, if it has one. */
export async function outsidePlace<Result>(wait: () => Promise<Result>): Promise<Result> {
  const place = currentRequest()?.place;
  return place ? await place.outside(wait) : await wait();
}
