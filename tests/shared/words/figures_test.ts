/** Days, amounts and percentages have one format; functions/mcp/present/accented_test.ts checks it for every tool. */
import { assertEquals } from "@std/assert";
import { money, names, percent, signedPercent } from "../../../shared/words/en/phrases.ts";
import { schedule } from "../../../shared/words/en/schedule.ts";
import { oddFigures } from "../../_support/figures.ts";

Deno.test("amounts keep their digits, and a minus is a hyphen", () => {
  assertEquals(money({ amount: "1234567.89", currency: "EUR" }), "1234567.89 EUR");
  assertEquals(money({ amount: "-980", currency: "JPY" }), "-980 JPY");
  assertEquals([percent(-8), signedPercent(-4.96), signedPercent(8)], ["-8%", "-5.0%", "+8.0%"]);
});

Deno.test("a schedule writes dates like the data, and recurring ones without a year", () => {
  const yearly = { frequency: "yearly", every: 1, anchor_on: "2026-02-28", ends_on: "2030-12-31" } as const;
  assertEquals(schedule(yearly), "every year on 28 February, until 2030-12-31");
  assertEquals(schedule({ ...yearly, frequency: "once" }), "once on 2026-02-28");
  assertEquals(oddFigures(`Added Rent: 1234.50 EUR ${schedule(yearly)}`), []);
  assertEquals(oddFigures(schedule({ ...yearly, every: 2 })), []);
});

Deno.test("test of the test: other formats are found, but typed text is not", () => {
  const others = [
    "due 22 November 2026",
    "until 5 Dec",
    "November 2026",
    "on March 3",
    "22.11.2026",
    "11/22/26",
    "1,234 EUR",
    "1\u202f234.50 EUR",
    "14,50 EUR",
    "\u22125.0%",
    "€5",
    "5 €",
  ];
  assertEquals(others.filter((text) => oddFigures(text).length === 0), []);
  assertEquals(oddFigures("Rent due 2026-11-22: 1234.50 EUR, -5.0%, lines 1, 2 and 3, exp_12ab"), []);
  assertEquals(oddFigures('"14,50" is not an amount of March 3.', ["14,50", "March 3"]), []);
});

Deno.test("names() lists each name once and counts omitted ones", () => {
  assertEquals(names(["Costco", "Costco"]), "Costco (2)");
  assertEquals(names(["Rent", "Costco", "Rent", "Power"]), "Rent (2), Costco and Power");
  assertEquals(names(["Rent", "Rent", "Costco", "Power"], { count: 9 }), "Rent (2), Costco, Power and 5 more");
});
