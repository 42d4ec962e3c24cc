/** A household's own books: payments in whole minor units, with payer and purpose. Never asks the product. */
import { mondayOf } from "./days.ts";
import { worth } from "./money.ts";

export interface Entry {
  date: string;
  name: string;
  minor: number;
  currency: string;
  category: string;
  isRefund?: boolean;
  payee?: string;
  tags?: string[];
  /** The author; absent for an automatic charge. */
  member?: string;
  /** For a bill: its name and the paid date. */
  bill?: { name: string; dueOn: string };
  /** The bank's charge, in the base currency. */
  charged?: number;
}

export class Ledger {
  #entries = new Map<string, Entry>();
  #next = 0;

  constructor(readonly base: string) {}

  /** @returns a key for later changes */
  add(entry: Entry): string {
    const key = `entry ${++this.#next}`;
    this.#entries.set(key, entry);
    return key;
  }

  get = (key: string): Entry => this.#entries.get(key)!;
  change = (key: string, change: Partial<Entry>): void => void this.#entries.set(key, { ...this.get(key), ...change });
  remove = (key: string): boolean => this.#entries.delete(key);
  keys = (): string[] => [...this.#entries.keys()];

  /** The payment for a date of a bill. */
  paymentOf(name: string, dueOn: string): string | undefined {
    return this.keys().find((key) => {
      const { bill } = this.get(key);
      return bill?.name === name && bill.dueOn === dueOn;
    });
  }

  within = (from: string, to: string): Entry[] =>
    [...this.#entries.values()].filter(({ date }) => date >= from && date <= to);

  /** In the base currency, at the rate of the payment's day. */
  valueOf = ({ minor, currency, date, charged }: Entry): number =>
    charged ?? worth(minor, { from: currency, to: this.base, on: date });
}

/** Refunds lower the spending. */
export const signed = (amount: number, { isRefund }: Entry): number => isRefund ? -amount : amount;

/** The groups of a total. An expense with several tags counts under each. */
export const GROUPINGS: Record<string, (entry: Entry) => string[]> = {
  category: ({ category }) => [category],
  payee: ({ payee, name }) => [payee ?? name],
  tag: ({ tags }) => tags?.length ? tags : ["Untagged"],
  month: ({ date }) => [date.slice(0, 7)],
  week: ({ date }) => [mondayOf(date)],
  day: ({ date }) => [date],
  currency: ({ currency }) => [currency],
  member: ({ member }) => [member ?? "Automatic"],
};
