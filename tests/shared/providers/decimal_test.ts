/**
 * Sums against an oracle that never parses a decimal: numbers are generated as integers and written in every possible
 * form.
 */
import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { parseExactJson } from "../../../shared/exact_json.ts";
import { add, type Decimal, parseDecimal, roundTo, shift, ZERO } from "../../../shared/providers/decimal.ts";

const sumOf = (texts: readonly string[]): Decimal => texts.map((text) => parseDecimal(text)!).reduce(add, ZERO);

Deno.test("parseDecimal() reads numbers as JSON and people write them, digit for digit", () => {
  const cases: [string, bigint, number][] = [
    ["0", 0n, 0],
    ["12", 12n, 0],
    ["-0.10", -10n, 2],
    ["+3.5", 35n, 1],
    ["007.50", 750n, 2],
    ["1e-7", 1n, 7],
    ["1.5E+3", 1500n, 0],
    ["-2.5e1", -25n, 0],
    ["12345678901234567890.123456789", 12345678901234567890123456789n, 9],
  ];
  for (const [text, units, scale] of cases) assertEquals(parseDecimal(text), { units, scale }, text);
  for (const nothing of ["-0", "0.000", "0E-6176", "0e99999"]) assertEquals(parseDecimal(nothing), ZERO, nothing);
});

Deno.test("parseDecimal() rejects everything else, including huge exponents", () => {
  for (
    const text of [
      "",
      " 1",
      "1 ",
      "1,5",
      "1.",
      ".5",
      "1e",
      "e5",
      "--1",
      "0x1f",
      "NaN",
      "Infinity",
      "1_000",
      "١",
      "1e99999",
      "1e-99999",
      "1e1000000000",
      "9".repeat(101),
    ]
  ) {
    assertEquals(parseDecimal(text), undefined, text);
  }
});

Deno.test("adding 0.1 and 0.2 a thousand times is exactly 300, without binary rounding", () => {
  const thousand = Array.from({ length: 1000 }, () => ["0.1", "0.2"]).flat();
  assertEquals(roundTo(sumOf(thousand), 2), "300.00");
  assertEquals(sumOf(["0.1", "0.2"]), { units: 3n, scale: 1 });
  assertEquals(roundTo(sumOf([...Array(10_000)].map(() => "1e-7")), 3), "0.001");
});

Deno.test("roundTo() rounds half away from zero, once, to any number of decimals", () => {
  const cases: [string, number, string][] = [
    ["1.005", 2, "1.01"],
    ["1.0049999", 2, "1.00"],
    ["-1.005", 2, "-1.01"],
    ["-0.001", 2, "0.00"],
    ["0.5", 0, "1"],
    ["0.4", 0, "0"],
    ["1234", 2, "1234.00"],
    ["0.0625", 3, "0.063"],
    ["9.995", 2, "10.00"],
    ["7", 4, "7.0000"],
  ];
  for (const [text, decimals, rounded] of cases) assertEquals(roundTo(parseDecimal(text)!, decimals), rounded, text);
  assertEquals(roundTo(shift(parseDecimal("123.78912")!, 2), 2), "1.24");
  // Rounding twice would give 1.45, then 1.5.
  assertEquals(roundTo(parseDecimal("1.4449")!, 1), "1.4");
});

/** An integer of 10^-12, and one way to write it. */
const written = fc.record({
  units: fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n }),
  exponent: fc.integer({ min: -12, max: 12 }),
  isPlain: fc.boolean(),
  padding: fc.integer({ min: 0, max: 3 }),
}).map(({ units, exponent, isPlain, padding }) => ({
  units,
  text: isPlain ? pointed(units, 12) + "0".repeat(padding) : `${pointed(units, 12 + exponent)}e${exponent}`,
}));

/** Moves characters only, no arithmetic. */
function pointed(units: bigint, places: number): string {
  const sign = units < 0n ? "-" : "";
  const digits = String(units).replace("-", "").padStart(places + 1, "0");
  return places === 0 ? sign + digits : `${sign}${digits.slice(0, -places)}.${digits.slice(-places)}`;
}

Deno.test("property: a sum is exact and rounded once, in any notation and order", () => {
  fc.assert(
    fc.property(fc.array(written, { maxLength: 40 }), fc.integer({ min: 0, max: 4 }), (numbers, decimals) => {
      const exact = numbers.reduce((sum, { units }) => sum + units, 0n);
      // Twice the remainder is compared with the divisor; the sign is handled separately.
      const size = exact < 0n ? -exact : exact;
      const divisor = 10n ** BigInt(12 - decimals);
      const rounded = size / divisor + (2n * (size % divisor) >= divisor ? 1n : 0n);
      const expected = pointed(exact < 0n ? -rounded : rounded, decimals);
      const texts = numbers.map(({ text }) => text);
      assertEquals(roundTo(sumOf(texts), decimals), expected);
      assertEquals(roundTo(sumOf(texts.toReversed()), decimals), expected);
    }),
    { numRuns: 500, seed: 8 },
  );
});

Deno.test("property: a JSON number reaches the sum with its original digits", () => {
  fc.assert(
    fc.property(written, ({ text, units }) => {
      // JSON forbids a plus sign and leading zeros, which none of these have.
      const { value } = parseExactJson(`{"value":${text}}`) as { value: string };
      assertEquals(value, text);
      assertEquals(roundTo(parseDecimal(value)!, 12), pointed(units, 12));
    }),
    { numRuns: 300, seed: 8 },
  );
});
