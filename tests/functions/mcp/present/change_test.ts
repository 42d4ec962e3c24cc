/** Descriptions of changes in get_context and undo_change. */
import { assertEquals } from "@std/assert";
import { presentChange } from "../../../../shared/words/change.ts";
import type { Json } from "../../../_support/books.ts";
import { en } from "../../../../shared/words/en/mod.ts";
import { assertNothingMissing } from "../../../_support/books.ts";

const monthly = { frequency: "monthly", every: 1, anchor_on: "2026-11-05", month_days: [5] };
const rent = { name: "Rent", due_on: "2026-12-01" };
const logged = { count: 1, written: [{ name: "Lunch", is_refund: false }], totals_by_currency: { EUR: "14.50" } };

/** By tool: facts, and their description. A tool without an example does not compile. */
const CHANGES: Record<keyof typeof en.changes | "provider_sync" | "undo_change", [facts: Json, words: string][]> = {
  log_expenses: [
    [logged, "Logged Lunch, 14.50 EUR"],
    [
      { count: 1, written: [{ name: "Shoes", is_refund: true }], totals_by_currency: { INR: "-20.00" } },
      "Logged refund of Shoes, 20.00 INR",
    ],
    [
      {
        count: 9,
        written: ["A", "B", "C", "D"].map((name) => ({ name, is_refund: name === "B" })),
        totals_by_currency: {},
      },
      "Logged 9 expenses: A, refund of B, C and 6 more",
    ],
    [{ count: 0, written: [], totals_by_currency: {} }, "Logged nothing new"],
  ],
  update_expenses: [
    [{ count: 1, names: ["Lunch"], fields: ["amount", "note"] }, "Changed Lunch: amount, note"],
    [{ count: 2, names: ["Lunch", "Tea"], fields: ["category"] }, "Changed 2 expenses: category"],
  ],
  delete_records: [
    [{ count: 2, names: ["Lunch", "Tea"] }, "Deleted Lunch and Tea"],
    [{ count: 1, names: ["Lunch"], reason: "Twice" }, "Deleted Lunch: Twice"],
  ],
  import_expenses: [
    [{ count: 1, names: ["Lunch"] }, "Imported 1 expense: Lunch"],
    [{ count: 3, names: ["A", "B", "C"] }, "Imported 3 expenses: A, B and C"],
    [{ count: 900, names: ["A", "B", "C", "D"] }, "Imported 900 expenses: A, B, C and 897 more"],
  ],
  add_bill: [
    [
      { name: "Netflix", amount: "15.99", currency: "EUR", schedule: monthly },
      "Added Netflix: 15.99 EUR every month on the 5th",
    ],
    [{ name: "Power", amount: null, currency: "EUR", schedule: monthly }, "Added Power: every month on the 5th"],
  ],
  draft_cancellation: [[{ name: "Gym" }, "Drafted the cancellation of Gym"]],
  update_bill: [
    [{ name: "Rent" }, "Changed nothing about Rent"],
    [{ name: "Rent", status: "paused" }, "Paused Rent"],
    [{ name: "Rent", status: "active" }, "Resumed Rent"],
    [{ name: "Rent", status: "cancelled" }, "Cancelled Rent"],
    [{ name: "Rent", status: "ended", fields: ["schedule"] }, "Ended Rent; Changed Rent: schedule"],
    [
      { name: "Rent", fields: ["amount", "trial_ends_on"], from: "2027-01-01" },
      "Changed Rent: amount, end of the trial from 2027-01-01 on",
    ],
    [
      { name: "Rent", occurrence: { action: "skip", due_on: "2026-12-01", currency: "EUR" } },
      "Skipped Rent due 2026-12-01",
    ],
    [
      { name: "Rent", occurrence: { action: "snooze", due_on: "2026-12-01", until: "2026-12-05", currency: "EUR" } },
      "Snoozed Rent due 2026-12-01 until 2026-12-05",
    ],
    [
      { name: "Rent", occurrence: { action: "set_amount", due_on: "2026-12-01", amount: "90.00", currency: "EUR" } },
      "Set Rent due 2026-12-01 to 90.00 EUR",
    ],
    [
      { name: "Rent", occurrence: { action: "reopen", due_on: "2026-12-01", currency: "EUR" } },
      "Reopened Rent due 2026-12-01",
    ],
    [{ name: "Power", is_disconnected: true }, "Disconnected Power from its provider"],
  ],
  mark_bill_paid: [
    [{ ...rent, amount: "1200.00", currency: "EUR" }, "Paid 1200.00 EUR for Rent due 2026-12-01"],
    [
      {
        ...rent,
        amount: "1250.00",
        currency: "EUR",
        paid_on: "2026-12-02",
        before: { amount: "1200.00", paid_on: "2026-12-01" },
      },
      "Corrected the payment for Rent due 2026-12-01: 1200.00 EUR on 2026-12-01 became 1250.00 EUR on 2026-12-02",
    ],
    [
      { ...rent, amount: "500.00", currency: "EUR", remaining: "700.00" },
      "Paid 500.00 EUR for Rent due 2026-12-01, 700.00 EUR remains",
    ],
  ],
  settle_up: [
    [
      { from: "ben@example.com", to: "ana@example.com", amount: "5.00", currency: "EUR", date: "2026-11-20" },
      "Recorded that ben@example.com gave ana@example.com 5.00 EUR for shared costs",
    ],
  ],
  attach_document: [
    [{ document: "a.pdf", to: "Rent", due_on: "2026-12-01" }, "Attached document a.pdf to Rent due 2026-12-01"],
    [{ document: "a.pdf", to: "Lunch" }, "Attached document a.pdf to Lunch"],
    [{ document: "a.pdf" }, "Recorded which records document a.pdf does not belong to"],
  ],
  autopay: [
    [{ ...rent, amount: "15.99", currency: "EUR" }, "Rent paid automatically on 2026-12-01: 15.99 EUR"],
    [
      { ...rent, amount: "80.00", currency: "EUR", is_estimate: true },
      "Rent paid automatically on 2026-12-01: 80.00 EUR, an estimate",
    ],
  ],
  update_settings: [
    [{ changed: { default_lead_days: 1 } }, "Settings: reminders 1 day before"],
    [
      {
        changed: {
          timezone: "Europe/Berlin",
          base_currency: "USD",
          email_enabled: false,
          hide_amounts_in_email: true,
          default_lead_days: 0,
        },
      },
      "Settings: main currency USD, reminders 0 days before, reminder emails off, amounts in emails hidden, time zone Europe/Berlin",
    ],
    [{ category: { action: "create", name: "Pets", into: "Pets" } }, "Added category Pets"],
    [{ category: { action: "rename", name: "Pets", into: "Animals" } }, "Renamed category Pets to Animals"],
    [
      { category: { action: "merge", name: "Pets", into: "Animals", moved: 3 } },
      "Merged category Pets into Animals: 3 moved",
    ],
    [
      { changed: { email_enabled: true }, category: { action: "archive", name: "Pets", into: "Pets" } },
      "Settings: reminder emails on; Archived category Pets",
    ],
  ],
  store_bill_amounts: [[{ names: ["Power", "Water"] }, "Fetched amounts: Power and Water"]],
  unsubscribe: [[{ name: "Rent" }, "Turned off reminders for Rent"]],
  provider_sync: [
    [
      {
        provider: "City Utility",
        bill: {
          name: "Power",
          new: "84.20",
          currency: "EUR",
          said: { code: "taken", params: { name: "Power", due_on: "2026-11-25" } },
        },
      },
      "Fetched from City Utility: Power due 2026-11-25 is 84.20 EUR.",
    ],
  ],
  undo_change: [
    [{ verb: "undid", change: { tool: "log_expenses", facts: logged } }, "Undid: Logged Lunch, 14.50 EUR"],
    // Undoing an undo, however often, gets the description of the first change.
    [{ verb: "redid", change: { tool: "log_expenses", facts: logged } }, "Redid: Logged Lunch, 14.50 EUR"],
  ],
};

for (const [tool, cases] of Object.entries(CHANGES)) {
  Deno.test(`a change by ${tool} is described in words`, () => {
    for (const [facts, words] of cases) {
      const told = presentChange({ tool, facts }, en);
      assertEquals(told, words);
      assertNothingMissing(told);
    }
  });
}
