/** The functions and the database agree on the decimals of every currency. */
import { assert, assertEquals } from "@std/assert";
import { decimalsOf } from "../../shared/providers/currency.ts";
import { openDatabase } from "../_support/database.ts";

Deno.test("decimalsOf() agrees with app.currencies for every currency", async () => {
  await using database = await openDatabase();
  const currencies = await database.query<{ code: string; exponent: number }>(
    "select code, exponent from app.currencies order by code",
  );
  assert(currencies.length > 150);
  for (const { code, exponent } of currencies) assertEquals(decimalsOf(code), exponent, code);
});
