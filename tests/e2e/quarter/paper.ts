/** The test's own ledger: payers, shares, settlements, and each person's writes per day. */
import type { Chance } from "../year/days.ts";
import { say } from "../year/money.ts";

export const CURRENCIES = ["EUR", "JPY", "KWD"] as const;
export type Currency = typeof CURRENCIES[number];
/** Yen for one euro, every day. The dinar has no rate. */
export const YEN = 160;

/** The people, their parts, and the form in which a person states them. */
export interface Sharing {
  how: "equally" | "shares" | "amounts";
  parts: [person: number, parts: number][];
}

/** An expense or a payment of a bill. People are named by their index. */
export interface Entry {
  minor: number;
  currency: Currency;
  payer: number;
  sharing: Sharing;
  isDeleted: boolean;
}
export interface Settlement {
  from: number;
  to: number;
  minor: number;
  currency: Currency;
}

/** The size of a write: minor units by currency, and the number of deleted records. */
export interface Moved {
  sums: Partial<Record<Currency, number>>;
  gone: number;
}

/** `shared` in the tool's form, and in the ledger's. */
export function drawSharing(chance: Chance, minor: number, currency: Currency, emails: readonly string[]) {
  const drawn = emails.map((_, person) => person).filter(() => !chance.oneIn(3));
  const people = drawn.length > 0 ? drawn : [chance.int(0, emails.length - 1)];
  const between = people.map((person) => emails[person]!);
  const draw = (how: Sharing["how"], partOf: (place: number) => number) => ({
    how,
    parts: people.map((person, place): [number, number] => [person, partOf(place)]),
  });
  const way = chance.int(0, 2);
  if (way === 0) return { shared: { between }, sharing: draw("equally", () => 1) };
  if (way === 1 || minor <= people.length) {
    const sharing = draw("shares", () => chance.int(1, 5));
    return { shared: { between, shares: sharing.parts.map(([, parts]) => parts) }, sharing };
  }
  // The first member bears the rest.
  const sharing = draw("amounts", (place) => place === 0 ? minor - people.length + 1 : 1);
  return { shared: { between, amounts: sharing.parts.map(([, parts]) => say(parts, currency)) }, sharing };
}

/** If positive, the person with the lower index owes the other. Keyed by `lower higher currency`. */
export function balancesOf(entries: Iterable<Entry>, settlements: readonly Settlement[]): Map<string, number> {
  const balances = new Map<string, number>();
  const owe = (from: number, to: number, currency: Currency, minor: number) => {
    const [key, signed] = from < to ? [`${from} ${to} ${currency}`, minor] : [`${to} ${from} ${currency}`, -minor];
    balances.set(key, (balances.get(key) ?? 0) + signed);
  };
  for (const { minor, currency, payer, sharing: { parts: all }, isDeleted } of entries) {
    if (isDeleted) continue;
    const whole = all.reduce((sum, [, parts]) => sum + parts, 0);
    for (const [person, parts] of all) {
      // Rounded down; the payer keeps the remainder.
      if (person !== payer) owe(person, payer, currency, Number(BigInt(minor) * BigInt(parts) / BigInt(whole)));
    }
  }
  for (const { from, to, minor, currency } of settlements) owe(to, from, currency, minor);
  for (const [key, minor] of balances) if (minor === 0) balances.delete(key);
  return balances;
}

/** Each pair and currency as `debtor creditor amount currency`. */
export const told = (balances: Map<string, number>): string[] =>
  [...balances].map(([key, minor]) => {
    const [lower, higher, currency] = key.split(" ") as [string, string, Currency];
    const [from, to] = minor > 0 ? [lower, higher] : [higher, lower];
    return `${from} ${to} ${say(Math.abs(minor), currency)} ${currency}`;
  }).toSorted();

/** Writes without approval, with author and time. */
export class Window {
  #written: (Moved & { at: number })[] = [];

  add(at: Date, moved: Moved): void {
    this.#written.push({ ...moved, at: at.getTime() });
  }

  /** Includes the writes of the previous 24 hours. */
  with(at: Date, moved: Moved): Moved {
    const day = this.#written.filter((one) => one.at > at.getTime() - 86_400_000);
    const total: Moved = { sums: { ...moved.sums }, gone: moved.gone };
    for (const { sums, gone } of day) {
      total.gone += gone;
      for (const currency of CURRENCIES) {
        if (sums[currency]) total.sums[currency] = (total.sums[currency] ?? 0) + sums[currency];
      }
    }
    return total;
  }
}

/** Whether sums exceed an amount of euro cents; without a rate, the value could be any amount. */
export const exceeds = ({ EUR = 0, JPY = 0, KWD }: Moved["sums"], cents: number): boolean =>
  KWD !== undefined || EUR + Math.round(JPY * 100 / YEN) > cents;
