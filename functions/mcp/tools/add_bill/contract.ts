/** The contract of `add_bill`; `app.add_bill` does the work. */
import {
  amount,
  billContract,
  currency,
  date,
  dryRun,
  flag,
  idempotencyKey,
  inferredCategory,
  integer,
  type JsonSchema,
  list,
  LISTED_AS,
  listedIn,
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
} from "../../../../shared/connector/schema.ts";
import { CREATE, defineTool } from "../../../../shared/connector/tool.ts";
import { answer } from "./answer.ts";

const MONTH_DAYS = [-1, ...Array.from({ length: 31 }, (_, index) => index + 1)];

export const every = (more: JsonSchema = {}) =>
  integer({
    minimum: 1,
    maximum: 120,
    ...more,
    description: "3 with monthly = quarterly.",
  });
export const monthDays = list(integer({ enum: MONTH_DAYS }), {
  minItems: 1,
  maxItems: 4,
  description: "[1,15]; 31 or -1 = last day.",
});
export const monthWeekdays = list({ type: "string", pattern: PATTERNS.monthWeekday }, {
  minItems: 1,
  maxItems: 4,
  description: "2TU; -1FR = last Friday.",
});
export const remindDaysBefore = integer({
  minimum: 0,
  maximum: 90,
  description: "Default: the owner's setting.",
});
export const remindAgain = list(integer({ minimum: 0, maximum: 90 }), {
  maxItems: 4,
  description: "Later reminders: [3,0].",
});
export const assignee = (more = "") => text(254, { description: `Member who is reminded too.${more}` });
export const noticeDays = integer({ minimum: 0, maximum: 365, description: "To cancel before renews_on." });

const inputSchema = object({
  name: name(),
  amount: amount("Omit if variable."),
  currency: currency(),
  amount_mode: oneOf(["fixed", "estimated", "variable"], { default: "fixed" }),
  frequency: oneOf(["once", "daily", "weekly", "monthly", "yearly"]),
  every: every({ default: 1 }),
  first_due: date("Needed unless month_days or month_weekdays."),
  month_days: monthDays,
  month_weekdays: monthWeekdays,
  weekend_rule: oneOf(["none", "before", "after"], { default: "none" }),
  ends_on: date(),
  ends_after: integer({ minimum: 1, maximum: 1200 }),
  payee,
  category: inferredCategory,
  tags,
  note,
  autopay: { type: "boolean", description: "Charged automatically." },
  reminder_enabled: flag(true),
  remind_days_before: remindDaysBefore,
  remind_again: remindAgain,
  assignee: assignee(),
  trial_ends_on: date(),
  renews_on: date(),
  notice_days: noticeDays,
  contract: {
    ...billContract,
    [LISTED_AS]: listedIn(
      "draft_cancellation",
      object({ started_on: date(), notice: billContract.properties!.notice! }),
    ),
  },
  my_share_percent: { type: "number", exclusiveMinimum: 0, maximum: 100, default: 100 },
  paid_by: paidBy,
  shared: listedIn("log_expenses", shared),
  on_duplicate: onDuplicate,
  dry_run: dryRun,
  idempotency_key: idempotencyKey,
}, ["name"]);

export const addBill = defineTool({
  name: "add_bill",
  annotations: CREATE,
  inputSchema,
  data: { bill: "object", next_dates: "array", first_reminder_on: "string", status: "string" },
  answer,
});
