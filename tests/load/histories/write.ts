/** Concurrent writes of one organization, with the calls and their answers. */
import type { TestDatabase } from "../../_support/database.ts";
import type { Chance } from "../../e2e/year/days.ts";
import { amountOf } from "../model/books.ts";
import { markOf, organizationId, type Person } from "../world/seed.ts";

// deno-lint-ignore no-explicit-any -- answers are compared as a whole
export type Json = any;

export interface Written {
  person: Person;
  tool: string;
  args: Json;
  at: string;
  answer: Json;
}

/** Calls a tool as a person, directly in the database. */
export async function callAs(
  database: TestDatabase,
  person: Person,
  { tool, args, at }: { tool: string; args: Json; at: string },
): Promise<Json> {
  const claims = { sub: person.userId, organization_id: organizationId(person.organization), client_name: "Tests" };
  return await database.asRole("authenticated", claims, async (session) => {
    const [row] = await session.query<{ result: Json }>("select app.run_tool($1, $2::text::jsonb, $3) as result", [
      tool,
      JSON.stringify(args),
      at,
    ]);
    return row!.result;
  });
}

/** Sends a sequence of calls from each person, all people at once. @returns the successful writes, in any order */
export async function writeAtOnce(
  database: TestDatabase,
  people: readonly Person[],
  { operations, chance }: { operations: number; chance: Chance },
): Promise<{ written: Written[]; refused: number }> {
  const written: Written[] = [];
  const seen: Seen = { expenses: [], bills: [], changes: [], names: 0 };
  let [begun, refused] = [0, 0];
  await Promise.all(people.map(async (person) => {
    while (begun++ < operations) {
      const { tool, args } = choose(seen, { chance, person });
      const at = new Date().toISOString();
      const answer = await callAs(database, person, { tool, args, at });
      if (!answer.ok) {
        refused++;
        continue;
      }
      if (!answer.change_id) continue;
      written.push({ person, tool, args, at, answer });
      if (tool === "log_expenses") seen.expenses.push(...answer.data.results.map(({ id }: Json) => id));
      if (tool === "add_bill") seen.bills.push(answer.data.bill.id);
      seen.changes.push(answer.change_id);
    }
  }));
  return { written, refused };
}

interface Seen {
  expenses: string[];
  bills: string[];
  changes: string[];
  names: number;
}

const RECENT = 12;

/** Mostly about the newest records, because those conflict. */
function choose(seen: Seen, { chance, person }: { chance: Chance; person: Person }): { tool: string; args: Json } {
  const recent = (ids: string[]) => ids.length > 0 ? chance.pick(ids.slice(-RECENT)) : undefined;
  const amount = amountOf(chance.int(100, 90_000));
  const [expense, bill, change] = [recent(seen.expenses), recent(seen.bills), recent(seen.changes)];
  const draw = chance.int(1, 100);
  if (draw > 90 && change) return { tool: "undo_change", args: { change_id: change } };
  if (draw > 80 && expense) return { tool: "delete_records", args: { ids: [expense] } };
  if (draw > 65 && expense) return { tool: "update_expenses", args: { ids: [expense], set: { amount } } };
  if (draw > 55 && bill) return { tool: "mark_bill_paid", args: { bill_id: bill } };
  if (draw > 48 && bill) return { tool: "update_bill", args: { bill_id: bill, set: { amount } } };
  const name = `${markOf(person.organization)} thing ${++seen.names}`;
  if (draw > 40) {
    return { tool: "add_bill", args: { name, amount, frequency: "daily", first_due: today(), on_duplicate: "allow" } };
  }
  if (draw > 36) {
    return {
      tool: "settle_up",
      args: { to: `${markOf(person.organization).toLowerCase()}.0@example.com`, amount, on_duplicate: "allow" },
    };
  }
  const items = Array.from({ length: chance.int(1, 3) }, (_, index) => ({
    name: `${name}-${index}`,
    amount,
    ...(chance.oneIn(3) && { shared: {} }),
  }));
  return { tool: "log_expenses", args: { items, on_duplicate: "allow" } };
}

const today = () => new Date().toISOString().slice(0, 10);
