/** Words of shared costs and of `settle_up`. */
import { DATA_FORMAT, type EffectFormat } from "../effect_format.ts";
import type { Money, Refusal } from "../message.ts";
import { and, ask, money, type WhoCan } from "./phrases.ts";

interface Parties {
  /** Absent for a former member. */
  from?: string;
  to?: string;
}

const person = (who?: string): string => who ?? "a former member";

interface Balances {
  balances: (Parties & Money)[];
}

const owed = ({ balances }: Balances): string =>
  balances.length === 0
    ? "Nobody owes anybody anything."
    : `${and(balances.map(({ from, to, ...sum }) => `${person(from)} owes ${person(to)} ${money(sum)}`))}.`;

export const refusals = {
  "invalid_argument.cannot_share": ({ who }: { who?: string }): Refusal => ({
    message: who ? `Costs can't be shared with ${who}, who only reads these books.` : "No member was named.",
    hint: "Name members who can write, by their address.",
  }),
  "invalid_argument.shared_twice": (): Refusal => ({
    message: "Somebody is named twice.",
    hint: "Give shares to let one person bear more than another.",
  }),
  "invalid_argument.shares_do_not_match": ({ people, given }: { people: number; given: number }): Refusal => ({
    message: `${people} people share this, but ${given} shares or amounts were given.`,
    hint: "Give either shares or amounts, one for each person in between, in the same order.",
  }),
  "invalid_argument.shares_do_not_add_up": (
    { sum, amount, currency }: Money & { sum: string },
  ): Refusal => ({
    message: `The amounts that people bear add up to ${sum}, but this is ${money({ amount, currency })}.`,
    hint: "Ask how much each person bears, and give shared with amounts that add up.",
  }),
  "invalid_argument.shared_in_private": ({ who }: { who: string }): Refusal => ({
    message: `This is in a private category, which ${who} doesn't see.`,
    hint: "Choose another category, or share it without them.",
  }),
  "invalid_argument.settle_with_whom": (balances: Balances): Refusal => ({
    message: `It isn't clear who gave money to whom. ${owed(balances)}`,
    hint: "Give from and to.",
  }),
  "invalid_argument.settle_which_currency": (
    { from, to, currencies }: Parties & { currencies: string[] },
  ): Refusal => ({
    message: `In ${and(currencies)}, ${person(from)} owes ${person(to)} money.`,
    hint: "Call once for each currency.",
  }),
  "invalid_argument.nothing_owed": (
    { from, to, currency, ...balances }: Parties & Balances & { currency: string | null },
  ): Refusal => ({
    message: `Nothing is owed by ${person(from)} to ${person(to)}${currency ? ` in ${currency}` : ""}. ${
      owed(balances)
    }`,
    hint: "If money changed hands anyway, give its amount.",
  }),
  "forbidden_role.settle_others": (who: WhoCan): Refusal => ({
    message: "Only the owner or a manager can settle up between other people.",
    hint: ask(who),
  }),
};

type Settled = Parties & Money & { date: string };

export const warnings = {
  "duplicate.settlement": ({ from, to, date, ...sum }: Settled): string =>
    `That ${person(from)} gave ${person(to)} ${
      money(sum)
    } on ${date} is already in the books, so nothing was written. ` +
    'If it really was given twice, call again with on_duplicate "allow".',
  "more_than_owed": ({ from, to, owed: before, currency }: Settled & { owed: string }): string =>
    Number(before) === 0
      ? `${person(from)} owed ${person(to)} nothing in ${currency}, so ${person(to)} now owes all of it back.`
      : `This is more than the ${money({ amount: before, currency })} that ${person(from)} owed ${person(to)}, so ${
        person(to)
      } now owes back the rest.`,
};

/** Summaries in the list of recent changes. */
export const changes = {
  settle_up: ({ from, to, ...sum }: Settled, format: EffectFormat = DATA_FORMAT): string =>
    `Recorded that ${person(from)} gave ${person(to)} ${format.money(sum.amount, sum.currency)} for shared costs`,
};
