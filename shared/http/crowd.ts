/**
 * Limits the number of bodies that are read at once, because reading takes memory but no place. Above the limit, the
 * sender with the most bodies loses its oldest one. A body that arrives in one piece is read before that can happen.
 */

/** The caller according to the request's headers. */
export interface Asker {
  /** The organization of a verified token, otherwise the address. */
  whose: string;
  /** Whether its token was valid before, because anybody can invent tokens. */
  isProven: boolean;
}
export type Identify = (headers: Headers) => Asker;

interface Sender {
  headers: Headers;
  asker?: Asker;
  turnAway(): void;
}

export class Crowd {
  /** The oldest comes first. */
  readonly #senders = new Set<Sender>();

  /** @param identify called only above the limit */
  constructor(private readonly most: number, private readonly identify: () => Promise<Identify>) {}

  /** @param turnAway called if this sender must leave before its body is read @returns a function that ends its stay */
  async enter(headers: Headers, turnAway: () => void): Promise<() => void> {
    if (this.#senders.size >= this.most) {
      const identify = await this.identify();
      while (this.#senders.size >= this.most) this.#turnOneAway(identify);
    }
    const sender = { headers, turnAway };
    this.#senders.add(sender);
    return () => void this.#senders.delete(sender);
  }

  /** Evicts senders with a verified token last. */
  #turnOneAway(identify: Identify): void {
    const askerOf = (sender: Sender) => sender.asker ??= identify(sender.headers);
    const all = [...this.#senders];
    const unproven = all.filter((sender) => !askerOf(sender).isProven);
    const byAsker = Map.groupBy(unproven.length > 0 ? unproven : all, (sender) => askerOf(sender).whose);
    const greediest = [...byAsker.values()].reduce((most, one) => one.length > most.length ? one : most);
    this.#senders.delete(greediest[0]!);
    greediest[0]!.turnAway();
  }
}
