/** Totals a month: amounts in one currency, added exactly and rounded once. */
import { decimalsOf } from "./currency.ts";
import { add, type Decimal, parseDecimal, roundTo, shift, ZERO } from "./decimal.ts";
import type { Statement } from "./provider.ts";
import { ProviderError } from "./provider_error.ts";

/** 10^12 whole units: certainly a misread amount. */
const MAX_UNITS = 10n ** 12n;

export class MonthTotal {
  #sum: Decimal = ZERO;
  #currency?: string;

  /** @param usual the currency when a month has no amounts. */
  constructor(readonly usual: string) {}

  /**
   * @param amount in whole units, or in the currency's minor units (`isMinor`), possibly with decimals.
   * @throws {ProviderError} `bad_shape` for an invalid amount or a second currency, since the two cannot be added.
   */
  add(amount: string, currency: string, { isMinor = false } = {}): void {
    const code = currency.toUpperCase();
    const number = parseDecimal(amount);
    if (!number || !/^[A-Za-z]{3}$/.test(currency)) {
      throw new ProviderError("bad_shape", "An amount is invalid or has no currency");
    }
    this.#currency ??= code;
    if (code !== this.#currency) throw new ProviderError("bad_shape", "The month has amounts in several currencies");
    this.#sum = add(this.#sum, isMinor ? shift(number, decimalsOf(code)) : number);
  }

  /**
   * A negative month is 0, because credits leave nothing to pay. The provider itself carries the remaining credit over
   * to a later month, so reporting it would count it twice. People still notice a wrong sign, since they review a drop
   * to 0 like every jump.
   * @param pages how many were read.
   * @throws {ProviderError} `bad_shape` for an implausible amount.
   */
  statement(pages: number): Statement {
    const currency = this.#currency ?? this.usual;
    const { units, scale } = this.#sum;
    if (units / 10n ** BigInt(scale) >= MAX_UNITS) {
      throw new ProviderError("bad_shape", "The amount is implausibly large");
    }
    return { amount: roundTo(units < 0n ? ZERO : this.#sum, decimalsOf(currency)), currency, pages };
  }
}
