/** The books page on real PostgreSQL: concurrent clicks on one due date by several people and tabs. */
import { assert, assertEquals } from "@std/assert";
import { noon } from "../_support/approvals.ts";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";

const database = await sharedDatabase();

const ROUNDS = 6;

const press = (books: Books, bill: string, { shown, amount }: { shown: string | null; amount: string | null }) =>
  database.asService<Json>("pay_due_date", {
    user_id: books.userId,
    organization_id: books.organizationId,
    bill_id: bill,
    due_on: books.today(),
    shown,
    amount,
    idempotency_key: crypto.randomUUID(),
    at: noon(books),
  });

Deno.test("eight concurrent clicks pay once", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const owner = await openBooks(database);
    const member = await owner.join();
    const { bill } = await owner.ok("add_bill", { name: "Rent", amount: "900.00", first_due: owner.today() });
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, n) => press(n % 2 ? owner : member, bill.id, { shown: "900.00", amount: null })),
    );
    assertEquals(answers.filter(({ outcome, result }) => outcome === "ok" && result.ok).length, 1);
    assert(answers.every(({ outcome }) => ["ok", "already", "busy"].includes(outcome)), JSON.stringify(answers));
    assertEquals((await owner.call("list_expenses")).totals_by_currency, { EUR: "900.00" });
  }
});

Deno.test("a click and a concurrent assistant make one payment", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const owner = await openBooks(database);
    const member = await owner.join();
    const { bill } = await owner.ok("add_bill", { name: "Power", amount_mode: "variable", first_due: owner.today() });
    const [pressed, asked] = await Promise.all([
      press(owner, bill.id, { shown: null, amount: "40.00" }),
      member.call("mark_bill_paid", { bill_id: bill.id, due_on: owner.today(), amount: "61.00" }),
    ]);
    const { rows } = await owner.ok("list_expenses");
    assertEquals(rows.length, 1);
    // The assistant may correct the page's payment, but the page never corrects the assistant's.
    assertEquals(rows[0].amount, asked.ok ? "61.00" : "40.00");
    assert(["ok", "already", "busy"].includes(pressed.outcome), pressed.outcome);
  }
});
