/** Answers echo the request and report omissions, because a model has no other information. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import { addRate, type Books, confirmed, type Json } from "../_support/books.ts";
import { importOfFile } from "../_support/import_args.ts";

const mail = ({ userId }: Books) => `${userId}@example.com`;
const messages = ({ warnings }: Json) => warnings.map(({ message }: Json) => message).join(" ");

testBooks("log_expenses", {}, {
  "echoes payer, shares, tags and reimbursement, even in previews": async (ana) => {
    const ben = await ana.join();
    const items = [{
      name: "Groceries",
      amount: "64.00",
      paid_by: mail(ben),
      shared: {},
      tags: ["home"],
      reimbursement: "open",
    }];
    const { results: [shown] } = await ana.ok("log_expenses", { items, dry_run: true });
    assertEquals([shown.paid_by, shown.tags, shown.reimbursement, shown.shared.shares.length], [
      mail(ben),
      ["home"],
      "open",
      2,
    ]);
    const { results: [row] } = await ana.ok("log_expenses", { items });
    assertEquals(row.shared.paid_by, mail(ben));
    assertEquals(row.shared.shares.map(({ amount }: Json) => amount), ["32.00", "32.00"]);
  },

  "reports that no category matched": async (ana) => {
    const { results } = await ana.ok("log_expenses", {
      items: [{ name: "Xyzzy", amount: "1" }, { name: "Yzzyx", amount: "2", category: "Uncategorized" }],
    });
    assertEquals(results.map(({ category }: Json) => category), [
      "Uncategorized: no category matched",
      "Uncategorized",
    ]);
  },
});

testBooks("previews", {}, {
  "show amounts and dates of deleted or changed records": async (ana) => {
    const { results: [{ id }] } = await ana.ok("log_expenses", {
      items: [{ name: "Ink", payee: "ACME", amount: "12.00", date: "2026-11-19" }],
    });
    const row = { id, name: "Ink", amount: "12.00", currency: "EUR", date: "2026-11-19" };
    const deleted = await ana.ok("delete_records", { filter: { payee: "ACME" }, dry_run: true });
    assertEquals(deleted.deleted, [{ ...row, payee: "ACME" }]);
    const { updated: [changed] } = await ana.ok("update_expenses", { ids: [id], set: { note: "x" }, dry_run: true });
    assertEquals(changed, { ...row, before: {}, after: { note: "x" }, version: changed.version });
  },

  "of an import report that nothing is written, and explain the commit": async (ana) => {
    const shown = await ana.ok("import_expenses", importOfFile("Date,Name,Amount\n2026-11-18,Tea,2.00\n"));
    assertEquals(shown.written, 0);
    assertMatch(shown.why, /commit_with/);
    assertEquals((await ana.ok("import_expenses", shown.preview.commit_with)).written, undefined);
  },
});

testBooks("bills", { day: "2026-11-20" }, {
  "warn that cancelling them here does not cancel them with the payee": async (ana) => {
    const { bill: { id } } = await ana.ok("add_bill", {
      name: "Netflix",
      payee: "Netflix Inc",
      amount: "13.99",
      first_due: "2026-12-05",
    });
    const cancelled = await ana.call("update_bill", { bill_id: id, set: { status: "cancelled" } });
    assertMatch(messages(cancelled), /in these books only\. The contract continues until .* Netflix Inc\./);
    const again = await ana.call("update_bill", { bill_id: id, set: { status: "cancelled", note: "x" } });
    assert(!messages(again).includes("contract"));
  },

  "show current and future prices separately, with a yearly total": async (ana, database) => {
    await addRate(database, "USD", "2026-11-20", "1.25");
    const { bill: { id } } = await ana.ok("add_bill", { name: "Netflix", amount: "13.99", first_due: "2026-12-05" });
    const { bill } = await ana.ok("update_bill", { bill_id: id, set: { amount: "17.99" }, apply_from: "2027-03-05" });
    assertEquals([bill.amount, bill.monthly_equivalent, bill.next_price], ["13.99", "13.99", {
      amount: "17.99",
      from: "2027-03-05",
    }]);
    const { totals } = await ana.ok("list_bills");
    assertEquals([totals.monthly.amount, totals.yearly.amount], ["13.99", "167.88"]);
    ana.goTo("2027-03-06");
    assertEquals((await ana.ok("list_bills")).totals.monthly.amount, "17.99");
  },

  "with a payment are deleted only with count and total confirmed": async (ana) => {
    const { bill: { id } } = await ana.ok("add_bill", { name: "Cloud", amount: "2.99", first_due: "2026-11-20" });
    await ana.ok("mark_bill_paid", { bill_id: id });
    const { details } = await ana.fails("confirmation_required", "delete_records", { ids: [id] });
    assertEquals(details.confirm, { count: 2, total: "2.99" });
    await ana.ok("delete_records", await confirmed(ana, [id]));
    const { bill: { id: unpaid } } = await ana.ok("add_bill", { name: "Radio", amount: "3", first_due: "2026-12-01" });
    await ana.ok("delete_records", { ids: [unpaid] });
  },

  "that were partly paid get the rest paid, however far ahead the date is": async (ana) => {
    const { bill: { id } } = await ana.ok("add_bill", { name: "Rent", amount: "1150", first_due: "2026-12-20" });
    await ana.ok("mark_bill_paid", { bill_id: id, due_on: "2026-12-20", amount: "1130" });
    ana.goTo("2026-11-22");
    const { payment, occurrence } = await ana.ok("mark_bill_paid", { bill_name: "rent" });
    assertEquals([payment.amount, occurrence.due_on, occurrence.status], ["20.00", "2026-12-20", "paid"]);
    await ana.fails("already_paid", "mark_bill_paid", { bill_name: "rent" });
  },

  "without a connection make sync_bill_amounts fail": async (ana) => {
    const { message, hint } = await ana.fails("not_found", "sync_bill_amounts");
    assertMatch(message, /nothing was fetched/);
    assertMatch(hint, /update_bill with provider/);
  },
});

testBooks("update_settings", { day: "2026-11-20" }, {
  "names the people who see a private category": async (ana) => {
    await ana.ok("update_settings", { category: { action: "create", name: "Payroll" } });
    const made = await ana.call("update_settings", { category: { action: "make_private", name: "Payroll" } });
    assertMatch(messages(made), /^Only the owner, the managers and viewers .* see Payroll/);
    const { categories } = await ana.ok("get_context");
    const payroll = categories.find(({ name }: Json) => name === "Payroll");
    assertMatch(payroll.private, /^seen by the owner, managers/);
  },

  "reminds the caller to close months again and to ask before reopening": async (ana) => {
    await ana.ok("update_settings", { closed_through: "2026-10" });
    const parking = { items: [{ name: "Parking", amount: "20", date: "2026-10-12" }] };
    const { hint } = await ana.fails("month_closed", "log_expenses", parking);
    assertMatch(hint, /Ask the user first.*closed_through "2026-09"/);
    const reopened = await ana.call("update_settings", { closed_through: "2026-09" });
    assertMatch(messages(reopened), /close them again: closed_through "2026-10"/);
    await ana.ok("log_expenses", parking);
    assertEquals((await ana.call("update_settings", { closed_through: "2026-10" })).warnings, []);
  },
});

testBooks("list_expenses", { day: "2026-11-20" }, {
  "sorts by recording time across pages, whatever the payment day": async (ana) => {
    for (
      const [name, date] of [["Soup", "2026-11-19"], ["Old", "2026-03-01"], ["Tea", "2026-11-20"], [
        "Mid",
        "2026-08-01",
      ]]
    ) {
      await ana.ok("log_expenses", { items: [{ name, amount: "1", date }] });
    }
    const names = ({ data }: Json) => data.rows.map(({ name }: Json) => name);
    const first = await ana.call("list_expenses", { sort: "recorded", limit: 3 });
    assertEquals(names(first), ["Mid", "Tea", "Old"]);
    const rest = await ana.call("list_expenses", { sort: "recorded", limit: 3, cursor: first.next_cursor });
    assertEquals([names(rest), rest.next_cursor], [["Soup"], undefined]);
  },
});
