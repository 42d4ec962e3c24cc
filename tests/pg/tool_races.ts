/** Concurrent tool calls. */
import { assertEquals } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import type { Json } from "../_support/books.ts";

const together = <Result>(count: number, work: (i: number) => Promise<Result>) =>
  Promise.all(Array.from({ length: count }, (_, i) => work(i)));
const codes = (answers: Json[]) => answers.map(({ ok, error }) => ok ? "ok" : error.code).toSorted();

testBooks("parallel calls", { day: "2026-10-06" }, {
  "of the same expense write it once": async (books) => {
    for (let round = 0; round < 10; round++) {
      const items = [{ name: `Lunch ${round}`, amount: "14.50" }, {
        name: `Tea ${round}`,
        amount: "2",
        category: `New ${round}`,
      }];
      const answers = await together(4, () => books.call("log_expenses", { items, create_missing_categories: true }));
      const statuses = answers.flatMap(({ data }) => data.results.map(({ status }: Json) => status));
      assertEquals(statuses.filter((status) => status === "created").length, 2);
      assertEquals(
        new Set(answers.flatMap(({ data }) => data.results.map(({ id, existing_id }: Json) => id ?? existing_id)))
          .size,
        2,
      );
    }
    assertEquals((await books.call("list_expenses")).total_count, 20);
  },

  "with the same key write once and return the same answer": async (books) => {
    const call = {
      items: [{ name: "Lunch", amount: "14.50" }],
      on_duplicate: "allow",
      idempotency_key: "key-000001",
    };
    const answers = await together(4, () => books.call("log_expenses", call));
    assertEquals(new Set(answers.map(({ change_id }) => change_id)).size, 1);
    assertEquals(answers.filter(({ replayed }) => replayed).length, 3);
    assertEquals((await books.call("list_expenses")).total_count, 1);
  },

  "of one undo succeed once": async (books) => {
    for (let round = 0; round < 5; round++) {
      const { change_id } = await books.call("log_expenses", { items: [{ name: `N${round}`, amount: "1" }] });
      assertEquals(codes(await together(4, () => books.call("undo_change", { change_id }))), [
        "already_undone",
        "already_undone",
        "already_undone",
        "ok",
      ]);
    }
    assertEquals((await books.call("list_expenses")).total_count, 0);
  },

  "of undo that go back one change": async (books) => {
    for (const name of ["Dinner", "Tea"]) await books.ok("log_expenses", { items: [{ name, amount: "1" }] });
    assertEquals(codes(await together(4, () => books.call("undo_change"))), [
      "already_undone",
      "already_undone",
      "already_undone",
      "ok",
    ]);
    assertEquals((await books.ok("list_expenses")).rows.map(({ name }: Json) => name), ["Dinner"]);
  },

  "of two updates of one version accept one": async (books) => {
    const { results: [{ id }] } = await books.ok("log_expenses", { items: [{ name: "Lunch", amount: "1" }] });
    const answers = await together(
      4,
      (i) => books.call("update_expenses", { ids: [id], set: { amount: String(i + 2) }, expected_version: 1 }),
    );
    assertEquals(codes(answers), ["ok", "stale_version", "stale_version", "stale_version"]);
  },

  "of two members each change their own": async (books) => {
    const member = await books.join();
    await together(
      10,
      (i) => (i % 2 ? books : member).ok("log_expenses", { items: [{ name: `N${i}`, amount: "1" }] }),
    );
    assertEquals((await books.call("list_expenses")).totals_by_currency, { EUR: "10.00" });
    await Promise.all([books, member].map(async (one) => {
      const { recent_changes } = await books.ok("get_context", { include: ["recent_changes"] });
      for (const { change_id, by } of recent_changes) {
        if (by === `${one.userId}@example.com`) await one.ok("undo_change", { change_id });
      }
    }));
    assertEquals((await books.call("list_expenses")).total_count, 0);
  },
});
