/** The contract of `add_bill`; `app.add_bill` does the work. */
import {
  amount,
  currency,
  date,
  dryRun,
  flag,
  idempotencyKey,
  inferredCategory,
  integer,
  type JsonSchema,
  list,
  listedShared,
  name,
  note,
  object,
  onDuplicate,
  oneOf,
  paidBy,
  PATTERNS,
  payee,
  shared,
  tags,
  text,
} from "../../../shared/connector/schema.ts";
import { CREATE, defineTool } from "../../../shared/connector/tool.ts";

const MONTH_DAYS = [-1, ...Array.from({ length: 31 }, (_, index) => index + 1)];

export const every = (more: JsonSchema = {}) =>
  integer({
    minimum: 1,
    maximum: 120,
    ...more,
    description: "3 with monthly = quarterly; 2 with weekly = fortnightly.",
  });
export const monthDays = list(integer({ enum: MONTH_DAYS }), {
  minItems: 1,
  maxItems: 4,
  description: "Monthly only. 31 falls on the last day of short months; -1 = last day; [1,15] = twice a month.",
});
export const monthWeekdays = list({ type: "string", pattern: PATTERNS.monthWeekday }, {
  minItems: 1,
  maxItems: 4,
  description: 'Monthly only, instead of month_days: "2TU" = second Tuesday, "-1FR" = last Friday.',
});
export const remindDaysBefore = integer({
  minimum: 0,
  maximum: 90,
  description: "Days before the due date that the reminder is sent. Default: the owner's setting (3).",
});
export const remindAgain = list(integer({ minimum: 0, maximum: 90 }), {
  maxItems: 4,
  description: "Further reminders, days before: [3,0].",
});
export const assignee = (more = "") => text(254, { description: `A member, or me: is reminded too.${more}` });
export const noticeDays = integer({ minimum: 0, maximum: 365, description: "Cancel-by = renews_on minus this." });

const schemaWith = (sharing: JsonSchema) =>
  object({
    name: name(),
    amount: amount("Required unless amount_mode is variable."),
    currency: currency(),
    amount_mode: oneOf(["fixed", "estimated", "variable"], { default: "fixed" }),
    frequency: oneOf(["once", "daily", "weekly", "monthly", "yearly"], { default: "monthly" }),
    every: every({ default: 1 }),
    first_due: date("First due date and anchor of the schedule. Needed unless month_days or month_weekdays is given."),
    month_days: monthDays,
    month_weekdays: monthWeekdays,
    weekend_rule: oneOf(["none", "before", "after"], { default: "none" }),
    ends_on: date("No due date after this day."),
    ends_after: integer({ minimum: 1, maximum: 1200 }),
    payee,
    category: inferredCategory,
    tags,
    note,
    autopay: { type: "boolean", description: "true: charged automatically, reminder is a heads-up." },
    reminder_enabled: flag(true, { description: "Remind by e-mail before it is due." }),
    remind_days_before: remindDaysBefore,
    remind_again: remindAgain,
    assignee: assignee(),
    trial_ends_on: date("Last day of a free trial."),
    renews_on: date("Next contract renewal."),
    notice_days: noticeDays,
    my_share_percent: { type: "number", exclusiveMinimum: 0, maximum: 100, default: 100 },
    paid_by: paidBy,
    shared: sharing,
    on_duplicate: onDuplicate,
    dry_run: dryRun,
    idempotency_key: idempotencyKey,
  }, ["name"]);

export const addBill = defineTool({
  name: "add_bill",
  annotations: CREATE,
  inputSchema: schemaWith(shared),
  listedSchema: schemaWith(listedShared),
  data: { bill: "object", next_dates: "array", first_reminder_on: "string", status: "string" },
});
