/** Crashes lose nothing and write nothing twice. tests/pg/provider_sync.ts covers concurrent crashes. */
import { sharedDatabase } from "../../_support/database.ts";
import { crashUntilDone } from "./crashes.ts";

const database = await sharedDatabase();

Deno.test("a run that dies halfway leaves its leased links to a later one", async () => {
  await database.reset();
  await crashUntilDone(database, { crashes: 12, parallel: 1 });
});
