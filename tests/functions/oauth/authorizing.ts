/** A client, a person with three plans, and their authorization requests. */
import { assertEquals } from "@std/assert";
import { sharedDatabase } from "../../_support/database.ts";
import {
  authorizationQuery,
  createHarness,
  createPerson,
  type Fields,
  over,
  type Person,
  registerClient,
} from "./harness.ts";

export const database = await sharedDatabase();
export const person = await createPerson(database, "authorize@example.com", ["free", "pro", "team"]);
export const harness = createHarness(over(database));
export const clientId = await registerClient(harness);

/** Handles a request, and checks the common rules of every page and redirect. */
export async function ask(more: Fields = {}, visitor: Person | null = person) {
  const response = await harness.get(authorizationQuery(clientId, more), visitor);
  const text = await response.text();
  const location = response.headers.get("location");
  assertEquals(response.headers.get("cache-control"), "no-store");
  assertEquals(response.headers.get("referrer-policy"), location ? "no-referrer" : "same-origin");
  assertEquals(response.headers.get("access-control-allow-origin"), null);
  return { status: response.status, text, location, response };
}
