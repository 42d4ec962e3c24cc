/** A commit waits for the disk, except after a read call, which writes only its own count. */
import { assertEquals } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import { AT, createHousehold, RESOURCE, signIn } from "../pg/household.ts";

const database = await sharedDatabase();

Deno.test("a tool's write is on disk before the answer; only read counts commit asynchronously", async () => {
  const tokenHash = await signIn(database, await createHousehold(database));
  /** How the transaction of a call commits. */
  const commitOf = (tool: string, args: unknown) =>
    database.asRole("service_role", { role: "service_role" }, async (session) => {
      await session.query("set local synchronous_commit = on");
      const [row] = await session.query<{ outcome: string; commit: string }>(
        `select called ->> 'outcome' as outcome, current_setting('synchronous_commit') as commit
         from (select public.call_tool($1, $2, $3, $4::text::jsonb, $5) as called offset 0) as calls`,
        [tokenHash, RESOURCE, tool, JSON.stringify(args), AT],
      );
      return [row!.outcome, row!.commit];
    });
  assertEquals(await commitOf("log_expenses", { items: [{ name: "Lunch", amount: "14.50" }] }), ["ok", "on"]);
  assertEquals(await commitOf("undo_change", {}), ["ok", "on"]);
  assertEquals(await commitOf("get_context", {}), ["ok", "off"]);
  assertEquals(await commitOf("log_expenses", { items: [{ name: "Tea", amount: "3" }] }), ["ok", "on"]);
});
