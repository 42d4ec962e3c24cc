/** Formats dates and money, either for a page's reader or as data. */

export interface EffectFormat {
  date(day: string): string;
  money(amount: string, currency: string): string;
  /** A count; without separators by default. */
  number?(count: number): string;
  /** Text that people typed; unchanged by default. */
  text?(typed: string): string;
}

/** The format of tools: "2026-11-23", "14.50 EUR". */
export const DATA_FORMAT: EffectFormat = {
  date: (day) => day,
  money: (amount, currency) => `${amount} ${currency}`,
};
