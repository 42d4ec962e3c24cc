/** A month as reports of single days tell it: each day once, none of another month, and to its end before it counts. */
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

  /** @throws {ProviderError} `bad_shape` for a day that was not asked for, or was told already. */
  add(start: number, end: number): void {
    if (!isWithin(this.month, start) || !(end > start) || end > startOf(this.month.end)) {
      throw new ProviderError("bad_shape", "The report is of another time");
    }
    if (this.#starts.has(start)) throw new ProviderError("bad_shape", "The report tells a day twice");
    this.#starts.add(start);
    this.#end = Math.max(this.#end, end);
  }

  /** Days without any cost are reported too, so a report that stops before the month does is not finished. @throws {ProviderError} `not_ready` */
  demandEnd(): void {
    if (this.#end !== startOf(this.month.end)) {
      throw new ProviderError("not_ready", "The report does not reach the month's end");
    }
  }
}
