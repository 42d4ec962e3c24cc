/** The total of a month. */
import { assertEquals, assertThrows } from "@std/assert";
import { decimalsOf } from "../../../shared/providers/currency.ts";
import { MonthTotal } from "../../../shared/providers/month_total.ts";
import { ProviderError } from "../../../shared/providers/provider_error.ts";

function totalOf(amounts: [string, string][], options?: { isMinor: boolean }) {
  const total = new MonthTotal("USD");
  for (const [amount, currency] of amounts) total.add(amount, currency, options);
  const { amount, currency } = total.statement(1);
  return `${amount} ${currency}`;
}

const refused = (act: () => unknown) => assertEquals(assertThrows(act, ProviderError).code, "bad_shape");

Deno.test("MonthTotal has as many decimals as its currency", () => {
  assertEquals(totalOf([["0.1", "usd"], ["0.2", "USD"]]), "0.30 USD");
  assertEquals(totalOf([["1499.5", "JPY"]]), "1500 JPY");
  assertEquals(totalOf([["1.2345", "KWD"]]), "1.235 KWD");
  assertEquals(totalOf([["1.23456", "CLF"]]), "1.2346 CLF");
});

Deno.test("MonthTotal accepts minor units of any currency", () => {
  assertEquals(totalOf([["123.78912", "USD"], ["0.3", "USD"]], { isMinor: true }), "1.24 USD");
  assertEquals(totalOf([["1500", "JPY"]], { isMinor: true }), "1500 JPY");
  assertEquals(totalOf([["1234.5", "KWD"]], { isMinor: true }), "1.235 KWD");
});

Deno.test("MonthTotal rounds the sum, not its parts", () => {
  assertEquals(totalOf(Array.from({ length: 1000 }, () => ["0.0049", "USD"])), "4.90 USD");
});

Deno.test("MonthTotal subtracts credits, and is zero when they exceed the charges", () => {
  assertEquals(totalOf([["10", "EUR"], ["-2.505", "EUR"]]), "7.50 EUR");
  assertEquals(totalOf([["10", "EUR"], ["-12", "EUR"]]), "0.00 EUR");
  assertEquals(totalOf([["-0.004", "EUR"]]), "0.00 EUR");
  assertEquals(totalOf([]), "0.00 USD");
});

Deno.test("MonthTotal refuses a second currency, a malformed amount and an implausible one", () => {
  refused(() => totalOf([["1", "USD"], ["1", "EUR"]]));
  for (const amount of ["", "1,50", "12 USD", "NaN", "null"]) refused(() => totalOf([[amount, "USD"]]));
  for (const currency of ["", "US", "EURO", "$", "12E"]) refused(() => totalOf([["1", currency]]));
  refused(() => totalOf([["1e12", "USD"]]));
  assertEquals(totalOf([["999999999999.99", "USD"]]), "999999999999.99 USD");
});

Deno.test("decimalsOf() returns two, with exceptions", () => {
  assertEquals(["USD", "EUR", "JPY", "KWD", "CLF", "HUF"].map(decimalsOf), [2, 2, 0, 3, 4, 2]);
});
