/** The contract of `update_bill`; `app.update_bill` does the work. */
import {
  amount,
  category,
  currency,
  date,
  dryRun,
  id,
  integer,
  type JsonSchema,
  listedShared,
  name,
  note,
  object,
  oneOf,
  paidBy,
  payee,
  shared,
  tags,
} from "../../../shared/connector/schema.ts";
import { defineTool, UPDATE } from "../../../shared/connector/tool.ts";
import { assignee, every, monthDays, monthWeekdays, noticeDays, remindAgain, remindDaysBefore } from "./add_bill.ts";
import { PROVIDERS } from "../../../shared/providers/registry.ts";

const schemaWith = (sharing: JsonSchema) =>
  object({
    bill_id: id("bill"),
    // No field of a change has a default: it would reset fields the caller did not mention.
    set: object(
      {
        name: name(),
        amount: amount(),
        currency: currency(),
        amount_mode: oneOf(["fixed", "estimated", "variable"]),
        frequency: oneOf(["once", "daily", "weekly", "monthly", "yearly"]),
        every: every(),
        first_due: date("First due date and anchor of the schedule."),
        month_days: monthDays,
        month_weekdays: monthWeekdays,
        weekend_rule: oneOf(["none", "before", "after"]),
        ends_on: date("No due date after this day."),
        ends_after: integer({ minimum: 1, maximum: 1200 }),
        payee,
        category: category(),
        tags,
        note,
        autopay: { type: "boolean", description: "true: charged automatically, reminder is a heads-up." },
        reminder_enabled: { type: "boolean" },
        remind_days_before: remindDaysBefore,
        remind_again: remindAgain,
        assignee: assignee(' "" = nobody.'),
        trial_ends_on: date("Last day of a free trial."),
        renews_on: date("Next contract renewal."),
        notice_days: noticeDays,
        my_share_percent: { type: "number", exclusiveMinimum: 0, maximum: 100 },
        paid_by: paidBy,
        shared: sharing,
        status: oneOf(["active", "paused", "cancelled"]),
      },
      [],
      { minProperties: 1 },
    ),
    apply_from: date("First due date that the change applies to. Default: the next open one."),
    occurrence: object({
      due_on: date(
        "Which occurrence, by its due date (required, so that a repeated call cannot skip the next one).",
      ),
      action: oneOf(["skip", "snooze", "set_amount", "reopen"]),
      amount: amount(),
      snooze_until: date(),
    }, ["action", "due_on"]),
    provider: object({
      action: oneOf(["connect", "disconnect"]),
      provider: oneOf([...PROVIDERS.keys()], { description: "http_json: any other, by an address that answers JSON." }),
    }, ["action"]),
    expected_version: integer({ minimum: 1 }),
    dry_run: dryRun,
  }, ["bill_id"]);

export const updateBill = defineTool({
  name: "update_bill",
  annotations: UPDATE,
  inputSchema: schemaWith(shared),
  listedSchema: schemaWith(listedShared),
  data: { bill: "object", before: "object", occurrences: "array", connect_url: "string" },
});
