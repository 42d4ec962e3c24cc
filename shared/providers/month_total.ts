/** What a month comes to: amounts in one currency, added exactly and rounded once. */
import { decimalsOf } from "./currency.ts";
import { add, type Decimal, parseDecimal, roundTo, shift, ZERO } from "./decimal.ts";
import type { Statement } from "./provider.ts";
import { ProviderError } from "./provider_error.ts";

/** A million million, in whole units: no bill, but a misread one. */
const TOO_MUCH = 10n ** 12n;

export class MonthTotal {
  #sum: Decimal = ZERO;
  #currency?: string;

  /** @param usual the currency of a month without a single amount. */
  constructor(readonly usual: string) {}

  /**
   * @param amount in whole units, or in the currency's smallest ones (`isMinor`, cents of a dollar), with decimals of its own.
   * @throws {ProviderError} `bad_shape` for what is no amount, and for a second currency: there is no honest sum of two.
   */
  add(amount: string, currency: string, { isMinor = false } = {}): void {
    const code = currency.toUpperCase();
    const number = parseDecimal(amount);
    if (!number || !/^[A-Za-z]{3}$/.test(currency)) {
      throw new ProviderError("bad_shape", "An amount is none, or has no currency");
    }
    this.#currency ??= code;
    if (code !== this.#currency) throw new ProviderError("bad_shape", "The month has amounts in several currencies");
    this.#sum = add(this.#sum, isMinor ? shift(number, decimalsOf(code)) : number);
  }

  /**
   * A month that credits brought below zero has nothing to pay: 0. What is left over the provider sets against a later month, whose
   * amount it says then; passing it on would have it counted twice. A mistaken sign cannot slip through so: a fall to 0 is looked at by
   * a person like every jump.
   * @param pages how many it took.
   * @throws {ProviderError} `bad_shape` for an amount that nobody owes.
   */
  statement(pages: number): Statement {
    const currency = this.#currency ?? this.usual;
    const { units, scale } = this.#sum;
    if (units / 10n ** BigInt(scale) >= TOO_MUCH) {
      throw new ProviderError("bad_shape", "The amount is out of all proportion");
    }
    return { amount: roundTo(units < 0n ? ZERO : this.#sum, decimalsOf(currency)), currency, pages };
  }
}
