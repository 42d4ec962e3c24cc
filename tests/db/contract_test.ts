/** The contract behind a bill: recorded facts, missing facts, and the last day to cancel. */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { addBill } from "../../functions/mcp/tools/add_bill/contract.ts";
import { daysAfter } from "../../shared/iso_day.ts";
import { testBooks } from "../_support/book_steps.ts";
import type { Books, Json } from "../_support/books.ts";
import { openDatabase } from "../_support/database.ts";
import { type Bill, exitOf } from "./contract_oracle.ts";

const TODAY = "2026-11-20";
const add = async (books: Books, name: string, more: Json = {}): Promise<Json> =>
  (await books.ok("add_bill", { name, amount: "10", first_due: "2026-12-01", on_duplicate: "allow", ...more })).bill;
const show = async (books: Books, id: string): Promise<Json> =>
  (await books.ok("list_bills", { bill_id: id })).bills[0];
const textsOf = (findings: Json[]): string[] => findings.map(({ text }) => text);
const GYM = { started_on: "2025-03-01", term_months: 24, renewal_months: 12, notice: "3 months" };

const days = fc.oneof(
  fc.integer({ min: 0, max: 366 * 4 }).map((n) => daysAfter("2023-01-01", n)),
  fc.constantFrom("2024-02-29", "2026-01-31", "2027-02-28", "2028-02-29", "2027-08-31", "2026-11-30"),
);
const bills = fc.record({
  renews_on: fc.option(days, { nil: undefined, freq: 3 }),
  notice_days: fc.option(fc.integer({ min: 0, max: 120 }), { nil: undefined, freq: 3 }),
  contract: fc.record({
    started_on: days,
    term_months: fc.constantFrom(0, 1, 6, 12, 24),
    renewal_months: fc.constantFrom(0, 1, 3, 6, 12),
    notice: fc.tuple(
      fc.oneof(
        fc.integer({ min: 0, max: 100 }).map((n) => `${n} days`),
        fc.integer({ min: 0, max: 12 }).map((n) => `${n} weeks`),
        fc.integer({ min: 0, max: 6 }).map((n) => `${n} months`),
      ),
      fc.constantFrom("", "", " to term", " to month", " to quarter", " to day"),
    ).map((parts) => parts.join("")),
  }, { requiredKeys: [] }),
  day: fc.oneof(
    fc.integer({ min: 0, max: 366 * 4 }).map((n) => daysAfter("2026-01-01", n)),
    fc.constantFrom("2027-01-31", "2027-02-28", "2028-02-29", "2026-09-30", "2026-10-01"),
  ),
});

Deno.test("next_exit() agrees with a walk through the calendar", async () => {
  const database = await openDatabase();
  try {
    for (const seed of [1, 2, 3]) {
      const asked = fc.sample(bills, { seed, numRuns: 700 }).map(({ contract, ...bill }) => ({
        ...bill,
        // One form of a notice replaces the other.
        ...(contract.notice !== undefined && { notice_days: undefined }),
        contract: Object.keys(contract).length === 0 ? undefined : contract,
      }));
      const told = await database.query<{ leaves_on: string | null; cancel_by: string | null; missing: string[] }>(
        `select e.leaves_on::text, e.cancel_by::text, app.missing_of_contract(b.bill, b.day) as missing
         from jsonb_array_elements($1::jsonb) with ordinality as q
         cross join lateral (
           select jsonb_populate_record(null::app.expenses,
             q.value || '{"status": "active", "frequency": "monthly", "every": 1}') as bill, (q.value ->> 'day')::date as day
         ) as b
         cross join lateral app.next_exit(b.bill, b.day) as e
         order by q.ordinality`,
        [JSON.stringify(asked)],
      );
      for (const [index, { day, ...bill }] of asked.entries()) {
        const { missing, ...exit } = told[index]!;
        assertEquals(exit, exitOf(bill as Bill, day), JSON.stringify({ day, ...bill }));
        // Every unknown end has a reason.
        if (bill.contract || bill.renews_on) {
          assertEquals(missing.length > 0, exit.leaves_on === null, JSON.stringify({ day, ...bill, missing }));
        }
      }
    }
  } finally {
    await database.close();
  }
});

Deno.test("next_term_on() counts terms as the German Civil Code does", async () => {
  const database = await openDatabase();
  try {
    // First day, months, last day.
    const terms: [string, number, string][] = [
      ["2026-01-01", 1, "2026-01-31"],
      ["2026-01-15", 12, "2027-01-14"],
      ["2026-01-28", 1, "2026-02-27"],
      ["2026-01-29", 1, "2026-02-28"],
      ["2026-01-30", 1, "2026-02-28"],
      ["2026-01-31", 1, "2026-02-28"],
      ["2028-01-29", 1, "2028-02-28"],
      ["2028-01-30", 1, "2028-02-29"],
      ["2028-01-31", 1, "2028-02-29"],
      ["2026-03-31", 1, "2026-04-30"],
      ["2026-01-31", 2, "2026-03-30"],
      ["2024-02-29", 12, "2025-02-28"],
      ["2024-02-29", 48, "2028-02-28"],
    ];
    const told = await database.query<{ ends_on: string }>(
      `select (app.next_term_on((t.value ->> 0)::date, (t.value ->> 1)::int) - 1)::text as ends_on
       from jsonb_array_elements($1::jsonb) with ordinality as t order by t.ordinality`,
      [JSON.stringify(terms)],
    );
    assertEquals(told.map(({ ends_on }, index) => [...terms[index]!.slice(0, 2), ends_on]), terms);
  } finally {
    await database.close();
  }
});

Deno.test("an invalid contract is refused", () => {
  const takes = (contract: Json) => addBill.parse({ name: "X", amount: "1", first_due: "2026-12-01", contract }).ok;
  for (const notice of ["soon", "3", "25 months", "800 days", "3 months to never", "1 month to month; x"]) {
    assertEquals(takes({ notice }), false, notice);
  }
  for (const notice of ["1 month", "0 days", "24 months to quarter", "2 weeks to day", "730 days"]) {
    assertEquals(takes({ notice }), notice !== "730 days", notice);
  }
  assertEquals([takes({ form: "fax" }), takes({ drafted_on: "2026-11-01" }), takes({ term_months: -1 })], [
    false,
    false,
    false,
  ]);
});

testBooks("a contract", { day: TODAY }, {
  "is stored unchanged, and determines the last day to cancel and the last day of the term": async (books) => {
    const bill = await add(books, "Gym", {
      contract: { ...GYM, form: "letter", customer_number: " K-17 ", address: "Gym GmbH\nRing 1\n10115 Berlin" },
    });
    assertEquals([bill.renews_on, bill.cancel_by, bill.contract], ["2027-03-01", "2026-11-30", {
      ...GYM,
      form: "letter",
      customer_number: "K-17",
      address: "Gym GmbH\nRing 1\n10115 Berlin",
      can_end_on: "2027-02-28",
    }]);
    books.goTo("2026-12-01");
    const later = await show(books, bill.id);
    assertEquals([later.renews_on, later.cancel_by, later.contract.can_end_on], [
      "2027-03-01",
      "2027-11-30",
      "2028-02-29",
    ]);
  },
  "lets notice_days and a notice replace each other": async (books) => {
    const { id } = await add(books, "Gym", { renews_on: "2027-03-01", notice_days: 90 });
    assertEquals((await show(books, id)).cancel_by, "2026-12-01");
    const set = async (change: Json) => (await books.ok("update_bill", { bill_id: id, set: change })).bill;
    assertEquals((await set({ contract: { notice: "1 month" } })).cancel_by, "2027-01-31");
    assertEquals((await set({ notice_days: 30 })).cancel_by, "2027-01-30");
    assertEquals((await show(books, id)).contract, undefined);
  },
  "keeps the other facts when one is added, and can empty a text": async (books) => {
    const { id } = await add(books, "Gym", { contract: { ...GYM, customer_number: "1" } });
    const { bill, before } = await books.ok("update_bill", {
      bill_id: id,
      set: { contract: { customer_number: "", form: "email" } },
    });
    assertEquals(bill.contract, { ...GYM, form: "email", can_end_on: "2027-02-28" });
    assertEquals(before.contract.customer_number, "1");
  },
  "is restored by undo_change()": async (books) => {
    const { id } = await add(books, "Gym", { contract: GYM });
    const before = await show(books, id);
    const { change_id } = await books.call("update_bill", {
      bill_id: id,
      set: { contract: { notice: "1 week to day" } },
    });
    await books.ok("undo_change", { change_id });
    const after = await show(books, id);
    assertEquals({ ...after, version: 0 }, { ...before, version: 0 });
  },
  "is never guessed: unrecorded facts are listed as missing": async (books) => {
    const { warnings } = await books.call("add_bill", {
      name: "Phone",
      amount: "20",
      first_due: "2026-12-01",
      contract: { started_on: "2026-01-15", term_months: 24 },
    });
    assertEquals(warnings.map(({ code }: Json) => code), ["contract_incomplete", "repeats_by_default"]);
    await add(books, "Club", { renews_on: "2026-12-24" });
    const { cancel_by } = await books.ok("review_bills");
    assertEquals(textsOf(cancel_by), [
      "Club renews on 2026-12-24, but the last day to cancel is unknown: nobody has said its notice period (notice). Ask, and set it with update_bill, set.contract.",
      "Phone has a contract, but the last day to cancel is unknown: nobody has said its notice period (notice) and whether it renews and for how long (renewal_months). Ask, and set it with update_bill, set.contract.",
    ]);
  },
  "is announced in time with its form, and monthly contracts are not": async (books) => {
    await add(books, "Gym", { contract: { ...GYM, form: "letter" } });
    await add(books, "Phone", {
      contract: {
        started_on: "2024-12-15",
        term_months: 24,
        renewal_months: 0,
        notice: "2 weeks to day",
        form: "online",
      },
    });
    await add(books, "Music", { contract: { term_months: 0, notice: "1 month to month" } });
    const { cancel_by } = await books.ok("review_bills");
    assertEquals(textsOf(cancel_by), [
      "Gym renews on 2027-03-01; to end it on 2027-02-28, cancel by letter by 2026-11-30.",
      "Phone can end on 2026-12-14; to end it, cancel online by 2026-11-30.",
    ]);
    const music = (await books.ok("list_bills", { query: "music" })).bills[0];
    assertEquals([music.cancel_by, music.contract.can_end_on], ["2026-11-30", "2026-12-31"]);
    books.goTo("2026-12-01");
    assertEquals(textsOf((await books.ok("review_bills")).cancel_by), []);
  },
  "is announced until the last day if its term ends within a month, and otherwise in its last three days": async (
    books,
  ) => {
    const contract = { started_on: "2025-12-15", term_months: 12, renewal_months: 0, notice: "1 month to month" };
    const { id } = await add(books, "Gym", { contract });
    const review = async (day: string) => {
      books.goTo(day);
      return textsOf((await books.ok("review_bills")).cancel_by);
    };
    const last = "Gym can end on 2026-12-31; to end it, cancel by";
    assertEquals(await review("2026-11-20"), [`${last} 2026-11-30.`]);
    const [text] = await review("2026-11-30");
    assert(text!.startsWith(`${last} today, 2026-11-30: it has to arrive today, so a letter by post`), text);
    assertEquals(await review("2026-12-01"), []);
    assertEquals(await review("2026-12-28"), ["Gym can end on 2027-01-31; to end it, cancel by 2026-12-31."]);
    const { warnings } = await books.call("update_bill", { bill_id: id, set: { status: "cancelled" } });
    assertEquals(
      warnings.map(({ message }: Json) => message).at(-1),
      [
        "Gym ended in these books only. The contract continues until somebody cancels it with the payee.",
        "It has no fixed end: to end it on 2027-01-31, cancel it by 2026-12-31.",
      ].join(" "),
    );
    await books.ok("update_bill", { bill_id: id, set: { status: "active", contract: { notice: "2 weeks to day" } } });
    assertEquals(await review("2026-12-31"), [], "notice to any day has no last day");
    await books.ok("update_bill", { bill_id: id, set: { contract: { notice: "6 weeks to quarter" } } });
    assertEquals(await review("2027-01-10"), ["Gym can end on 2027-03-31; to end it, cancel by 2027-02-17."]);
  },
  "is described in plain words in the list of changes": async (books) => {
    const { id } = await add(books, "Gym");
    const facts = { started_on: "2025-03-01", term_months: 24, renewal_months: 0, notice: "1 month to month" };
    await books.ok("update_bill", { bill_id: id, set: { contract: { ...facts, form: "email" } } });
    await books.ok("update_settings", { own_only: true });
    const { recent_changes } = await books.ok("get_context", { include: ["recent_changes"] });
    assertEquals(recent_changes.slice(0, 2).map(({ effect, summary }: Json) => effect ?? summary), [
      "Settings changed: members see only their own records no → yes",
      "Gym changed: contract nothing → to be cancelled by email, 1 month’s notice to the end of a month, started on " +
      "2025-03-01, minimum term of 2 years, goes on until cancelled",
    ]);
  },
  "without a known renewal can end on its last day": async (books) => {
    await add(books, "Club", { notice_days: 14, contract: { started_on: "2025-12-15", term_months: 12 } });
    assertEquals(textsOf((await books.ok("review_bills")).cancel_by), [
      "Club can end on 2026-12-14; to end it, cancel by 2026-12-01.",
    ]);
  },
  "names one month in the singular": async (books) => {
    const { contract } = await add(books, "Gym", { contract: { ...GYM, notice: "1 month to month" } });
    assertEquals(contract.notice, "1 month to month");
  },
  "ends with its confirmation": async (books) => {
    const { id } = await add(books, "Gym", { contract: GYM });
    const confirm = (more: Json) =>
      books.call("update_bill", { bill_id: id, set: { contract: { confirmed_on: "today" }, ...more } });
    const { data, warnings } = await confirm({});
    assertEquals([data.bill.status, data.bill.cancel_by, data.bill.renews_on], ["active", undefined, undefined]);
    assert(warnings[0].message.includes("not its last day"), warnings[0].message);
    assertEquals((await confirm({ ends_on: "2027-02-28" })).warnings, []);
    assertEquals(textsOf((await books.ok("review_bills")).cancel_by), []);
    await books.fails("date_out_of_range", "update_bill", {
      bill_id: id,
      set: { contract: { confirmed_on: "2026-12-24" } },
    });
  },
  "stays in its organization and private category": async (books, database) => {
    const { id } = await add(books, "Gym", { contract: { ...GYM, customer_number: "secret" } });
    const member = await books.join();
    await books.ok("update_settings", { category: { action: "create", name: "Own" } });
    await books.ok("update_settings", { category: { action: "make_private", name: "Own" } });
    await books.ok("update_bill", { bill_id: id, set: { category: "Own" } });
    assertEquals((await member.ok("review_bills")).cancel_by, []);
    const [{ other } = { other: 0 }] = await database.query<{ other: number }>(
      "select count(*)::int as other from app.expenses where contract is not null and kind = 'one_off'",
    );
    assertEquals(other, 0);
  },
});
