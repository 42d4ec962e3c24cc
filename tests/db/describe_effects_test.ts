/** What a change did to things, before and after, as pages and proposals tell it. */
import { assertEquals } from "@std/assert";
import type { TestDatabase } from "../_support/database.ts";
import { testBooks } from "../_support/book_steps.ts";
import { addRate } from "../_support/books.ts";
import { effectLines, tellEffects } from "../../shared/words/effects.ts";
import { wordsOf } from "../../shared/words/words.ts";

const words = wordsOf("en");

async function linesOf(database: TestDatabase, changeId: string, atMost = 100): Promise<string[]> {
  const [row] = await database.query<{ told: Record<string, unknown> }>(
    "select app.read_effects($1, $2) as told",
    [changeId, atMost],
  );
  return effectLines(tellEffects(row!.told, words), words);
}

const lunch = { name: "Lunch", payee: "Corner", amount: "14.50", date: "2026-11-19", category: "Groceries" };

testBooks("the effects of a change", {}, {
  "say what comes, what changes and what goes, as one thing each": async (books, database) => {
    const logged = await books.call("log_expenses", { items: [lunch], create_missing_categories: true });
    assertEquals(await linesOf(database, logged.change_id), [
      "Lunch added: amount 14.50 EUR, date 2026-11-19, payee Corner, category Groceries",
    ]);
    const id = logged.data.results[0].id;
    const changed = await books.call("update_expenses", {
      ids: [id],
      set: { amount: "20", date: "2026-11-18", tags: ["work"], is_refund: true },
    });
    assertEquals(await linesOf(database, changed.change_id), [
      "Lunch changed: amount 14.50 EUR → 20.00 EUR, date 2026-11-19 → 2026-11-18, tags nothing → work, " +
      "refund or not no → yes",
    ]);
    const deleted = await books.call("delete_records", { ids: [id] });
    assertEquals(await linesOf(database, deleted.change_id), [
      "Lunch deleted: amount 20.00 EUR, date 2026-11-18, payee Corner, category Groceries, tags work, refund or not yes",
    ]);
    const undone = await books.call("undo_change", { change_id: deleted.change_id });
    assertEquals(await linesOf(database, undone.change_id), [
      "Lunch added: amount 20.00 EUR, date 2026-11-18, payee Corner, category Groceries, tags work, refund or not yes",
    ]);
  },

  "say that an amount is in another currency, whatever its figures": async (books, database) => {
    await addRate(database, "INR", "2026-11-19", "90");
    const loan = { name: "Loan", amount: "10000", currency: "INR", date: "2026-11-19", tax: "100" };
    const { data: { results: [{ id }] } } = await books.call("log_expenses", { items: [loan] });
    const moved = await books.call("update_expenses", { ids: [id], set: { currency: "USD" } });
    assertEquals(await linesOf(database, moved.change_id), [
      "Loan changed: amount 10000.00 INR → 10000.00 USD, tax 100.00 INR → 100.00 USD",
    ]);
    const charge = { charged: { amount: "9000", currency: "EUR" } };
    const charged = await books.call("update_expenses", { ids: [id], set: charge });
    assertEquals(await linesOf(database, charged.change_id), ["Loan changed: charge nothing → 9000.00 EUR"]);
    const { bill } = await books.ok("add_bill", { name: "Rent", amount: "900", first_due: "2026-12-01" });
    const dear = await books.call("update_bill", { bill_id: bill.id, set: { amount: "900", currency: "USD" } });
    assertEquals((await linesOf(database, dear.change_id))[0], "Rent changed: amount 900.00 EUR → 900.00 USD");
  },

  "of a bill say its schedule, its dates and what was paid": async (books, database) => {
    const added = await books.call("add_bill", {
      name: "Rent",
      amount: "900",
      frequency: "monthly",
      first_due: "2026-12-01",
    });
    assertEquals(await linesOf(database, added.change_id), [
      "Rent added: amount 900.00 EUR, first date 2026-12-01, frequency monthly, interval 1, category Housing",
    ]);
    const paid = await books.call("mark_bill_paid", { bill_name: "Rent", due_on: "2026-12-01" });
    assertEquals(await linesOf(database, paid.change_id), [
      "Payment of 900.00 EUR for Rent added: date 2026-11-20",
      "Rent due 2026-12-01 changed: status open → paid",
    ]);
    const set = await books.call("update_settings", { closed_through: "2026-09" });
    assertEquals(await linesOf(database, set.change_id), [
      "Settings changed: closed months nothing → 2026-09-30",
    ]);
  },

  "tell the first of many, and count the rest": async (books, database) => {
    const items = Array.from({ length: 60 }, (_, i) => ({ name: `Thing ${i}`, amount: "1", date: "2026-11-19" }));
    const { change_id } = await books.call("log_expenses", { items });
    const lines = await linesOf(database, change_id, 10);
    assertEquals([lines.length, lines[0]!.split(" added")[0], lines.at(-1)], [11, "Thing 0", "and 50 more"]);
    assertEquals((await linesOf(database, change_id)).length, 60);
  },
});
