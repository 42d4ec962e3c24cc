/** The contract of `update_bill`; `app.update_bill` does the work. */
import {
  amount,
  billContract,
  category,
  currency,
  date,
  dryRun,
  id,
  integer,
  type JsonSchema,
  LISTED_AS,
  listedIn,
  name,
  note,
  object,
  oneOf,
  paidBy,
  payee,
  shared,
  tags,
  text,
} from "../../../../shared/connector/schema.ts";
import { type Arguments, defineTool, type ParsedArguments, UPDATE } from "../../../../shared/connector/tool.ts";
import {
  assignee,
  every,
  monthDays,
  monthWeekdays,
  noticeDays,
  remindAgain,
  remindDaysBefore,
} from "../add_bill/contract.ts";
import { PROVIDERS } from "../../../../shared/providers/registry.ts";
import { answer } from "./answer.ts";

/** tools/list shows one field. The tool accepts the others too, and answers request them by name. */
const contract: JsonSchema = {
  ...object({ ...billContract.properties, confirmed_on: date() }),
  [LISTED_AS]: object({ confirmed_on: date() }),
};

const inputSchema = object({
  bill_id: id("bill"),
  bill_name: text(120),
  // Fields of a change have no defaults, because a default would reset unmentioned fields.
  set: listedIn(
    "add_bill",
    object(
      {
        name: name(),
        amount: amount(),
        currency: currency(),
        amount_mode: oneOf(["fixed", "estimated", "variable"]),
        frequency: oneOf(["once", "daily", "weekly", "monthly", "yearly"]),
        every: every(),
        first_due: date(),
        month_days: monthDays,
        month_weekdays: monthWeekdays,
        weekend_rule: oneOf(["none", "before", "after"]),
        ends_on: date(),
        ends_after: integer({ minimum: 1, maximum: 1200 }),
        payee,
        category: category(),
        tags,
        note,
        autopay: { type: "boolean" },
        reminder_enabled: { type: "boolean" },
        remind_days_before: remindDaysBefore,
        remind_again: remindAgain,
        assignee: assignee(' "" = nobody.'),
        trial_ends_on: date(),
        renews_on: date(),
        notice_days: noticeDays,
        contract,
        my_share_percent: { type: "number", exclusiveMinimum: 0, maximum: 100 },
        paid_by: paidBy,
        shared: { ...shared, [LISTED_AS]: object({ between: shared.properties!.between! }) },
        status: oneOf(["active", "paused", "cancelled"]),
      },
      [],
      { minProperties: 1 },
    ),
    ["status"],
  ),
  pause_until: date(),
  apply_from: date("Default: the next open date."),
  occurrence: object({
    due_on: date(),
    action: oneOf(["skip", "snooze", "set_amount", "reopen"]),
    amount: amount(),
    snooze_until: date(),
  }, ["action", "due_on"]),
  provider: object({
    action: oneOf(["connect", "disconnect"]),
    provider: oneOf([...PROVIDERS.keys()], { description: "http_json: any JSON address." }),
  }, ["action"]),
  expected_version: integer({ minimum: 1 }),
  dry_run: dryRun,
});

export const updateBill = defineTool({
  name: "update_bill",
  annotations: UPDATE,
  inputSchema,
  refine,
  data: { bill: "object", before: "object", occurrences: "array", connect_url: "string" },
  answer,
});

/** A pause with an end needs no status. */
function refine({ set, ...value }: Arguments): ParsedArguments {
  const { status, ...fields } = (set ?? {}) as Arguments;
  if (!set || !value.pause_until || status !== "paused") {
    return { ok: true, value: { ...value, ...(set ? { set } : {}) } };
  }
  return { ok: true, value: { ...value, ...(Object.keys(fields).length > 0 && { set: fields }) } };
}
