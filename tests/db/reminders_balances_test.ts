/** Shared costs in the first digest of a month, per organization and recipient. */
import { assertEquals } from "@std/assert";
import { type Books, openBooks } from "../_support/books.ts";
import { addBill, at, database, fresh, run } from "./reminder_run.ts";

const shared = (books: Books, amount: string) =>
  books.ok("log_expenses", { items: [{ name: "Dinner", amount, date: "2026-11-09", shared: {} }] });

interface Balance {
  owes: boolean;
  who: string | null;
  amount: string | null;
}

/** "owes ana 5.00", "is owed by ben 5.00", by the recipient's position. */
async function balancesBy(people: Books[], day: string): Promise<string[][]> {
  const name = (who: string | null) => people.findIndex(({ userId }) => who === `${userId}@example.com`);
  const digests = await run(at(day));
  return people.map(({ userId }) => {
    const sections = digests.find(({ recipient_id }) => recipient_id === userId)?.content.organizations ?? [];
    return sections.flatMap((section) =>
      (section as unknown as { balances: Balance[] }).balances
        .map(({ owes, who, amount }) => `${owes ? "owes" : "is owed by"} ${name(who)} ${amount}`)
    ).toSorted();
  });
}

Deno.test("a digest has only the balances of its organization and its reader", async () => {
  const ana = await fresh();
  const ben = await ana.join();
  const carla = await ana.join();
  const other = await openBooks(database, { day: "2026-11-10" });
  const stranger = await other.join();
  const people = [ana, ben, carla, other, stranger];
  for (const books of [ana, other]) await addBill(books, "Rent", "2026-11-22");
  await shared(ana, "30.00");
  await shared(other, "8.00");
  for (const books of [ben, carla, stranger]) await books.ok("update_settings", { reminders: { my_mails: "all" } });
  // Ben is in both organizations, and owes in one.
  await database.query(
    "insert into identity.memberships (organization_id, user_id, role, mails) values ($1, $2, 'member', 'all')",
    [other.organizationId, ben.userId],
  );
  assertEquals(await balancesBy(people, "2026-11-20"), [
    ["is owed by 1 10.00", "is owed by 2 10.00"],
    ["owes 0 10.00"],
    ["owes 0 10.00"],
    ["is owed by 4 4.00"],
    ["owes 3 4.00"],
  ]);
});

Deno.test("a removed member gets no more mail about balances", async () => {
  const ana = await fresh();
  const ben = await ana.join();
  const own = await openBooks(database, { day: "2026-11-10" });
  await shared(ana, "30.00");
  await database.query(
    "insert into identity.memberships (organization_id, user_id, role, mails) values ($1, $2, 'member', 'all')",
    [own.organizationId, ben.userId],
  );
  await addBill(own, "Rent", "2026-11-22");
  await database.query("delete from identity.memberships where organization_id = $1 and user_id = $2", [
    ana.organizationId,
    ben.userId,
  ]);
  assertEquals(await balancesBy([ben], "2026-11-20"), [[]]);
});
