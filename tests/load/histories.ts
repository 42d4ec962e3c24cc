/**
 * Isolation: concurrent writes of one organization are replayed sequentially, by change number, in another
 * organization, with equal answers and books. `HISTORIES` and `OPERATIONS` make it longer.
 */
import { assert, assertEquals } from "@std/assert";
import { startCluster } from "../_support/cluster.ts";
import { openDatabase, type TestDatabase } from "../_support/database.ts";
import { chanceOf } from "../e2e/year/days.ts";
import { newNames } from "./histories/names.ts";
import { callAs, type Json, writeAtOnce, type Written } from "./histories/write.ts";
import { print } from "./report.ts";
import { addPeople, organizationId, people } from "./world/seed.ts";

const HISTORIES = Number(Deno.env.get("HISTORIES") ?? 3);
const OPERATIONS = Number(Deno.env.get("OPERATIONS") ?? 120);
const SEED = Number(Deno.env.get("SEED") ?? Date.now() % 2 ** 31);
const PEOPLE = 4;

/** The contents of the books, without ids and times. */
async function booksOf(database: TestDatabase, organization: string): Promise<Json> {
  const [row] = await database.query<{ books: Json }>(
    `select jsonb_build_object(
       'expenses', (select jsonb_agg(jsonb_build_array(e.kind, e.name, e.version, e.deleted_at is null, e.amount_minor,
           e.status, e.next_due, right(e.created_by::text, 6)) order by e.name, e.version)
         from app.expenses as e where e.organization_id = $1),
       'payments', (select jsonb_agg(jsonb_build_array(e.name, p.amount_minor, p.currency, p.paid_on, p.version,
           p.deleted_at is null) order by e.name, p.paid_on, p.amount_minor, p.version)
         from app.payments as p join app.expenses as e on e.id = p.expense_id where p.organization_id = $1),
       'dates', (select jsonb_agg(jsonb_build_array(e.name, o.due_on, o.status, o.paid_minor) order by e.name, o.due_on)
         from app.expense_occurrences as o join app.expenses as e on e.id = o.expense_id where o.organization_id = $1),
       'changes', (select jsonb_agg(jsonb_build_array(c.tool, c.undone_by is null, c.facts) order by c.recorded_seq)
         from app.change_sets as c where c.organization_id = $1 and not c.is_emptied)
     ) as books`,
    [organization],
  );
  return row!.books;
}

async function compareHistory(database: TestDatabase, history: number): Promise<{ writes: number; refused: number }> {
  const [first, second] = [2 * history, 2 * history + 1];
  const everyone = people({ organizations: second + 1, each: PEOPLE }).filter(({ organization }) =>
    organization >= first
  );
  await addPeople(database, everyone);
  const of = (number: number) => everyone.filter(({ organization }) => organization === number);

  const { written, refused } = await writeAtOnce(database, of(first), {
    operations: OPERATIONS,
    chance: chanceOf(SEED + history),
  });
  const order = await database.query<{ id: string; seq: number }>(
    "select id, recorded_seq as seq from app.change_sets where organization_id = $1 order by recorded_seq",
    [organizationId(first)],
  );
  const byChange = new Map(written.map((one) => [one.answer.change_id as string, one]));
  const serial = order.map(({ id }) => byChange.get(id)).filter((one): one is Written => one !== undefined);
  assertEquals(serial.length, written.length, "each write has a change of its own");

  // Names replace ids by order of appearance, which is the same on both sides as long as the answers are.
  const [then, again] = [newNames(first), newNames(second)];
  const members = of(second);
  for (const { person, tool, args, at, answer } of serial) {
    const known = then.named(args);
    const answered = await callAs(database, members[person.place]!, { tool, args: again.resolved(known), at });
    assertEquals(again.named(answered), then.named(answer), `${tool} ${JSON.stringify(args)}, seed ${SEED + history}`);
  }
  const [booksThen, booksAgain] = [
    await booksOf(database, organizationId(first)),
    await booksOf(database, organizationId(second)),
  ];
  assertEquals(again.named(booksAgain), then.named(booksThen), `the books, seed ${SEED + history}`);
  return { writes: serial.length, refused };
}

Deno.test(`${HISTORIES} histories of ${OPERATIONS} concurrent writes equal a sequential replay`, async () => {
  const cluster = await startCluster();
  const database = await openDatabase(cluster.urlOf("postgres", "supabase_exposed"));
  try {
    let writes = 0;
    for (let history = 0; history < HISTORIES; history++) {
      const done = await compareHistory(database, history);
      assert(done.writes > OPERATIONS / 3, `only ${done.writes} of ${OPERATIONS} were written`);
      writes += done.writes;
    }
    print(`${HISTORIES} histories, ${writes} writes, replayed in the order of their change numbers (SEED=${SEED})`);
  } finally {
    await database.close();
    await cluster.stop();
  }
});
