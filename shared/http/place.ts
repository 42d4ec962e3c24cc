/**
 * A request's place among the running ones (fair_queue.ts). The request releases it while it waits for another party
 * (its sender, a provider, a mail server), because slow parties must not occupy all places.
 */
import { currentRequest } from "./current_request.ts";

export class Place {
  /** The number of waits in progress, because a request may query several providers at once. */
  #waits = 0;
  #isOver = false;

  constructor(private readonly queue: { leave(): void; takeBack(): void }) {}

  /** Waits without the place, and reclaims it afterwards. */
  async outside<Result>(wait: () => Promise<Result>): Promise<Result> {
    if (this.#isOver) return await wait();
    if (this.#waits++ === 0) this.queue.leave();
    try {
      return await wait();
    } finally {
      if (--this.#waits === 0 && !this.#isOver) this.queue.takeBack();
    }
  }

  /** Called after the response. */
  end(): void {
    if (!this.#isOver && this.#waits === 0) this.queue.leave();
    this.#isOver = true;
  }
}

/** Waits for another party without occupying the current request's place, if it has one. */
export async function outsidePlace<Result>(wait: () => Promise<Result>): Promise<Result> {
  const place = currentRequest()?.place;
  return place ? await place.outside(wait) : await wait();
}
