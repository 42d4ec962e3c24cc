/** Shared costs on real PostgreSQL: concurrent settlements and changes of debts. */
import { assert, assertEquals } from "@std/assert";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import { openDatabase } from "../_support/database.ts";

const database = await openDatabase();
Deno.test.afterAll(() => database.close());

const ROUNDS = 6;

const balances = async (books: Books): Promise<string[]> =>
  (await books.ok("get_context", { include: ["balances"] })).balances.map(({ amount, currency }: Json) =>
    `${amount} ${currency}`
  );

const settled = (answers: Json[]) =>
  answers.filter(({ ok, data }) => ok && data.settlement.status === "created").length;

Deno.test("concurrent settlements of one balance: one succeeds", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const owner = await openBooks(database);
    const member = await owner.join();
    await owner.ok("log_expenses", { items: [{ name: "Dinner", amount: "60.00", shared: {} }] });
    const answers = await Promise.all(
      Array.from(
        { length: 8 },
        (_, n) => n % 2 ? member.call("settle_up") : owner.call("settle_up", { from: `${member.userId}@example.com` }),
      ),
    );
    assertEquals(settled(answers), 1, JSON.stringify(answers));
    assert(answers.every(({ ok, error }) => ok || ["invalid_argument", "busy"].includes(error.code)));
    assertEquals(await balances(owner), []);
  }
});

Deno.test("concurrent settlements of the same amount are written once", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const owner = await openBooks(database);
    const member = await owner.join();
    const to = `${owner.userId}@example.com`;
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => member.call("settle_up", { to, amount: "5.00" })),
    );
    assertEquals(settled(answers), 1);
    assertEquals(await balances(owner), ["5.00 EUR"]);
  }
});

Deno.test("a settlement concurrent with a changed expense keeps balances consistent", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const owner = await openBooks(database);
    const member = await owner.join();
    const { results: [{ id }] } = await owner.ok("log_expenses", {
      items: [{ name: "Dinner", amount: "60.00", shared: {} }],
    });
    const [changed, paid] = await Promise.all([
      owner.call("update_expenses", { ids: [id], set: { amount: "100.00" } }),
      member.call("settle_up"),
    ]);
    assertEquals([changed.ok, paid.ok], [true, true], JSON.stringify([changed.error, paid.error]));
    const given = Number(paid.data.settlement.amount);
    assertEquals(await balances(owner), given === 50 ? [] : ["20.00 EUR"]);
    assert([30, 50].includes(given));
  }
});
