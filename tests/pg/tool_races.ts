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

  "of drafts of one cancellation and its confirmation keep one draft, all facts and the confirmation": async (
    books,
  ) => {
    let refused = 0;
    for (let round = 0; round < 8; round++) {
      const { bill } = await books.ok("add_bill", {
        name: `Gym ${round}`,
        amount: "10",
        first_due: "2026-10-12",
        contract: { started_on: "2026-01-01", term_months: 12, renewal_months: 1, notice: "1 month" },
      });
      const draft = (leave_on: string, contract: Json) => () =>
        books.call("draft_cancellation", { bill_id: bill.id, leave_on, contract });
      const confirm = () =>
        books.call("update_bill", {
          bill_id: bill.id,
          set: { contract: { confirmed_on: "today" }, ends_on: "2026-12-31" },
        });
      const drafts = [
        draft("2026-12-31", { customer_number: "K-17" }),
        draft("2027-01-31", { form: "email" }),
        draft("2027-02-28", { address: "Ring 1" }),
      ];
      // The confirmation arrives at another point in each round.
      const place = round % 4;
      const answers = await Promise.all(drafts.toSpliced(place, 0, confirm).map((call) => call()));
      const [confirmed] = answers.splice(place, 1);
      assertEquals(confirmed.ok, true, JSON.stringify(confirmed.error));
      refused += answers.filter(({ ok, error }) => !ok && error.code === "invalid_argument").length;
      const kept = answers.filter(({ ok }) => ok).map(({ data }) => data.bill.contract);
      assertEquals(
        codes(answers),
        [
          ...kept.map(() => "ok"),
          ...Array.from({ length: 3 - kept.length }, () => "invalid_argument"),
        ].toSorted(),
      );
      const { bills: [{ contract }] } = await books.ok("list_bills", { bill_id: bill.id });
      assertEquals(contract.confirmed_on, "2026-10-06");
      const stated = (key: string) => kept.map((one) => one[key]).filter((value) => value !== undefined);
      assertEquals(stated("leave_on").length === 0 || stated("leave_on").includes(contract.leave_on), true);
      for (const key of ["customer_number", "form", "address"]) {
        assertEquals(contract[key] !== undefined, stated(key).length > 0, key);
      }
    }
    assertEquals(refused > 0, true);
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

  "of undo_change revert one change": async (books) => {
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
