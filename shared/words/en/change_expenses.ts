/** Words of `update_expenses` and `delete_records`. */
import type { Money, Refusal } from "../message.ts";
import { fieldNames } from "./fields.ts";
import { and, count, money, names, quoted, totals } from "./phrases.ts";
import { type Rule, rule } from "./log_expenses.ts";

interface Missing {
  missing: string[];
  /** The number of requested records. */
  asked: number;
  /** Names of the deleted records. */
  deleted?: string[];
  organization: string;
}

export const refusals = {
  "invalid_argument.income_among_others": (): Refusal => ({
    message: "Income can't be changed or deleted together with other records.",
    hint: "Give ids that all begin with inc_, or none.",
  }),
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
    hint: "Give the fields to change in set, or tags in add_tags or remove_tags.",
  }),
  "invalid_argument.ids_or_filter": (): Refusal => ({
    message: "Exactly one of ids and a filter is needed.",
    hint: "Give ids, or a filter that is not empty.",
  }),
  "not_found.by_filter": (): Refusal => ({
    message: "No one-off expense matches this filter, so nothing was changed.",
    hint: "Try the filter with list_expenses. Payments of a bill are changed with update_bill.",
  }),
  "invalid_argument.too_many_records": ({ most }: { most: number }): Refusal => ({
    message: `More than ${most} expenses match this filter. Nothing was changed.`,
    hint: "Narrow it with from and to.",
  }),
  "invalid_argument.one_at_a_time": (): Refusal => ({
    message: "Name, amount, currency, date, is_refund, tax and split can only be changed for one expense at a time.",
    hint:
      "Call once for each expense, or set only category, payee, note, url, tags, the reimbursement, paid_by and shared.",
  }),
  "invalid_argument.part_of_split": ({ parts }: { parts: number }): Refusal => ({
    message: `This is one of ${parts} parts of a split; their amounts, date and charge only change together.`,
    hint:
      "Give set.split with all parts as they should be, and the other changes; details.split has the current parts.",
  }),
  "invalid_argument.merge_alone": (): Refusal => ({
    message: "Merging takes only ids (the records to remove) and merge_into (the record to keep).",
    hint: "Change other fields in another call.",
  }),
  "invalid_argument.merge_into_itself": (): Refusal => ({
    message: "A record cannot be merged into itself.",
    hint: "Give the record to keep in merge_into, and only the records to remove in ids.",
  }),
  "invalid_argument.merge_part": ({ name }: { name: string }): Refusal => ({
    message: `${name} is one part of a split, and the other parts would stay.`,
    hint: "Merge the other way round, into the part; or delete the other record.",
  }),
  "invalid_argument.merge_refund": ({ name }: { name: string }): Refusal => ({
    message: `${name} cannot be merged: one is a refund and the other is not.`,
    hint: "If is_refund is wrong for one of them, change it first.",
  }),
  "invalid_argument.merge_reimbursed": ({ name }: { name: string }): Refusal => ({
    message: `Somebody reimburses ${name}, and a bill's payment can't keep that.`,
    hint: 'Ask the person whether to give up the reimbursement. If so, set reimbursement "none" first, then merge.',
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
        `${name} has changed since it was shown: it is`,
        current.amount ? money(current as Money) : "without an amount",
        current.date && `on ${current.date}`,
      ].filter(Boolean).join(" ")
    }. Nothing was deleted.`,
    hint: "Show the current values and ask again.",
  }),
  "confirmation_required": ({ action, count: records, unknown = [], details, ...total }: Money & {
    action: "update" | "delete";
    count: number;
    unknown?: string[];
    details: { confirm: { count: number; total: string } };
  }): Refusal => ({
    message: `This would ${
      action === "delete" ? `delete ${count(records, "record")}` : `change ${count(records, "expense")}`
    } worth ${money(total)}${
      unknown.length > 0 ? `, besides amounts in ${and(unknown)} without a known rate` : ""
    }. Nothing was ${action === "delete" ? "deleted" : "changed"}.`,
    hint: "Tell the user. If they agree, make the same call with confirm " +
      `{"count": ${details.confirm.count}, "total": "${details.confirm.total}"}.`,
  }),
  "invalid_argument.bill_among_others": (): Refusal => ({
    message: "A bill has to be deleted separately, because its payments are deleted with it.",
    hint: "Give one bill_ id, or up to 100 exp_ ids.",
  }),
};

/** The debtor and the creditor; a deleted account has no name. */
interface Balance extends Money {
  from?: string;
  to?: string;
}

export const warnings = {
  "income_still_expected": ({ rules }: { rules: Rule[] }): string =>
    `${and(rules.map(rule))} ${
      rules.length === 1 ? "is" : "are"
    } still expected; delete_records with that id stops it.`,
  "balances_change": ({ was = [], is_now = [] }: { was?: Balance[]; is_now?: Balance[] }): string =>
    `A shared cost is deleted, so balances change. Before: ${and(was.map(debt)) || "nobody owes anything"}. After: ${
      and(is_now.map(debt)) || "nobody owes anything"
    }. Settlements (settle_up) stay recorded.`,
  "merged_unequal": ({ name, kept, ...gone }: Money & { name: string; kept: string }): string =>
    `${quoted(name)} was ${money(gone)}, and the kept record is ${
      money({ ...gone, amount: kept })
    }; only the kept amount counts now. ` +
    "If both were paid, undo this.",
  "charge_kept": ({ field, ...charged }: Money & { field: string }): string =>
    `It still counts with ${
      money(charged)
    }, which the bank charged for the earlier amount. If the bank charged another ` +
    `sum for the new one, call again with ${field}.`,
  "reimbursed_in_full": ({ count: paid, totals: whole }: { count: number; totals: Record<string, string> }): string =>
    `${totals(whole)} ${
      paid === 1 ? "counts" : `of ${count(paid, "expense")} count`
    } as paid back, the whole amount. If ` +
    'only a part came back, undo this, divide the expense with update_expenses (set.split [{"amount": "<part>"}, {}]) ' +
    'and set reimbursement "done" for that part alone.',
  "split_left_over": ({ count: parts, names: split }: { count: number; names: string[] }): string =>
    `${names(split)} was split, and ${
      parts === 1 ? "one other part stays" : `${parts} other parts stay`
    } in the books. Delete ${parts === 1 ? "it" : "them"} as well if the whole was meant.`,
  "payments_deleted": (payments: { count: number; totals: Record<string, string> }): string =>
    `${payments.count === 1 ? "One payment of this bill is" : `${payments.count} payments of this bill are`} ` +
    `deleted with it and left out of every total: ${
      totals(payments.totals)
    }. To stop a bill and keep what was paid, undo this and use ` +
    'update_bill with status "cancelled".',
  "documents_deleted": ({ count: documents }: { count: number }): string =>
    `${count(documents, "attached document")} will be deleted with the record when it can no longer be restored, ` +
    `unless attach_document attaches ${documents === 1 ? "it" : "them"} to another record.`,
};

const debt = ({ from, to, ...owed }: Balance): string =>
  `${from ?? "a former member"} owes ${to ?? "a former member"} ${money(owed)}`;

/** The total count, and the first few names. */
interface First {
  count: number;
  names: string[];
}

/** Summaries in the list of recent changes. */
export const changes = {
  update_expenses: (
    { count: changed, names: [first], fields = [], into }: First & { fields?: string[]; into?: string },
  ): string => {
    const records = changed === 1 ? first : count(changed, "expense");
    return into ? `Merged ${records} into ${into}` : `Changed ${records}: ${fieldNames(fields)}`;
  },
  delete_records: ({ count: deleted, names: first, reason }: First & { reason?: string }): string =>
    `Deleted ${names(first, { count: deleted })}${reason ? `: ${reason}` : ""}`,
};
