/** Exact arithmetic on amounts of one currency, decimal strings with the same number of decimals, as minor units. */

export const minorOf = (amount: string): bigint => BigInt(amount.replace(".", ""));

/** @param like an amount with the same number of decimals. */
export function amountOf(minor: bigint, like: string): string {
  const decimals = like.split(".")[1]?.length ?? 0;
  const digits = `${absolute(minor)}`.padStart(decimals + 1, "0");
  const cut = digits.length - decimals;
  return `${minor < 0n ? "-" : ""}${digits.slice(0, cut)}${decimals > 0 ? `.${digits.slice(cut)}` : ""}`;
}

/** The sum of two amounts. */
export const addAmounts = (one: string, other: string): string => amountOf(minorOf(one) + minorOf(other), one);

/** A part as a percentage of a positive whole, rounded half away from zero. */
export function percentOf(part: bigint, whole: bigint, { decimals = 0 } = {}): number {
  const scale = 10n ** BigInt(decimals);
  const rounded = (absolute(part) * 200n * scale + whole) / (2n * whole);
  return Number(part < 0n ? -rounded : rounded) / Number(scale);
}

/** The increase over a positive earlier amount, in percent. */
export const changePercent = (amount: string, earlier: string, options?: { decimals: number }): number =>
  percentOf(minorOf(amount) - minorOf(earlier), minorOf(earlier), options);

/**
 * Percentages of a total, with one decimal. Shares of the total are rounded down, and the largest fractions get the
 * remainder, so they add up to 100. Overlapping amounts are rounded separately. Undefined unless the total is
 * positive.
 */
export function sharePercents(amounts: readonly string[], whole: string): number[] | undefined {
  const minors = amounts.map(minorOf);
  const total = minorOf(whole);
  if (total <= 0n) return undefined;
  if (minors.reduce((sum, minor) => sum + minor, 0n) !== total) {
    return minors.map((minor) => percentOf(minor, total, { decimals: 1 }));
  }
  const lost = minors.map((minor) => ((minor * 1000n) % total + total) % total);
  const tenths = minors.map((minor, place) => (minor * 1000n - lost[place]!) / total);
  const leftOver = Number(1000n - tenths.reduce((sum, share) => sum + share, 0n));
  const turns = minors.map((_, place) => place).toSorted((one, other) =>
    Number(lost[other]! - lost[one]!) || one - other
  );
  for (const place of turns.slice(0, leftOver)) tenths[place]! += 1n;
  return tenths.map((share) => Number(share) / 10);
}

const absolute = (minor: bigint): bigint => minor < 0n ? -minor : minor;
