/** Decimal numbers as providers write them, added without losing a digit: whole numbers of any size, and where the point is. */

/** `units` × 10^-`scale`. */
export interface Decimal {
  units: bigint;
  scale: number;
}

export const ZERO: Decimal = { units: 0n, scale: 0 };

/** Longer than any amount, short enough that nobody can make us count to it. */
const LONGEST = 100;
const FARTHEST_POINT = 80;

/**
 * Reads `12`, `-0.10`, `1e-7`, `+1.5E+3`.
 * @returns undefined for anything else, and for numbers of astronomical size.
 */
export function parseDecimal(text: string): Decimal | undefined {
  const [, sign, whole = "", fraction = "", exponent = "0"] =
    /^([+-]?)(\d*)(?:\.(\d+))?(?:e([+-]?\d{1,5}))?$/i.exec(text) ?? [];
  if (sign === undefined || whole === "" || text.length > LONGEST) return undefined;
  const units = BigInt(`${sign === "-" ? "-" : ""}${whole}${fraction}`);
  // Decimal128 says `0E-6176` for nothing.
  if (units === 0n) return ZERO;
  const scale = fraction.length - Number(exponent);
  if (Math.abs(scale) > FARTHEST_POINT) return undefined;
  return scale < 0 ? { units: units * 10n ** BigInt(-scale), scale: 0 } : { units, scale };
}

export function add(one: Decimal, other: Decimal): Decimal {
  const scale = Math.max(one.scale, other.scale);
  return { units: unitsAt(one, scale) + unitsAt(other, scale), scale };
}

/** Divides by a power of ten: cents to dollars is 2. */
export const shift = ({ units, scale }: Decimal, places: number): Decimal => ({ units, scale: scale + places });

/** With exactly this many decimals, half of the last one away from zero; `-0` is `0`. */
export function roundTo(number: Decimal, decimals: number): string {
  const isNegative = number.units < 0n;
  const units = isNegative ? -number.units : number.units;
  const divisor = 10n ** BigInt(Math.max(number.scale - decimals, 0));
  // A divisor of 1 has no half.
  const rounded = (unitsAt({ units, scale: number.scale }, Math.max(number.scale, decimals)) + divisor / 2n) / divisor;
  const digits = String(rounded).padStart(decimals + 1, "0");
  const text = decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
  return isNegative && rounded !== 0n ? `-${text}` : text;
}

const unitsAt = ({ units, scale }: Decimal, at: number) => units * 10n ** BigInt(at - scale);
