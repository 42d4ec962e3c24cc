/** Words of `update_expenses` and `delete_records`. */
import type { Refusal } from "../message.ts";
import { count, fieldName, names, totals } from "./phrases.ts";

interface Missing {
  missing: string[];
  /** How many were requested. */
  asked: number;
  /** Names of those that were deleted. */
  deleted?: string[];
  organization: string;
}

export const refusals = {
  "not_found.records": ({ missing, asked, deleted = [], organization }: Missing): Refusal => ({
    message: deleted.length === missing.length
      ? `Already deleted: ${names(deleted)}.`
      : asked === 1
      ? `There is no ${missing[0]} in ${organization}.`
      : `${missing.length} of these ${asked} are not in ${organization}, so nothing was changed.`,
    hint: deleted.length > 0
      ? "undo_change restores what was deleted; get_context with include recent_changes lists the changes."
      : "Take ids from list_expenses or list_bills.",
  }),
  "invalid_argument.nothing_to_change": (): Refusal => ({
    message: "There is nothing to change.",
    hint: "Give the fields to change in set, or tags in add_tags.",
  }),
  "invalid_argument.one_at_a_time": (): Refusal => ({
    message: "Name, amount, currency and date can only be changed for one expense at a time.",
    hint: "Call once for each expense, or set only category, payee, note, url and tags.",
  }),
  "invalid_argument.version_of_several": (): Refusal => ({
    message: "Several expenses are given, but expected_version is for a single one.",
    hint: "Leave expected_version out, or give one id.",
  }),
  "stale_version": ({ name, version }: { name: string; version: number }): Refusal => ({
    message: `${name} was changed since it was read: it is now at version ${version}. Nothing was changed.`,
    hint: "Tell the person the current values. If they still want the change, call again with the new version.",
  }),
  "invalid_argument.expected_of_another": ({ id }: { id: string }): Refusal => ({
    message: `The values in expected name ${id}, which is not among the ids to delete.`,
    hint: "List in expected only what is also in ids.",
  }),
  "expectation_mismatch.of_record": ({ name, current }: {
    name: string;
    current: { amount?: string; currency?: string; date?: string };
  }): Refusal => ({
    message: `${
      [
        `${name} is not what was shown: it is`,
        current.amount,
        current.currency,
        current.date && `on ${current.date}`,
      ].filter(Boolean).join(" ")
    }. Nothing was deleted.`,
    hint: "Show the current values and ask again.",
  }),
  "invalid_argument.bill_among_others": (): Refusal => ({
    message: "A bill is deleted on its own, since its payments go with it.",
    hint: "Give one bill_ id, or up to 100 exp_ ids.",
  }),
};

export const warnings = {
  "payments_deleted": (payments: { count: number; totals: Record<string, string> }): string =>
    `${payments.count === 1 ? "One payment of this bill leaves" : `${payments.count} payments of this bill leave`} ` +
    `every total with it, ${totals(payments.totals)}. To stop a bill and keep what was paid, undo this and use ` +
    'update_bill with status "cancelled".',
};

/** The total count and the first few. */
interface First {
  count: number;
  names: string[];
}

/** Summaries in the list of recent changes. */
export const changes = {
  update_expenses: ({ count: changed, names: [first], fields }: First & { fields: string[] }): string =>
    `Changed ${changed === 1 ? first : count(changed, "expense")}: ${fields.map(fieldName).join(", ")}`,
  delete_records: ({ count: deleted, names: first, reason }: First & { reason?: string }): string =>
    `Deleted ${names(first, { count: deleted })}${reason ? `: ${reason}` : ""}`,
};
