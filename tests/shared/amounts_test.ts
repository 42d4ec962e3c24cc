/** Percentages of exact amounts. */
import { assertEquals } from "@std/assert";
import { amountOf, changePercent, percentOf, sharePercents } from "../../shared/amounts.ts";

Deno.test("amountOf() uses as many decimals as its example amount", () => {
  assertEquals([amountOf(-5n, "1.00"), amountOf(12n, "1"), amountOf(1234n, "0.000")], ["-0.05", "12", "1.234"]);
});

Deno.test("percentOf() rounds half away from zero", () => {
  assertEquals([percentOf(1n, 8n, { decimals: 1 }), percentOf(-1n, 200n), percentOf(1n, 3n)], [12.5, -1, 33]);
});

Deno.test("changePercent() is relative to the earlier amount, however large", () => {
  assertEquals([
    changePercent("35.00", "100.00", { decimals: 1 }),
    changePercent("-1.00", "2.00"),
    changePercent("90000000000000000.01", "90000000000000000.00"),
  ], [-65, -150, 0]);
});

Deno.test("sharePercents() adds up to 100, even with refunds, and is undefined for a total of zero", () => {
  assertEquals(sharePercents(["1", "1", "1"], "3"), [33.4, 33.3, 33.3]);
  assertEquals(sharePercents(["4.00", "-1.00"], "3.00"), [133.3, -33.3]);
  assertEquals(sharePercents(["1.00", "-1.00"], "0.00"), undefined);
});

Deno.test("sharePercents() of overlapping amounts relates each to the total", () => {
  assertEquals(sharePercents(["100.00", "100.00"], "100.00"), [100, 100]);
  assertEquals(sharePercents(["2.00", "2.00", "-0.50"], "3.00"), [66.7, 66.7, -16.7]);
  assertEquals(sharePercents(["90000000000000000.01", "0.00"], "180000000000000000.00"), [50, 0]);
  assertEquals(sharePercents(["5.00", "5.00"], "-5.00"), undefined);
});
