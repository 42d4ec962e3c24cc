/** Changing the fields of a bill: answers, undo and errors. */
import { assertEquals, assertMatch } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import type { Json } from "../_support/books.ts";
import { addRent, change, show, TODAY } from "./update_bill.ts";

testBooks("update_bill with fields", { day: TODAY }, {
  "returns the changed fields before and after, and is undone as a whole": async (books) => {
    const id = await addRent(books);
    const before = await show(books, id);
    const { data, change_id } = await change(books, id, {
      set: {
        name: "Flat",
        payee: "Landlord",
        category: "housing",
        tags: ["home"],
        note: "till May",
        my_share_percent: 50,
        autopay: true,
        remind_days_before: 7,
        renews_on: "2027-06-01",
        notice_days: 90,
        trial_ends_on: "2026-12-31",
      },
    });
    const { bill } = data;
    assertEquals([bill.name, bill.payee, bill.category], ["Flat", "Landlord", "Housing"]);
    assertMatch(bill.share_note, /50%, 600\.00 EUR/);
    assertEquals([bill.cancel_by, bill.trial_ends_on, bill.reminder.days_before], ["2027-03-03", "2026-12-31", 7]);
    assertEquals([data.before.name, data.before.autopay, data.before.payee], ["Rent", false, undefined]);
    assertEquals(data.occurrences, []);
    await books.ok("undo_change", { change_id });
    const after = await show(books, id);
    assertEquals(after, { ...before, version: after.version });
  },
  "explains that a new payer or split leaves recorded payments unchanged": async (books) => {
    const id = await addRent(books, { month_days: [1, 15], first_due: "2026-12-10" });
    const shared = { between: ["me"] };
    const codes = async (set: Json) => (await change(books, id, { set })).warnings.map(({ code }: Json) => code);
    assertEquals(await codes({ paid_by: "me" }), []);
    await books.ok("mark_bill_paid", { bill_id: id, advance: true });
    const { data, warnings } = await change(books, id, { set: { shared } });
    assertEquals(warnings, [{
      code: "applies_later",
      message:
        "The payer and the split of Rent change for payments from now on, next due 2027-01-01; payments already in the " +
        "books keep their payer and split.",
    }]);
    assertEquals(data.before, { shared: { between: [] }, version: data.bill.version - 1 });
    // The schedule is not changed, although its first date is not on the first of its days.
    const { recent_changes: [{ summary }] } = await books.ok("get_context", { include: ["recent_changes"] });
    assertEquals(summary, "Changed Rent: shared costs");
    assertEquals(await codes({ note: "x" }), []);
    const unshared = await change(books, id, { set: { shared: { between: [] } } });
    assertEquals(unshared.data.before.shared.between.length, 1);
  },
  "is described briefly in the list of changes": async (books) => {
    const id = await addRent(books);
    const told = async (args: Json) => {
      await change(books, id, args);
      return (await books.ok("get_context", { include: ["recent_changes"], changes_limit: 1 })).recent_changes[0]
        .summary;
    };
    assertEquals(
      await told({ set: { amount: "1300" }, apply_from: "2027-02-01" }),
      "Changed Rent: amount from 2027-02-01 on",
    );
    assertEquals(
      await told({ set: { renews_on: "2027-06-01", notice_days: 30 } }),
      "Changed Rent: notice period, renewal date",
    );
    assertEquals(await told({ set: { notice_days: 60 } }), "Changed Rent: notice period");
    assertEquals(await told({ set: { first_due: "2027-03-05" } }), "Changed Rent: schedule");
    assertEquals(await told({ set: { status: "paused" } }), "Paused Rent");
    assertEquals(await told({ set: { status: "active", name: "Flat" } }), "Resumed Flat; Changed Flat: name");
    assertEquals(await told({ set: { status: "cancelled" } }), "Cancelled Flat");
  },
  "asks about the renewal when only the payment dates move": async (books) => {
    const { id } = (await books.ok("add_bill", {
      name: "Car insurance",
      amount: "620",
      frequency: "yearly",
      first_due: "2027-01-16",
      renews_on: "2027-01-16",
      notice_days: 30,
    })).bill;
    const { warnings } = await change(books, id, { set: { amount: "620", first_due: "2027-03-01" } });
    assertEquals(warnings.map(({ message }: Json) => message), [
      "Car insurance still renews on 2027-01-16, to be cancelled by 2026-12-17: a new date of payment does not move the contract. " +
      "If the contract's term changed too, set renews_on.",
    ]);
    const both = await change(books, id, { set: { first_due: "2027-04-01", renews_on: "2027-04-01" } });
    assertEquals([both.warnings, both.data.bill.cancel_by], [[], "2027-03-02"]);
  },
  "treats empty text as absent": async (books) => {
    const id = await addRent(books, { payee: "Landlord", note: "x", tags: ["a"] });
    const { bill } = (await change(books, id, { set: { payee: "", note: " ", tags: [] } })).data;
    assertEquals([bill.payee, bill.note, bill.tags], [undefined, undefined, undefined]);
    await books.fails("invalid_argument", "update_bill", { bill_id: id, set: { name: " " } });
  },
  "refuses a bill that changed since it was read": async (books) => {
    const id = await addRent(books);
    const { version } = await show(books, id);
    await books.ok("update_bill", { bill_id: id, set: { name: "Flat" }, expected_version: version });
    const error = await books.fails("stale_version", "update_bill", {
      bill_id: id,
      set: { name: "House" },
      expected_version: version,
    });
    assertEquals(error.details.current.name, "Flat");
    await books.fails("stale_version", "update_bill", {
      bill_id: id,
      set: { name: "House" },
      expected_version: 2 ** 31,
    });
  },
  "previews": async (books) => {
    const id = await addRent(books);
    const before = await show(books, id);
    const preview = await books.call("update_bill", { bill_id: id, set: { amount: "1300" }, dry_run: true });
    assertEquals([preview.data.bill.amount, preview.data.before.amount, preview.change_id], [
      "1300.00",
      "1200.00",
      undefined,
    ]);
    assertEquals(await show(books, id), before);
  },
  "names missing arguments": async (books) => {
    const id = await addRent(books);
    await books.fails("invalid_argument", "update_bill", { bill_id: id });
    await books.fails("invalid_argument", "update_bill", { bill_id: id, apply_from: "today" });
    const later = { bill_id: id, set: { status: "cancelled" }, apply_from: "2027-07-01" };
    const { hint } = await books.fails("invalid_argument", "update_bill", later);
    assertEquals(hint, "To end Rent on 2027-07-01, set ends_on to the day before instead of status.");
    await books.fails("invalid_argument", "update_bill", { ...later, set: { autopay: true, amount: "1300" } });
    await books.fails("invalid_argument", "update_bill", { bill_id: id, set: { notice_days: 30 } });
    await books.fails("category_not_found", "update_bill", { bill_id: id, set: { category: "Hosing" } });
    await books.fails("not_found", "update_bill", { bill_id: "bill_00000000", set: { name: "x" } });
  },
  "warns that a reminder will not be sent": async (books, database) => {
    const id = await addRent(books, { reminder_enabled: false });
    await database.query("update identity.organizations set plan = 'free' where id = $1", [books.organizationId]);
    const { warnings } = await change(books, id, { set: { reminder_enabled: true } });
    assertEquals(warnings.map(({ code }: Json) => code), ["reminders_inactive"]);
  },
});
