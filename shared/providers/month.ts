/** Checks that daily reports cover a month: each day once, no other days, up to the end of the month. */
import type { Month } from "./provider.ts";
import { ProviderError } from "./provider_error.ts";

/** @returns milliseconds since 1970. */
export const startOf = (day: string): number => Date.parse(`${day}T00:00:00Z`);

/** Whether an instant, in milliseconds since 1970, is in the month. */
export const isWithin = (month: Month, instant: number): boolean =>
  instant >= startOf(month.start) && instant < startOf(month.end);

export class ReportedDays {
  readonly #starts = new Set<number>();
  #end = 0;
  constructor(readonly month: Month) {}

  /** @throws {ProviderError} `bad_shape` for a day outside the month, or a repeated one. */
  add(start: number, end: number): void {
    if (!isWithin(this.month, start) || !(end > start) || end > startOf(this.month.end)) {
      throw new ProviderError("bad_shape", "The report covers another period");
    }
    if (this.#starts.has(start)) throw new ProviderError("bad_shape", "The report has a day twice");
    this.#starts.add(start);
    this.#end = Math.max(this.#end, end);
  }

  /**
   * Days without costs are reported too, so a report that ends early is incomplete. @throws {ProviderError}
   * `not_ready`
   */
  demandEnd(): void {
    if (this.#end !== startOf(this.month.end)) {
      throw new ProviderError("not_ready", "The report does not cover the whole month yet");
    }
  }
}
