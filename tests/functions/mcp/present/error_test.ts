/** Errors and warnings as a client receives them. */
import { assertEquals } from "@std/assert";
import { presentError } from "../../../../functions/mcp/present/error.ts";
import { present } from "../../../../functions/mcp/present/present.ts";
import type { RefusalFacts } from "../../../../shared/words/message.ts";
import type { Json } from "../../../_support/books.ts";
import { en } from "../../../../shared/words/en/mod.ts";
import { assertNothingMissing } from "../../../_support/books.ts";

function presented(refusal: RefusalFacts) {
  const error = presentError(refusal, en);
  assertNothingMissing(error);
  return error;
}

Deno.test("a client sees the first part of a code, the message, the field, and unchanged details", () => {
  assertEquals(
    presented({
      code: "already_paid.just_now",
      field: "due_on",
      params: {
        name: "Rent",
        due_on: "2026-12-01",
        payment: { amount: "5.00", currency: "EUR", paid_on: "2026-11-30", by: "ben@example.com" },
        next_due: "2027-01-01",
        payee: "Landlord",
        details: { bill_id: "bill_1", payment: { id: "pay_1" } },
      },
    }),
    {
      code: "already_paid",
      message: "5.00 EUR for Rent due 2026-12-01 is already recorded: paid by ben@example.com on 2026-11-30.",
      field: "due_on",
      hint:
        'If it was charged a second time, record that with log_expenses, payee "Landlord" and on_duplicate "allow". If ' +
        '2027-01-01 was paid as well, call again with due_on "2027-01-01". To correct the recorded payment, call again ' +
        'with due_on "2026-12-01" and the right amount or paid_on.',
      details: { bill_id: "bill_1", payment: { id: "pay_1" } },
      retryable: false,
    },
  );
  assertEquals(presented({ code: "busy" }), {
    code: "busy",
    message: "Another change to the same books is still in progress, so nothing was written.",
    hint: "Make the same call again in a moment.",
    retryable: true,
  });
});

Deno.test("the message for several items names the first error, and details list them all", () => {
  const zero = { code: "invalid_argument.amount_zero", field: "items[1].amount" };
  const unknown = { code: "currency_unknown", params: { currency: "XXX" }, field: "items[2].currency" };
  const result = (index: number, name: string, error: RefusalFacts) => ({ index, status: "invalid", name, error });
  const items = {
    failed: 2,
    all: 3,
    first: 2,
    name: "Tea",
    results: [result(1, "Tea", zero), result(2, "Hat", unknown)],
  };
  const error = presented({ ...zero, params: { of_items: items } });
  assertEquals(
    error.message,
    '2 of 3 items cannot be logged, so none was written. Item 2, "Tea": An amount must be more than zero.',
  );
  assertEquals((error.details as Json).results.map(({ name, error }: Json) => [name, error.code, error.message]), [
    ["Tea", "invalid_argument", "An amount must be more than zero."],
    ["Hat", "currency_unknown", '"XXX" is not a currency in use.'],
  ]);
  // A single item needs no number.
  assertEquals(
    presented({ ...zero, params: { of_items: { ...items, failed: 1, all: 1, results: items.results.slice(0, 1) } } })
      .message,
    "An amount must be more than zero.",
  );
});

Deno.test("details use words in the fields that a client reads", () => {
  const schedule = { frequency: "monthly", every: 1, anchor_on: "2026-11-05", month_days: [5] };
  const stale = (current: Json) =>
    (presented({ code: "stale_version", params: { name: "Rent", version: 2, details: { id: "x", current } } })
      .details as Json).current;
  assertEquals(stale({ name: "Rent", schedule }), {
    name: "Rent",
    category: "Uncategorized",
    schedule_text: "every month on the 5th",
  });
  assertEquals(stale({ name: "Lunch", amount: "1.00" }), { name: "Lunch", amount: "1.00", category: "Uncategorized" });
  const change = { tool: "unsubscribe", facts: { name: "Rent" } };
  const rows = [{ id: "exp_1", subject: { kind: "expense" as const, name: "Lunch" }, current: { deleted: true } }];
  const conflict = presented({ code: "undo_conflict.changed_since", params: { change, details: { rows } } });
  assertEquals(
    conflict.message,
    '"Turned off reminders for Rent" cannot be undone, because something it touched has changed since: Lunch. Nothing was changed.',
  );
  assertEquals(conflict.details, { rows: [{ id: "exp_1", what: "Lunch", current: { deleted: true } }] });
  const unreadable = presented({
    code: "invalid_argument.no_row_readable",
    field: "csv",
    params: {
      details: {
        rows_bad: [{ line: 2, error: { code: "invalid_argument.row_without_date" } }],
        mapping: { date: "Date", assumed: [{ code: "no_header" }] },
      },
    },
  });
  assertEquals(unreadable.message, "No row of this file can be imported. Line 2: There is no date.");
  assertEquals(unreadable.details, {
    rows_bad: [{ line: 2, reason: "There is no date." }],
    mapping: { date: "Date", assumed: ["The file has no header line; the columns were identified by their contents."] },
  });
});

Deno.test("messages handle singular and plural, and list existing values", () => {
  const messages: [string, Json, string][] = [
    ["not_found.records", { missing: ["exp_1"], asked: 1, organization: "Home" }, "There is no exp_1 in Home."],
    [
      "not_found.records",
      { missing: ["exp_1"], asked: 3, organization: "Home" },
      "1 of these 3 are not in Home, so nothing was changed.",
    ],
    [
      "not_found.records",
      { missing: ["exp_1"], asked: 1, deleted: ["Tea"], organization: "Home" },
      "Already deleted: Tea.",
    ],
    [
      "expectation_mismatch.of_record",
      { name: "Power", current: { currency: "EUR" } },
      "Power has changed since it was shown: it is without an amount. Nothing was deleted.",
    ],
    [
      "expectation_mismatch.of_import",
      { count: 1, totals: { EUR: "5.00", USD: "-2.00" }, skipped: 1 },
      "This would write 1 expense, 5.00 EUR and -2.00 USD, and skip 1 that is already in the books. Nothing was written.",
    ],
    [
      "expectation_mismatch.of_import",
      { count: 0, totals: {}, skipped: 2 },
      "This would write 0 expenses, worth nothing, and skip 2 that are already in the books. Nothing was written.",
    ],
    ["amount_precision", { amount: "1.5", currency: "JPY", decimals: 0 }, "1.5 has too many decimals: JPY has none."],
  ];
  for (const [code, params, message] of messages) assertEquals(presented({ code, params }).message, message);
});

Deno.test("warnings handle singular and plural, and unknown amounts", () => {
  const warnings: [string, Json, string][] = [
    [
      "applies_later",
      { name: "Power", from: "2027-01-01", currency: "EUR" },
      "The new amount of Power applies to due dates from 2027-01-01 on; until then it stays unknown.",
    ],
    [
      "same_name",
      {
        name: "Power",
        id: "bill_1",
        currency: "EUR",
        schedule: { frequency: "daily", every: 1, anchor_on: "2026-11-01" },
      },
      "There is already a bill called Power: every day. Both exist now; if this was meant to change it, undo this and use update_bill with bill_1.",
    ],
    ["amount_missing.of_dates", { count: 1 }, "1 due date has no amount yet and is not in the totals."],
    ["amount_missing.of_dates", { count: 2 }, "2 due dates have no amount yet and are not in the totals."],
    [
      "paid_in_advance",
      { name: "Rent", due_on: "2026-12-01", days: 1 },
      "This pays Rent ahead of time: it is due on 2026-12-01, in 1 day.",
    ],
    ["dry_run", undefined, "This is a preview; nothing was written."],
  ];
  const { warnings: presented } = present("add_bill", {
    ok: true,
    warnings: warnings.map(([code, params]) => ({ code, ...(params && { params }) })),
  }, en);
  assertNothingMissing(presented);
  assertEquals(presented, warnings.map(([code, , message]) => ({ code: code.split(".")[0], message })));
});

Deno.test("an unknown code from a newer schema still returns an answer", () => {
  assertEquals(presented({ code: "planted.code" }), {
    code: "planted",
    message: "Refused: planted.code.",
    hint: "The service is being upgraded; try again in a few minutes.",
    retryable: true,
  });
  assertEquals(
    present("log_expenses", { ok: true, data: { results: [] }, warnings: [{ code: "planted" }] } as never, en).warnings,
    [
      { code: "planted", message: "planted." },
    ],
  );
});
