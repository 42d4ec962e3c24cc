/** Exact decimal arithmetic: an integer of any size and a scale. */

/** `units` × 10^-`scale`. */
export interface Decimal {
  units: bigint;
  scale: number;
}

export const ZERO: Decimal = { units: 0n, scale: 0 };

/** Longer than any amount, short enough to bound the work. */
const MAX_LENGTH = 100;
const FARTHEST_POINT = 80;

/**
 * Reads `12`, `-0.10`, `1e-7`, `+1.5E+3`.
 * @returns undefined for any other text, and for absurdly large numbers.
 */
export function parseDecimal(text: string): Decimal | undefined {
  const [, sign, whole = "", fraction = "", exponent = "0"] =
    /^([+-]?)(\d*)(?:\.(\d+))?(?:e([+-]?\d{1,5}))?$/i.exec(text) ?? [];
  if (sign === undefined || whole === "" || text.length > MAX_LENGTH) return undefined;
  const units = BigInt(`${sign === "-" ? "-" : ""}${whole}${fraction}`);
  // Decimal128 writes zero as `0E-6176`.
  if (units === 0n) return ZERO;
  const scale = fraction.length - Number(exponent);
  if (Math.abs(scale) > FARTHEST_POINT) return undefined;
  return scale < 0 ? { units: units * 10n ** BigInt(-scale), scale: 0 } : { units, scale };
}

export function add(one: Decimal, other: Decimal): Decimal {
  const scale = Math.max(one.scale, other.scale);
  return { units: unitsAt(one, scale) + unitsAt(other, scale), scale };
}

export const subtract = (one: Decimal, other: Decimal): Decimal => add(one, { ...other, units: -other.units });

export const multiply = (one: Decimal, other: Decimal): Decimal => ({
  units: one.units * other.units,
  scale: one.scale + other.scale,
});

/** Divides by a power of ten: 2 turns cents into dollars. */
export const shift = ({ units, scale }: Decimal, places: number): Decimal => ({ units, scale: scale + places });

/** Rounds to this many decimals, half away from zero; `-0` becomes `0`. */
export function roundTo(number: Decimal, decimals: number): string {
  const isNegative = number.units < 0n;
  const units = isNegative ? -number.units : number.units;
  const divisor = 10n ** BigInt(Math.max(number.scale - decimals, 0));
  // A divisor of 1 needs no rounding.
  const rounded = (unitsAt({ units, scale: number.scale }, Math.max(number.scale, decimals)) + divisor / 2n) / divisor;
  const digits = String(rounded).padStart(decimals + 1, "0");
  const text = decimals === 0 ? digits : `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
  return isNegative && rounded !== 0n ? `-${text}` : text;
}

const unitsAt = ({ units, scale }: Decimal, at: number) => units * 10n ** BigInt(at - scale);
