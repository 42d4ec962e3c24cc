/** Shared costs, balances and income on real PostgreSQL: concurrent settlements and changes of debts. */
import { assert, assertEquals } from "@std/assert";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";
import { importOfFile } from "../_support/import_args.ts";

const database = await sharedDatabase();

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

Deno.test("concurrent reports of one account's balance are stored once, and the last correction counts", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const owner = await openBooks(database);
    const say = (amount: string) => owner.call("log_expenses", { items: [{ name: "Giro", kind: "balance", amount }] });
    const answers = await Promise.all(Array.from({ length: 8 }, () => say("12.00")));
    const statuses = answers.flatMap(({ data }) => data ? data.results.map(({ status }: Json) => status) : ["busy"]);
    assertEquals(statuses.filter((status) => status === "created").length, 1, `${statuses}`);
    await Promise.all(["13.00", "14.00"].map(say));
    const rows = await database.query<{ amount: number }>(
      "select amount_minor::int as amount from app.balances where organization_id = $1 and deleted_at is null",
      [owner.organizationId],
    );
    assert(rows.length === 1 && [1300, 1400].includes(rows[0]!.amount), JSON.stringify(rows));
  }
});

Deno.test("concurrent reports of one income store it once", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const owner = await openBooks(database);
    const item = { name: "Salary", kind: "income", amount: "2450.00", repeats: "monthly" };
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => owner.call("log_expenses", { items: [item] })),
    );
    const statuses = answers.flatMap(({ data }) => data ? data.results.map(({ status }: Json) => status) : ["busy"]);
    assertEquals(statuses.filter((status) => status === "created").length, 1, `${statuses}`);
    const { rows, repeating } = await owner.ok("list_expenses", { kind: "income" });
    assertEquals([rows.length, repeating.length], [1, 1]);
  }
});

Deno.test("an income reported while its statement is committed is stored once", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const owner = await openBooks(database);
    const file = "Date,Name,Amount\n2026-11-17,Rent,-800.00\n2026-11-18,Work GmbH salary,2450.00\n";
    const { preview } = await owner.ok(
      "import_expenses",
      importOfFile(file, { account: "Giro", mapping: { negative_is_expense: true } }),
    );
    const [imported, said] = await Promise.all([
      owner.call("import_expenses", preview.commit_with),
      owner.call("log_expenses", {
        items: [{ name: "Salary", kind: "income", amount: "2450.00", date: "2026-11-18" }],
      }),
    ]);
    assertEquals([imported.ok, said.ok], [true, true], JSON.stringify([imported.error, said.error]));
    assertEquals((await owner.ok("list_expenses", { kind: "income" })).rows.length, 1);
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

Deno.test("two members who record concurrently each find their own records and shares", async () => {
  const owner = await openBooks(database);
  const member = await owner.join();
  const people = [owner, member];
  await owner.ok("add_bill", { name: "Rent", amount: "90.00", first_due: "2026-11-20", shared: {} });
  const patiently = async (books: Books, tool: string, args: Json): Promise<Json> => {
    const answer = await books.call(tool, args);
    return answer.error?.code === "busy" ? patiently(books, tool, args) : answer;
  };
  const log = (books: Books, amount: string) =>
    patiently(books, "log_expenses", { items: [{ name: `Thing ${amount}`, amount, shared: {} }] });
  const written = await Promise.all(
    Array.from({ length: 8 }, (_, n) => people.map((books, who) => log(books, `${2 * (n + 1)}.0${who * 2}`))).flat(),
  );
  assert(written.every(({ ok }) => ok), JSON.stringify(written.map(({ error }) => error)));
  // Only one of them records a payment.
  const paid = await Promise.all(people.map((books) => patiently(books, "mark_bill_paid", { bill_name: "Rent" })));
  assertEquals(paid.filter(({ ok }) => ok).length, 1, JSON.stringify(paid.map(({ error }) => error)));
  const payer = paid.findIndex(({ ok }) => ok);
  const sums = async (books: Books, group: string) => {
    const { rows } = await books.ok("summarize_spending", { period: "this_month", group_by: [group] });
    return people.map(({ userId }) =>
      rows.find((row: Json) => row.group[0] === `${userId}@example.com`)?.amount as string
    );
  };
  const recorded = [72, 72.16];
  recorded[payer]! += 90;
  for (const books of people) {
    assertEquals(await sums(books, "recorded_by"), recorded.map((sum) => sum.toFixed(2)));
    assertEquals(await sums(books, "borne_by"), ["117.08", "117.08"]);
    const { rows } = await books.ok("list_expenses", { recorded_by: "me", limit: 50 });
    assertEquals(rows.length, books === people[payer] ? 9 : 8);
  }
});
