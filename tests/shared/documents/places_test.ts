/** Labeled values of a text: each label once, each value complete. */
import { assertEquals } from "@std/assert";
import { typedLines } from "../../../shared/documents/text/lines.ts";
import { placesOf, taxIdOf } from "../../../shared/documents/text/places.ts";

const places = (...lines: string[]) =>
  placesOf(typedLines(lines.join("\n")), undefined)?.map(({ key, value }) => `${key} ${value}`);

Deno.test("placesOf() finds values beside and below their labels", () => {
  assertEquals(places("Wir buchen:  84,20 EUR", "Vorgang: A-77", "Abgelesen am 12.10.2026"), [
    "wir buchen:beside 84.20",
    "vorgang:beside A-77",
    "abgelesen am:beside 2026-10-12",
  ]);
  assertEquals(places("Kunde    Betrag", "A-1      84,20"), ["kunde:below A-1", "betrag:below 84.20"]);
});

Deno.test("placesOf() omits repeated labels, labels with numbers, and unclear values", () => {
  assertEquals(places("Betrag: 1,00", "Betrag: 2,00", "Rate 3: 4,00", "Zeit: 03/04/2026"), []);
});

Deno.test("placesOf() returns nothing for a text with too many labels", () => {
  const letters = (n: number) => String.fromCharCode(97 + n % 26, 97 + Math.floor(n / 26), 97, 97);
  const lines = Array.from({ length: 100 }, (_, n) => `${letters(n)}: ${n},00`);
  assertEquals(places(...lines), undefined);
});

Deno.test("taxIdOf() returns the only VAT id that is not the customer's", () => {
  assertEquals(taxIdOf(["USt-IdNr. DE123456789", "Ihre USt-IdNr. DE987654321"]), "DE123456789");
  assertEquals(taxIdOf(["DE123456789 DE987654321"]), undefined);
});
