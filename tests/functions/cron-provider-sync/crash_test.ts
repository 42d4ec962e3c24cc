/** Nothing is lost and nothing is written twice, whoever dies when. Processes side by side die in tests/pg/provider_sync.ts. */
import { openDatabase } from "../../_support/database.ts";
import { crashUntilDone } from "./crashes.ts";

const database = await openDatabase();
Deno.test.afterAll(() => database.close());

Deno.test("a run that dies half-way leaves what it had leased to a later one", async () => {
  await database.reset();
  await crashUntilDone(database, { crashes: 12, parallel: 1 });
});
