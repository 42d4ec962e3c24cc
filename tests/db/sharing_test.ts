/** Shared costs: shares, balances, and settling up. */
import { assert, assertEquals } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import { addMember, type Books, confirmed, type Json, openBooks } from "../_support/books.ts";
import type { TestDatabase } from "../_support/database.ts";
import { rollAll } from "../_support/roll_bills.ts";

const mail = ({ userId }: Books) => `${userId}@example.com`;
const item = (amount: string, more: Json = {}) => ({ name: `Thing ${amount}`, amount, date: "2026-11-19", ...more });

/** Logs one expense and returns its id. */
async function log(books: Books, amount: string, more: Json = {}): Promise<string> {
  const { results } = await books.ok("log_expenses", { items: [item(amount, more)], on_duplicate: "allow" });
  return results[0].id;
}

/** "a→b 5.00 EUR" for each balance, with people by their position in the list. */
async function owed(books: Books, people: Books[]): Promise<string[]> {
  const { balances } = await books.ok("get_context", { include: ["balances"] });
  const name = (who: string) => people.findIndex((one) => mail(one) === who);
  return balances.map(({ from, to, amount, currency }: Json) => `${name(from)}→${name(to)} ${amount} ${currency}`);
}

const leave = (database: TestDatabase, { organizationId, userId }: Books, at: string) =>
  database.asService<Json>("remove_member", {
    organization_id: organizationId,
    user_id: userId,
    member_id: userId,
    at,
  });

async function borne(books: Books, people: Books[]): Promise<string[]> {
  const { rows } = await books.ok("list_expenses");
  return rows[0].shared.shares.map(({ member, amount }: Json) =>
    `${people.findIndex((one) => mail(one) === member)} ${amount}`
  );
}

testBooks("an expense's shares", {}, {
  "are equal by default, and the payer bears the remainder": async (ana) => {
    const [ben, carla] = [await ana.join(), await ana.join("manager")];
    const people = [ana, ben, carla];
    await log(ben, "10.00", { shared: {} });
    assertEquals((await borne(ana, people)).toSorted(), ["0 3.33", "1 3.34", "2 3.33"]);
    assertEquals((await owed(ana, people)).toSorted(), ["0→1 3.33 EUR", "2→1 3.33 EUR"]);
  },

  "follow weights or amounts in currencies with other decimals": async (ana) => {
    const ben = await ana.join();
    const people = [ana, ben];
    await log(ana, "1001", { currency: "JPY", shared: { between: ["me", mail(ben)], shares: [1, 2] } });
    assertEquals(await borne(ana, people), ["0 334", "1 667"]);
    await log(ana, "1.001", { currency: "KWD", shared: { between: [mail(ben)], amounts: ["1.001"] } });
    assertEquals(await owed(ana, people), ["1→0 667 JPY", "1→0 1.001 KWD"]);
    await log(ana, "10.00", { paid_by: mail(ben), shared: { between: ["me", mail(ben)], amounts: ["9.99", "0.01"] } });
    assertEquals(await owed(ben, people), ["0→1 9.99 EUR", "1→0 667 JPY", "1→0 1.001 KWD"]);
  },

  "are refused when they don't add up or name a non-member": async (ana) => {
    const [ben, viewer] = [await ana.join(), await ana.join("viewer")];
    const fails = async (more: Json, field: string) => {
      const error = await ana.fails("invalid_argument", "log_expenses", { items: [item("10.00", more)] });
      assertEquals(error.field, `items[0].${field}`);
      return error.message;
    };
    const both = ["me", mail(ben)];
    assert((await fails({ shared: { between: both, amounts: ["5.00", "4.99"] } }, "shared.amounts")).includes("9.99"));
    await fails({ shared: { between: both, shares: [1] } }, "shared");
    await fails({ shared: { between: both, shares: [1, 1], amounts: ["5.00", "5.00"] } }, "shared");
    await fails({ shared: { between: ["me", "me"] } }, "shared.between");
    await fails({ shared: { between: [mail(viewer)] } }, "shared.between[0]");
    await fails({ paid_by: mail(viewer) }, "paid_by");
    const stranger = await ana.fails("not_found", "log_expenses", {
      items: [item("1.00", { paid_by: "nobody@else" })],
    });
    assertEquals(stranger.field, "items[0].paid_by");
    assertEquals((await ana.ok("list_expenses")).rows, []);
  },

  "change and disappear with the expense": async (ana) => {
    const ben = await ana.join();
    const people = [ana, ben];
    const id = await log(ana, "10.00", { shared: {} });
    await ana.ok("update_expenses", { ids: [id], set: { amount: "20.01" } });
    assertEquals(await owed(ana, people), ["1→0 10.00 EUR"]);
    // A change of shares is not listed as a change of the sharing rule.
    const { recent_changes } = await ana.ok("get_context", { include: ["recent_changes"] });
    assertEquals(recent_changes[0].summary, "Changed Thing 10.00: amount");
    await ana.ok("update_expenses", { ids: [id], set: { paid_by: mail(ben) } });
    assertEquals(await owed(ana, people), ["0→1 10.00 EUR"]);
    await ana.ok("update_expenses", { ids: [id], set: { is_refund: true } });
    assertEquals(await owed(ana, people), ["1→0 10.00 EUR"]);
    const { change_id } = await ana.call("update_expenses", { ids: [id], set: { shared: { between: [] } } });
    assertEquals(await owed(ana, people), []);
    await ana.ok("undo_change", { change_id });
    assertEquals(await owed(ana, people), ["1→0 10.00 EUR"]);
    await ana.ok("delete_records", { ids: [id] });
    assertEquals(await owed(ana, people), []);
    await ana.ok("undo_change");
    assertEquals(await owed(ana, people), ["1→0 10.00 EUR"]);
  },

  "report the balance changes of a deletion, even in a preview": async (ana) => {
    const ben = await ana.join();
    const id = await log(ana, "40.00", { shared: {} });
    await log(ana, "10.00", { shared: {} });
    const own = await log(ana, "3.00");
    await ana.ok("settle_up", { from: mail(ben), amount: "20.00" });
    const said = async (args: Json) =>
      (await ana.call("delete_records", args)).warnings
        .filter(({ code }: Json) => code === "balances_change").map(({ message }: Json) => message);
    const words = [
      `A shared cost is deleted, so balances change. Before: ${mail(ben)} owes ${mail(ana)} 5.00 EUR. After: ${
        mail(ana)
      } ` +
      `owes ${mail(ben)} 15.00 EUR. Settlements (settle_up) stay recorded.`,
    ];
    assertEquals(await said({ ids: [own] }), []);
    assertEquals(await said({ ids: [id], dry_run: true }), words);
    assertEquals(await said({ ids: [id] }), words);
    await ana.ok("undo_change");
    await ana.ok("settle_up", { from: mail(ben) });
    await ana.ok("undo_change");
    assertEquals(await owed(ana, [ana, ben]), ["1→0 5.00 EUR"]);
  },

  "by amounts are required again when the amount changes": async (ana) => {
    const ben = await ana.join();
    const shared = { between: ["me", mail(ben)], amounts: ["4.00", "6.00"] };
    const id = await log(ana, "10.00", { shared });
    await ana.fails("invalid_argument", "update_expenses", { ids: [id], set: { amount: "12.00" } });
    await ana.ok("update_expenses", {
      ids: [id],
      set: { amount: "12.00", shared: { ...shared, amounts: ["4", "8"] } },
    });
    assertEquals(await owed(ana, [ana, ben]), ["1→0 8.00 EUR"]);
  },

  "apply to every part of a split and add up": async (ana, database) => {
    const ben = await ana.join();
    const id = await log(ana, "10.01", {
      split: [{ amount: "3.33", category: "Groceries" }, {}],
      shared: {},
    });
    assertEquals(await owed(ana, [ana, ben]), ["1→0 5.00 EUR"]);
    await ana.ok("update_expenses", { ids: [id], set: { split: [{ amount: "1.01" }, { amount: "4.00" }, {}] } });
    await addsUp(database, ana);
    assertEquals(await owed(ana, [ana, ben]), ["1→0 5.00 EUR"]);
  },

  "of one part remain when the split changes": async (ana, database) => {
    const ben = await ana.join();
    const id = await log(ana, "100.00", { split: [{ amount: "80", category: "Groceries" }, { category: "Gifts" }] });
    const parts = (await ana.ok("list_expenses")).rows;
    const gifts = parts.find(({ category }: Json) => category === "Gifts").id;
    await ana.ok("update_expenses", { ids: [gifts], set: { shared: {}, paid_by: mail(ben) } });
    assertEquals(await owed(ana, [ana, ben]), ["0→1 10.00 EUR"]);
    const split = [{ amount: "70", category: "Groceries" }, { category: "Gifts" }];
    await ana.ok("update_expenses", { ids: [id], set: { date: "2026-11-02", split } });
    await addsUp(database, ana);
    assertEquals(await owed(ana, [ana, ben]), ["0→1 15.00 EUR"]);
  },

  "remain when records are merged": async (ana) => {
    const ben = await ana.join();
    const [shared, plain] = [await log(ana, "10.00", { shared: {} }), await log(ana, "10.00", { name: "CARD 10" })];
    await ana.ok("update_expenses", { ids: [shared], merge_into: plain });
    assertEquals(await owed(ana, [ana, ben]), ["1→0 5.00 EUR"]);
  },
});

/** "0 6.66" for each group of people, with people by their position in the list. */
async function grouped(books: Books, people: Books[], question: Json): Promise<string[]> {
  const { rows, total } = await books.ok("summarize_spending", { period: "this_month", ...question });
  const place = (name: string) => people.findIndex((one) => mail(one) === name);
  return [
    ...rows.map(({ group, amount, count }: Json) => {
      const at = place(group[0]);
      return `${at < 0 ? group[0] : at} ${amount} ${count}`;
    }).toSorted(),
    `${total.amount} ${total.count}`,
  ];
}

testBooks("spending by person", { day: "2026-11-20" }, {
  "by bearer adds up each person's shares, and the total counts each payment once": async (ana) => {
    const ben = await ana.join();
    const people = [ana, ben];
    const shared = { shared: { between: ["me", mail(ben)], shares: [1, 2] } };
    await log(ana, "9.00", shared);
    await log(ana, "5.00");
    await log(ben, "2.00");
    await log(ana, "3.00", { ...shared, is_refund: true });
    assertEquals(await grouped(ana, people, { group_by: ["borne_by"] }), ["0 7.00 3", "1 6.00 3", "13.00 4"]);
    assertEquals(await grouped(ana, people, { group_by: ["borne_by"], borne_by: mail(ben) }), ["1 6.00 3", "6.00 3"]);
    assertEquals(
      await grouped(ana, people, { group_by: ["borne_by"], period: "last_month", compare: "none" }),
      ["0.00 0"],
    );
  },

  "by bearer divides upcoming bills as their payments will be divided": async (ana) => {
    const ben = await ana.join();
    const people = [ana, ben];
    const shared = { between: ["me", mail(ben)], shares: [1, 2] };
    await log(ana, "5.00");
    await ana.ok("add_bill", { name: "Rent", amount: "100.00", first_due: "2026-11-25", shared });
    await ana.ok("add_bill", { name: "Gym", amount: "30.00", first_due: "2026-11-26" });
    await ben.ok("add_bill", { name: "Phone", amount: "7.00", first_due: "2026-11-27", amount_mode: "estimated" });
    const coming = { include_upcoming: true };
    assertEquals(await grouped(ana, people, { ...coming, borne_by: "me", group_by: ["member"] }), [
      "0 68.34 3",
      "68.34 3",
    ]);
    assertEquals(await grouped(ana, people, { ...coming, group_by: ["borne_by"] }), [
      "0 68.34 3",
      "1 73.66 2",
      "142.00 4",
    ]);
    assertEquals(await grouped(ana, people, { ...coming, group_by: ["borne_by"], borne_by: mail(ben) }), [
      "1 73.66 2",
      "73.66 2",
    ]);
    const { data, warnings } = await ben.call("summarize_spending", {
      period: "this_month",
      ...coming,
      borne_by: "me",
    });
    assertEquals(data.total.upcoming, "73.66");
    assertEquals(warnings.map(({ code }: Json) => code), ["amount_estimated"]);
    await ana.ok("mark_bill_paid", { bill_name: "Rent", due_on: "2026-11-25" });
    assertEquals(await grouped(ana, people, { ...coming, group_by: ["borne_by"] }), [
      "0 68.34 3",
      "1 73.66 2",
      "142.00 4",
    ]);
  },

  "an expense that somebody paid for another is not the payer's share": async (ana) => {
    const ben = await ana.join();
    await log(ana, "9.00", { shared: { between: [mail(ben)] } });
    const names = async (books: Books) => (await books.ok("list_expenses", { borne_by: "me" })).rows.length;
    assertEquals([await names(ana), await names(ben)], [0, 1]);
    assertEquals(await grouped(ana, [ana, ben], { borne_by: "me" }), ["0.00 0"]);
  },

  "upcoming bills follow the filter by payer": async (ana) => {
    const ben = await ana.join();
    await ana.ok("add_bill", { name: "Gym", amount: "30.00", first_due: "2026-11-26" });
    await ana.ok("add_bill", { name: "Phone", amount: "7.00", first_due: "2026-11-27", paid_by: mail(ben) });
    const upcoming = async (member: string) =>
      (await ana.ok("summarize_spending", { period: "this_month", include_upcoming: true, member })).total.upcoming;
    assertEquals([await upcoming("me"), await upcoming(mail(ben))], ["30.00", "7.00"]);
  },

  "by bearer shows people with own-only access only their share": async (ana) => {
    const ben = await ana.join();
    await log(ana, "9.00", { shared: { between: ["me", mail(ben)], shares: [1, 2] } });
    await ana.ok("update_settings", { own_only: true });
    assertEquals(await grouped(ben, [ana, ben], { group_by: ["borne_by"] }), ["1 6.00 1", "6.00 1"]);
  },

  "by recorder distinguishes a payment's author from its payer, and automatic payments": async (ana, database) => {
    const ben = await ana.join();
    const people = [ana, ben];
    await log(ben, "2.00", { paid_by: mail(ana) });
    await log(ana, "5.00", { paid_by: mail(ben) });
    await ana.ok("add_bill", { name: "Rent", amount: "100.00", first_due: "2026-11-21", autopay: true });
    await ana.ok("add_bill", { name: "Gym", amount: "30.00", first_due: "2026-11-20" });
    await ben.ok("mark_bill_paid", { bill_name: "Gym", paid_by: mail(ana) });
    ana.goTo("2026-11-22");
    await rollAll(database, "2026-11-22T12:00:00Z");
    assertEquals(await grouped(ana, people, { group_by: ["recorded_by"] }), [
      "0 5.00 1",
      "1 32.00 2",
      "Automatic 100.00 1",
      "137.00 4",
    ]);
    await ana.fails("invalid_argument", "summarize_spending", { group_by: ["recorded_by"], include_upcoming: true });
    const { rows } = await ana.ok("list_expenses", { recorded_by: mail(ben) });
    assertEquals(rows.map(({ name }: Json) => name).toSorted(), ["Gym", "Thing 2.00"]);
    assertEquals(await grouped(ben, people, { recorded_by: "me", group_by: ["member"] }), ["0 32.00 2", "32.00 2"]);
  },

  "follows the undo of a payment and its redo": async (ana) => {
    const ben = await ana.join();
    const people = [ana, ben];
    await log(ana, "2.00");
    await ana.ok("add_bill", { name: "Gym", amount: "30.00", first_due: "2026-11-20", shared: {} });
    const { change_id } = await ben.call("mark_bill_paid", { bill_name: "Gym" });
    const paid = [["0 2.00 1", "1 30.00 1", "32.00 2"], ["0 17.00 2", "1 15.00 1", "32.00 2"], ["Gym"]];
    const open = [["0 2.00 1", "2.00 1"], ["0 2.00 1", "2.00 1"], []];
    const seen = async () => [
      await grouped(ana, people, { group_by: ["recorded_by"] }),
      await grouped(ana, people, { group_by: ["borne_by"] }),
      (await ana.ok("list_expenses", { recorded_by: mail(ben) })).rows.map(({ name }: Json) => name),
    ];
    assertEquals(await seen(), paid);
    // Undone by another person.
    const undone = await ana.call("undo_change", { change_id });
    assertEquals(await seen(), open);
    await ana.ok("undo_change", { change_id: undone.change_id });
    // Ben recorded it.
    assertEquals(await seen(), paid);
  },

  "omits a deleted expense, before and after its purge": async (ana, database) => {
    const ben = await ana.join();
    const people = [ana, ben];
    await log(ana, "2.00");
    const gone = await log(ben, "10.00", { shared: {} });
    await ana.ok("delete_records", { ids: [gone] });
    const left = ["0 2.00 1", "2.00 1"];
    const purge = () => database.query("select jobs.purge_expired('2027-12-20T12:00:00Z')");
    for (const step of [async () => {}, purge]) {
      await step();
      for (const group of ["recorded_by", "borne_by"]) {
        assertEquals(await grouped(ana, people, { group_by: [group] }), left);
        assertEquals(await grouped(ana, people, { group_by: [group], [group]: mail(ben) }), ["0.00 0"]);
      }
    }
    assertEquals(await database.query("select id from app.payments where expense_id = $1", [gone]), []);
  },

  "separates one person's records in two organizations": async (ana, database) => {
    const ben = await ana.join();
    const others = await openBooks(database, { day: "2026-11-20" });
    await addMember(database, others.organizationId, ben.userId, "member");
    await log(ana, "9.00", { shared: { between: [mail(ben)] } });
    await log(others, "70.00", { shared: { between: ["me", mail(ben)] } });
    assertEquals(await grouped(ana, [ana, ben], { group_by: ["recorded_by"] }), ["0 9.00 1", "9.00 1"]);
    assertEquals(await grouped(ana, [ana, ben], { group_by: ["borne_by"] }), ["1 9.00 1", "9.00 1"]);
    assertEquals(await grouped(ben, [ana, ben], { borne_by: "me", group_by: ["borne_by"] }), ["1 9.00 1", "9.00 1"]);
    assertEquals(await grouped(others, [others, ben], { group_by: ["borne_by"] }), [
      "0 35.00 1",
      "1 35.00 1",
      "70.00 1",
    ]);
    for (const filter of [{ recorded_by: mail(others) }, { borne_by: mail(others) }]) {
      const { details } = await ana.fails("not_found", "summarize_spending", { period: "this_month", ...filter });
      assertEquals(JSON.stringify(details).includes(mail(others)), false);
    }
  },

  "attributes a removed member's records and shares to a former member": async (ana, database) => {
    const ben = await ana.join();
    const people = [ana, ben];
    await log(ana, "2.00");
    await log(ben, "10.00", { shared: {} });
    await leave(database, ben, "2026-11-20T12:00:00Z");
    assertEquals(await grouped(ana, people, { group_by: ["recorded_by"] }), [
      "0 2.00 1",
      "Former member 10.00 1",
      "12.00 2",
    ]);
    assertEquals(await grouped(ana, people, { group_by: ["borne_by"] }), [
      "0 7.00 2",
      "Former member 5.00 1",
      "12.00 2",
    ]);
    const { rows } = await ana.ok("list_expenses", { recorded_by: "me" });
    assertEquals(rows.map(({ amount }: Json) => amount), ["2.00"]);
  },
});

testBooks("a shared bill", {}, {
  "shares its payments, with its payer as the default payer": async (ana) => {
    const ben = await ana.join();
    const people = [ana, ben];
    const { bill } = await ana.ok("add_bill", {
      name: "Rent",
      amount: "900.00",
      month_days: [1],
      paid_by: mail(ben),
      shared: { between: ["me", mail(ben)], shares: [1, 2] },
    });
    assertEquals([bill.paid_by, bill.shared.between.map(({ weight }: Json) => weight)], [mail(ben), [1, 2]]);
    const bens = (await ana.ok("mark_bill_paid", { bill_id: bill.id, due_on: "2026-12-01" })).payment;
    assertEquals([bens.paid_by, bens.shared.shares.map(({ amount }: Json) => amount)], [mail(ben), [
      "600.00",
      "300.00",
    ]]);
    assertEquals(await owed(ana, people), ["0→1 300.00 EUR"]);
    const hers = (await ana.ok("mark_bill_paid", { bill_id: bill.id, due_on: "2026-12-01", paid_by: "me" })).payment;
    assertEquals([hers.paid_by, hers.shared.paid_by], [undefined, mail(ana)]);
    assertEquals(await owed(ana, people), ["1→0 600.00 EUR"]);
    await ana.ok("update_bill", { bill_id: bill.id, set: { shared: { between: [] } } });
    assertEquals(await owed(ana, people), ["1→0 600.00 EUR"]);
    await ana.ok("mark_bill_paid", { bill_id: bill.id, due_on: "2027-01-01", advance: true });
    assertEquals(await owed(ana, people), ["1→0 600.00 EUR"]);
  },

  "by amounts shares another amount in the same proportion": async (ana) => {
    const ben = await ana.join();
    const { bill } = await ana.ok("add_bill", {
      name: "Power",
      amount: "90.00",
      amount_mode: "estimated",
      month_days: [1],
      shared: { between: ["me", mail(ben)], amounts: ["30.00", "60.00"] },
    });
    await ana.ok("mark_bill_paid", { bill_id: bill.id, amount: "100.00", advance: true });
    assertEquals(await owed(ana, [ana, ben]), ["1→0 66.66 EUR"]);
  },

  "on autopay records its payer": async (ana) => {
    const ben = await ana.join();
    await ben.ok("add_bill", { name: "Phone", amount: "20.00", first_due: "2026-11-21", autopay: true, shared: {} });
    ana.goTo("2026-11-25");
    await ana.ok("list_bills", { due_within_days: 7 });
    await ana.ok("update_bill", { bill_id: (await ana.ok("list_bills")).bills[0].id, set: { note: "Looked at." } });
    assertEquals(await owed(ana, [ana, ben]), ["0→1 10.00 EUR"]);
  },

  "omits former members as payer and bearers": async (ana, database) => {
    const [ben, carla] = [await ana.join(), await ana.join()];
    const people = [ana, ben, carla];
    const rent = { name: "Rent", amount: "900.00", first_due: "2026-11-20", paid_by: mail(ben), shared: {} };
    const { bill: { id } } = await ana.ok("add_bill", rent);
    assertEquals((await leave(database, ben, "2026-11-20T12:00:00Z")).outcome, "removed");
    await ana.ok("mark_bill_paid", { bill_id: id });
    assertEquals(await owed(ana, people), ["2→0 450.00 EUR"]);
    assertEquals(await borne(ana, people), ["0 450.00", "2 450.00"]);
    assertEquals((await leave(database, carla, "2026-11-20T12:00:00Z")).outcome, "removed");
    for (const one of people) one.goTo("2026-12-20");
    await ana.ok("mark_bill_paid", { bill_id: id });
    // No longer shared, because no other member remains.
    assertEquals((await ana.ok("list_expenses")).rows[0].shared, undefined);
    await addsUp(database, ana);
  },

  "on autopay is no longer shared once its payer has left": async (ana, database) => {
    const [ben, carla] = [await ana.join(), await ana.join()];
    const rent = { name: "Rent", amount: "900.00", first_due: "2026-12-01", paid_by: mail(ben), shared: {} };
    await ana.ok("add_bill", { ...rent, autopay: true });
    await leave(database, ben, "2026-11-20T12:00:00Z");
    await rollAll(database, "2026-12-02T12:00:00Z");
    ana.goTo("2026-12-02");
    const [paid] = (await ana.ok("list_expenses")).rows;
    assertEquals([paid.amount, paid.shared], ["900.00", undefined]);
    assertEquals(await owed(ana, [ana, ben, carla]), []);
    await addsUp(database, ana);
  },
});

testBooks("settling up", {}, {
  "pays the whole debt once and can be undone": async (ana) => {
    const ben = await ana.join();
    const people = [ana, ben];
    await log(ana, "10.00", { shared: {} });
    const preview = await ben.ok("settle_up", { dry_run: true });
    assertEquals(preview.settlement.status, "would_create");
    assertEquals(await owed(ana, people), ["1→0 5.00 EUR"]);
    const done = await ben.call("settle_up", {});
    const { settlement, balances } = done.data;
    assertEquals([settlement.amount, settlement.currency, settlement.to], ["5.00", "EUR", mail(ana)]);
    assertEquals(balances, []);
    assertEquals((await ana.ok("list_expenses")).rows.length, 1, "it is no spending");
    await ben.fails("invalid_argument", "settle_up", { to: mail(ana) });
    const again = await ben.call("settle_up", { to: mail(ana), amount: "5.00" });
    assertEquals([again.data.settlement.status, again.data.settlement.id, again.warnings.length], [
      "duplicate",
      settlement.id,
      1,
    ]);
    await ben.ok("undo_change", { change_id: done.change_id });
    assertEquals(await owed(ana, people), ["1→0 5.00 EUR"]);
  },

  "accepts a part, an excess and the other direction": async (ana) => {
    const ben = await ana.join();
    const people = [ana, ben];
    await log(ana, "10.00", { shared: {} });
    await ana.ok("settle_up", { from: mail(ben), amount: "2.00" });
    assertEquals(await owed(ana, people), ["1→0 3.00 EUR"]);
    await ana.fails("invalid_argument", "settle_up", { to: mail(ben) });
    const more = await ben.call("settle_up", { to: mail(ana), amount: "4.00" });
    assertEquals(more.warnings.length, 1);
    assertEquals(await owed(ana, people), ["0→1 1.00 EUR"]);
  },

  "requires a currency when several are owed": async (ana) => {
    const ben = await ana.join();
    await log(ana, "10.00", { shared: {} });
    await log(ana, "10", { currency: "JPY", shared: {} });
    await ben.fails("invalid_argument", "settle_up", {});
    await ben.ok("settle_up", { currency: "JPY" });
    assertEquals(await owed(ana, [ana, ben]), ["1→0 5.00 EUR"]);
  },

  "between others requires a manager and includes former members": async (ana, database) => {
    const [ben, carla] = [await ana.join(), await ana.join()];
    await log(ben, "10.00", { shared: { between: ["me", mail(carla)] } });
    await log(ben, "6.00", { shared: { between: ["me", mail(ana)] } });
    const other = await ana.join();
    await other.fails("forbidden_role", "settle_up", { from: mail(carla), to: mail(ben), amount: "1.00" });
    await ana.ok("settle_up", { from: mail(carla), to: mail(ben), amount: "1.00" });
    await database.query("delete from identity.memberships where user_id = $1", [carla.userId]);
    const { balances } = await ana.ok("get_context", { include: ["balances"] });
    assert(balances.some(({ from, amount }: Json) => from === mail(carla) && amount === "4.00"));
    await ana.ok("settle_up", { from: "former member", to: mail(ben) });
    assertEquals(await owed(ana, [ana, ben]), ["0→1 3.00 EUR"]);
  },

  "accepts every shown name of a former member, and asks when several match": async (ana, database) => {
    const [ben, carla] = [await ana.join(), await ana.join()];
    for (const other of [ben, carla]) await log(ana, "10.00", { shared: { between: ["me", mail(other)] } });
    for (const other of [ben, carla]) await leave(database, other, "2026-11-20T12:00:00Z");
    const shown = async () => {
      const { balances } = await ana.ok("get_context", { include: ["balances"] });
      return balances.map(({ from }: Json): string => from).toSorted();
    };
    const settle = (from: string) => ana.ok("settle_up", { from, amount: "1.00", on_duplicate: "allow" });
    assertEquals(await shown(), [mail(ben), mail(carla)].toSorted());
    for (const name of await shown()) await settle(name);
    await settle(ben.userId.slice(0, 20));
    const { details } = await ana.fails("not_found", "settle_up", { from: "a former member", amount: "1.00" });
    assertEquals(details.members.toSorted(), await shown());
    await database.query("delete from identity.profiles where user_id = any ($1::uuid[])", [[
      ben.userId,
      carla.userId,
    ]]);
    assertEquals(await shown(), [ben, carla].map(({ userId }) => `former member ${userId.slice(0, 4)}`).toSorted());
    for (const name of await shown()) await settle(name);
    await ana.fails("not_found", "settle_up", { from: "a former member", amount: "1.00" });
    await ana.ok("settle_up", { from: (await shown())[0]! });
    await ana.ok("settle_up", { from: "a former member" });
    assertEquals(await shown(), []);
  },

  "refuses the address of a former member without a balance": async (ana, database) => {
    const [ben, carla] = [await ana.join(), await ana.join()];
    await log(ana, "10.00", { shared: { between: ["me", mail(ben)] } });
    for (const other of [ben, carla]) await leave(database, other, "2026-11-20T12:00:00Z");
    await ana.fails("not_found", "settle_up", { from: mail(carla), amount: "1.00" });
  },
});

testBooks("shared records", {}, {
  "of a private category can't include a member who can't see it": async (ana) => {
    const [ben, carla] = [await ana.join(), await ana.join("manager")];
    await ana.ok("update_settings", { category: { action: "create", name: "Payroll" } });
    await ana.ok("update_settings", { category: { action: "make_private", name: "Payroll" } });
    const shared = { between: ["me", mail(ben)] };
    await ana.fails("invalid_argument", "log_expenses", { items: [item("10.00", { category: "Payroll", shared })] });
    const id = await log(ana, "10.00", { category: "Payroll", shared: { between: ["me", mail(carla)] } });
    await ana.fails("invalid_argument", "update_expenses", { ids: [id], set: { shared } });
    await ana.fails("invalid_argument", "update_expenses", { ids: [id], set: { paid_by: mail(ben) } });
    assertEquals(await owed(ben, [ana, ben, carla]), [], "a balance of others says something of what is private");
    assertEquals(await owed(carla, [ana, ben, carla]), ["2→0 5.00 EUR"]);
  },

  "count in a debt after their category became private": async (ana) => {
    const ben = await ana.join();
    await log(ana, "10.00", { category: "Groceries", shared: {} });
    await ana.ok("update_settings", { category: { action: "make_private", name: "Groceries" } });
    assertEquals(await owed(ben, [ana, ben]), ["1→0 5.00 EUR"]);
    assertEquals((await ben.ok("list_expenses")).rows, []);
  },

  "without a share of the member's are hidden under own-only access": async (ana) => {
    const [ben, carla] = [await ana.join(), await ana.join()];
    await ana.ok("update_settings", { own_only: true });
    await log(ana, "10.00", { shared: { between: ["me", mail(ben)] } });
    await log(ana, "20.00");
    assertEquals((await ben.ok("list_expenses")).rows.map(({ amount }: Json) => amount), ["10.00"]);
    assertEquals((await carla.ok("list_expenses")).rows, []);
    assertEquals([await owed(ben, [ana, ben]), await owed(carla, [ana, ben])], [["1→0 5.00 EUR"], []]);
  },

  "include a bill once the member shares it, under own-only access": async (ana) => {
    const [ben, carla] = [await ana.join(), await ana.join()];
    await ana.ok("update_settings", { own_only: true });
    const bill = { name: "Flat", amount: "900", first_due: "2026-12-01", shared: { between: ["me", mail(ben)] } };
    const { id } = (await ana.ok("add_bill", bill)).bill;
    const { id: paid } =
      (await ana.ok("add_bill", { ...bill, name: "Net", shared: undefined, paid_by: mail(ben) })).bill;
    const names = async (who: Books) => (await who.ok("list_bills")).bills.map(({ name }: Json) => name);
    assertEquals([await names(ben), await names(carla)], [["Flat", "Net"], []]);
    await carla.fails("not_found", "update_bill", { bill_id: id, set: { amount: "1" } });
    // They may edit it like their own record, but can't remove themselves.
    assertEquals((await ben.ok("update_bill", { bill_id: id, set: { amount: "950" } })).bill.amount, "950.00");
    for (const [bill_id, set] of [[id, { shared: { between: [mail(ana)] } }], [paid, { paid_by: mail(ana) }]]) {
      await ben.fails("forbidden_role", "update_bill", { bill_id, set });
    }
    await ana.ok("update_bill", { bill_id: id, set: { shared: { between: ["me", mail(carla)] } } });
    assertEquals([await names(ben), await names(carla)], [["Net"], ["Flat"]]);
  },

  "name a former member": async (ana, database) => {
    const ben = await ana.join();
    await log(ana, "10.00", { shared: { between: ["me", mail(ben)] }, paid_by: mail(ben) });
    const between = ["me", mail(ben)];
    await ana.ok("add_bill", {
      name: "Rent",
      amount: "900",
      currency: "EUR",
      first_due: "2026-10-20",
      shared: { between },
    });
    await database.query("delete from identity.memberships where user_id = $1", [ben.userId]);
    const named = (bearers: Json[]) => bearers.map(({ member }) => member).toSorted();
    const [{ id, shared }] = (await ana.ok("list_expenses")).rows;
    const [{ before, after }] = (await ana.ok("update_expenses", { ids: [id], set: { amount: "12.00" } })).updated;
    for (const { paid_by, shares } of [shared, before.shared, after.shared]) {
      assertEquals([paid_by, named(shares)], ["a former member", ["a former member", mail(ana)].toSorted()]);
    }
    const [bill] = (await ana.ok("list_bills")).bills;
    assertEquals(named(bill.shared.between), ["a former member", mail(ana)].toSorted());
  },
});

/** The shares of every payment add up to the minor unit. */
async function addsUp(database: TestDatabase, { organizationId }: Books): Promise<void> {
  assertEquals(
    await database.query(
      `select p.id from app.payments as p
      left join lateral (select sum(s.minor) as minor from app.payment_shares as s where s.payment_id = p.id) as s on true
      where p.organization_id = $1 and coalesce(s.minor, 0) <> case when p.sharing is null or p.deleted_at is not null then 0
        else case p.direction when 'refund' then -p.amount_minor else p.amount_minor end end`,
      [organizationId],
    ),
    [],
  );
}

const EXPONENTS = { EUR: 2, JPY: 0, KWD: 3 };
type Currency = keyof typeof EXPONENTS;

const decimal = (minor: bigint, currency: Currency): string => {
  const exponent = EXPONENTS[currency];
  const digits = String(minor).padStart(exponent + 1, "0");
  return exponent === 0 ? digits : `${digits.slice(0, -exponent)}.${digits.slice(-exponent)}`;
};

/** An expense in the independent ledger. */
interface Entry {
  minor: bigint;
  currency: Currency;
  payer: number;
  weights: Map<number, bigint>;
  isRefund: boolean;
}

testBooks("random writes", {}, {
  "keep balances equal to an independent ledger": async (ana, database) => {
    const seed = Number(Deno.env.get("SHARING_SEED") ?? Math.floor(Math.random() * 2 ** 31));
    const people = [ana, await ana.join(), await ana.join("manager"), await ana.join()];
    let state = seed;
    const random = (below: number) => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return Math.floor(state / 2 ** 32 * below);
    };
    const entries = new Map<string, Entry>();
    const settled: { from: number; to: number; minor: bigint; currency: Currency }[] = [];
    const sharing = (minor: bigint, currency: Currency) => {
      const between = people.map((_, index) => index).filter(() => random(3) > 0);
      if (between.length === 0) between.push(random(people.length));
      const named = between.map((index) => mail(people[index]!));
      const how = random(3);
      if (how === 0) return { shared: { between: named }, weights: between.map(() => 1n), between };
      if (how === 1 || minor < BigInt(between.length)) {
        const weights = between.map(() => 1n + BigInt(random(5)));
        return { shared: { between: named, shares: weights.map(Number) }, weights, between };
      }
      const weights = between.map(() => 1n);
      weights[0]! += minor - BigInt(between.length);
      return {
        shared: { between: named, amounts: weights.map((weight) => decimal(weight, currency)) },
        weights,
        between,
      };
    };

    for (let step = 0; step < 60; step++) {
      const caller = people[random(people.length)]!;
      const ids = [...entries.keys()];
      const action = random(10);
      if (action < 5 || ids.length === 0) {
        const currency = (["EUR", "JPY", "KWD"] as const)[random(3)]!;
        const minor = 1n + BigInt(random(100_000));
        const payer = random(people.length);
        const { shared, weights, between } = sharing(minor, currency);
        const isRefund = random(5) === 0;
        const id = await log(caller, decimal(minor, currency), {
          name: `Step ${step}`,
          currency,
          paid_by: mail(people[payer]!),
          is_refund: isRefund,
          shared,
        });
        entries.set(id, {
          minor,
          currency,
          payer,
          isRefund,
          weights: new Map(between.map((index, at) => [index, weights[at]!])),
        });
      } else if (action < 7) {
        const id = ids[random(ids.length)]!;
        const entry = entries.get(id)!;
        const minor = 1n + BigInt(random(100_000));
        const { shared, weights, between } = sharing(minor, entry.currency);
        const changed = await caller.call("update_expenses", {
          ids: [id],
          set: { amount: decimal(minor, entry.currency), shared },
        });
        assertEquals(changed.ok, true, JSON.stringify(changed));
        if (changed.change_id && random(2) === 0) await caller.ok("undo_change", { change_id: changed.change_id });
        else entries.set(id, { ...entry, minor, weights: new Map(between.map((index, at) => [index, weights[at]!])) });
      } else if (action < 8) {
        const id = ids[random(ids.length)]!;
        await caller.ok("delete_records", await confirmed(caller, [id]));
        entries.delete(id);
      } else {
        const [from, to] = [random(4), random(4)] as [number, number];
        const currency = (["EUR", "JPY", "KWD"] as const)[random(3)]!;
        const minor = 1n + BigInt(random(5_000));
        if (from !== to) {
          await people[from]!.ok("settle_up", {
            to: mail(people[to]!),
            amount: decimal(minor, currency),
            currency,
            on_duplicate: "allow",
          });
          settled.push({ from, to, minor, currency });
        }
      }
    }

    const owes = new Map<string, bigint>();
    const add = (from: number, to: number, currency: Currency, minor: bigint) => {
      const [key, sign] = from < to ? [`${from} ${to} ${currency}`, 1n] : [`${to} ${from} ${currency}`, -1n];
      owes.set(key, (owes.get(key) ?? 0n) + sign * minor);
    };
    for (const { minor, currency, payer, weights, isRefund } of entries.values()) {
      const whole = [...weights.values()].reduce((sum, weight) => sum + weight, 0n);
      for (const [index, weight] of weights) {
        if (index !== payer) add(index, payer, currency, (isRefund ? -1n : 1n) * (minor * weight / whole));
      }
    }
    for (const { from, to, minor, currency } of settled) add(to, from, currency, minor);
    const expected = [...owes].filter(([, minor]) => minor !== 0n).map(([key, minor]) => {
      const [one, other, currency] = key.split(" ") as [string, string, Currency];
      const [from, to] = minor > 0n ? [one, other] : [other, one];
      return `${from}→${to} ${decimal(minor > 0n ? minor : -minor, currency)} ${currency}`;
    });
    await addsUp(database, ana);
    for (const reader of people) {
      assertEquals((await owed(reader, people)).toSorted(), expected.toSorted(), `SHARING_SEED=${seed}`);
    }
  },
});
