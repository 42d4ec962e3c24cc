/** Words of `update_settings`. */
import type { Budgeted } from "../facts.ts";
import { DATA_FORMAT, type EffectFormat } from "../effect_format.ts";
import type { Money, Refusal } from "../message.ts";
import { and, ask, count, names, quoted, type Unwatched, unwatchedBalances, type WhoCan } from "./phrases.ts";

/** "monthly budget for Travel" */
export const budget = ({ category, per }: Budgeted): string =>
  `${per}ly budget ${category ? `for ${category}` : "for everything"}`;

export const refusals = {
  "forbidden_role.read_only": (whoCan: WhoCan): Refusal => ({
    message: `You can read these books but not change them. ${ask(whoCan)}`,
    hint: "Nothing was changed. A viewer can use the tools that list, summarize and review.",
  }),
  "insufficient_scope": (): Refusal => ({
    message: "You let this app read these books, not change them.",
    hint: "Nothing was changed. You can allow changes on your account page.",
  }),
  "forbidden_role.settings": (whoCan: WhoCan): Refusal => ({
    message: `Your role does not include the settings of the organization. ${ask(whoCan)}`,
    hint: "Nothing was changed. You can still change your own emails, categories, budgets and payee rules.",
  }),
  "forbidden_role.owner_settings": (whoCan: WhoCan): Refusal => ({
    message: `Only the owner can change the time zone and the owner's emails. ${ask(whoCan)}`,
    hint: "Nothing was changed. Leave them out to change the rest.",
  }),
  "forbidden_role.private_category": (whoCan: WhoCan): Refusal => ({
    message: `Your role does not allow you to make a category private, or to share one that is. ${ask(whoCan)}`,
    hint: "Nothing was changed.",
  }),
  "forbidden_role.out_of_sight": (whoCan: WhoCan): Refusal => ({
    message: `You see only records that you recorded or are responsible for, and would no longer see this one. ${
      ask(whoCan)
    }`,
    hint: "Nothing was changed.",
  }),
  "forbidden_role.no_bill": (whoCan: WhoCan): Refusal => ({
    message: `You do not see all expenses, so you cannot exclude a payee from bill proposals for everybody. ${
      ask(whoCan)
    }`,
    hint: "Nothing was changed.",
  }),
  "forbidden_role.mails": (): Refusal => ({
    message: "Members choose their own emails.",
    hint: "Ask them to change it with their own assistant or on their account page.",
  }),
  "month_closed": (
    { month, reopened_by, is_label }: { month: string; reopened_by: string; is_label?: true },
  ): Refusal => ({
    message: `${month} is closed. Reopen it first.`,
    hint:
      `Nothing was changed. Ask the user first: a closed month may have been reported already. If they agree, the owner or ` +
      `a manager reopens it with update_settings, closed_through "${reopened_by}", and closes it again afterwards. ` +
      (is_label
        ? "If only notes, tags and categories are to change, relabel_closed true allows it in all closed months."
        : "A new record can get a date in an open month."),
  }),
  "month_closed.of_import": (
    { month, to, reopened_by }: { month: string; to: string; reopened_by: string },
  ): Refusal => ({
    message: `All readable rows are in closed months (${
      month === to ? month : `${month} to ${to}`
    }). Nothing was written.`,
    hint:
      "Ask the user first: a closed month may have been reported already. If they agree, the owner or a manager reopens " +
      `only these with update_settings, closed_through "${reopened_by}", and closes them again after the import.`,
  }),
  "date_out_of_range.month_not_over": ({ month }: { month: string }): Refusal => ({
    message: `${month} cannot be closed. Give a month that has ended, as YYYY-MM.`,
  }),
  "values_pending": ({ count: payments, since, month }: { count: number; since: string; month: string }): Refusal => ({
    message: `${month} cannot be closed yet: ${count(payments, "payment")} since ${since} ${
      payments === 1 ? "waits" : "wait"
    } for the rate of ${payments === 1 ? "its day" : "their days"}.`,
    hint: "Rates come with the daily run. Close it after that.",
  }),
  "invalid_argument.not_a_timezone": ({ value }: { value: string }): Refusal => ({
    message: `${quoted(value)} is not a time zone.`,
    hint: "Give an IANA name such as Europe/Berlin or Asia/Kolkata.",
  }),
  "invalid_argument.category_without_name": (): Refusal => ({
    message: "A category needs a name of its own.",
    hint: "Uncategorized stands for expenses without a category.",
  }),
  "invalid_argument.new_name_missing": ({ name }: { name: string }): Refusal => ({
    message: "The new name is missing.",
    hint: `Give new_name: the new name of ${name}.`,
  }),
  "invalid_argument.merge_target_missing": ({ name }: { name: string }): Refusal => ({
    message: "The category to merge into is missing.",
    hint: `Give into: the category to move the contents of ${name} to.`,
  }),
  "duplicate.category": ({ name }: { name: string }): Refusal => ({
    message: `There is already a category called ${name}.`,
    hint: 'To put both together use action "merge".',
  }),
  "invalid_argument.cannot_merge": ({ name, into }: { name: string; into: string }): Refusal => ({
    message: `${name} cannot be merged into ${into}.`,
    hint: "Give another category that is in use.",
  }),
  "not_found.budget": ({ category, per }: Budgeted): Refusal => ({
    message: `There is no ${budget({ category, per })}.`,
    hint: "summarize_spending lists the budgets.",
  }),
  "invalid_argument.budget_amount_missing": (): Refusal => ({
    message: "The amount of the budget is missing.",
    hint: 'Give amount, or action "remove" to have none.',
  }),
  "not_found.payee_rule": ({ payee }: { payee: string }): Refusal => ({
    message: `There is no rule for ${quoted(payee)}.`,
    hint: 'get_context with include ["payees"] lists the rules. To keep one, give its category.',
  }),
  "not_found.layout": ({ id }: { id: string }): Refusal => ({
    message: `There is no remembered layout ${quoted(id)}.`,
    hint: "update_settings with forget_layouts [] lists them.",
  }),
  "invalid_argument.rule_without_payee": (): Refusal => ({
    message: "A payee rule needs a word in its payee.",
    hint: "Give the beginning of the payee's name.",
  }),
  "invalid_argument.too_many_rules": ({ most }: { most: number }): Refusal => ({
    message: `There can be at most ${most} payee rules.`,
    hint: "Remove rules that are no longer needed: give them without a category.",
  }),
  "invalid_argument.too_many_to_merge": (
    { most, name, into }: { most: number; name: string; into: string },
  ): Refusal => ({
    message:
      `More than ${most} expenses and income records are in ${name}, too many to move at once. Nothing was changed.`,
    hint: `Archive ${name} instead (action "archive"): what was spent in it stays there, and new expenses go into ` +
      `${into}. Or move them 100 at a time: list_expenses with categories [${JSON.stringify(name)}], then ` +
      `update_expenses with set {"category": ${JSON.stringify(into)}}.`,
  }),
};

export const warnings = {
  "mails_off": (): string =>
    "Emails to this person are turned off altogether, so none will come. They can be turned on on the account page.",
  "no_balance_yet": (): string =>
    "No current balance of an account is known, and cards are not checked, so no mail about the limit can come. Import " +
    "a statement, or log a balance (log_expenses, kind balance).",
  "balances_unwatched": (unwatched: Unwatched): string =>
    `${unwatchedBalances(unwatched).join(" ")} No mail will warn of these.`,
  "mails_off.now": (): string =>
    "This person gets no emails until email_enabled is true again; no date turns emails back on by itself.",
  "revalued": ({ currency, moved, without_rate, pending }: Revalued): string =>
    `${count(moved, "payment")} ${moved === 1 ? "is" : "are"} now valued in ${currency}, at the rates of ${
      moved === 1 ? "its day" : "their days"
    }; recorded amounts keep their own currency.` +
    (without_rate > 0
      ? ` For ${without_rate} of them no rate is known${pending > 0 ? " yet" : ""}, so totals leave them out.`
      : "") +
    (pending > 0 ? " The daily job requests missing rates and then updates the values." : ""),
  "months_reopened": ({ closed_through }: { closed_through: string }): string =>
    `Months that were closed are open now. Once the correction is made, close them again: closed_through "${closed_through}".`,
  "category_private": ({ name }: { name: string }): string =>
    `Only the owner, the managers and viewers whom the owner allowed see ${name} and its contents. For everybody else it ` +
    "is in no list, total, mail or calendar.",
  "open_in_closed_month": ({ dates }: { dates: { name: string; due_on: string }[] }): string =>
    `Not paid in the closed months: ${names(dates.map(({ name, due_on }) => `${name} due ${due_on}`))}. Payments ` +
    "for them now count in the month of the payment.",
  "uncategorized_in_closed_month": ({ count: payments }: { count: number }): string =>
    `${count(payments, "record")} of the closed months ${payments === 1 ? "has" : "have"} no category: ` +
    'list_expenses with categories ["Uncategorized"] shows them. To categorize them, reopen the months or set relabel_closed.',
  "category_in_use": ({ names: bills, category }: { names: string[]; category: string }): string => {
    const [stay, them] = bills.length === 1 ? ["stays", "it"] : ["stay", "them"];
    return `${names(bills)} ${stay} in the archived category ${category}, and so do future payments of ${them}. ` +
      `To move ${them} use update_bill with set.category.`;
  },
};

interface Revalued {
  currency: string;
  moved: number;
  without_rate: number;
  /** The number of payments that wait for a rate. */
  pending: number;
}

interface Changed {
  timezone?: string;
  base_currency?: string;
  email_enabled?: boolean;
  default_lead_days?: number;
  hide_amounts_in_email?: boolean;
  mails?: "mine" | "all" | "none";
  /** Whether members see only the records that they recorded or that are assigned to them. */
  own_only?: boolean;
  /** Whether notes, tags and categories may change in closed months. */
  relabel_closed?: boolean;
  /** "" without one. */
  low_balance_limit?: Money | "";
  /** The accounts of the DATEV export changed. */
  datev?: true;
  /** The last closed day; "" when no month is closed. */
  closed_through?: string;
}

/** A rule without a category and `no_bill` was removed. */
interface PayeeRule {
  payee: string;
  category?: string;
  no_bill?: true;
}

interface Settings {
  changed?: Changed;
  category?: {
    action: "create" | "rename" | "merge" | "archive" | "make_private" | "make_shared";
    name: string;
    into: string;
    moved?: number;
    moved_income?: number;
  };
  payee_rules?: PayeeRule[];
  budget?: Budgeted & ({ action: "set" } & Money | { action: "remove" });
}

/** Summaries in the list of recent changes. */
export const changes = {
  update_settings: (
    { changed, category, budget, payee_rules: rules }: Settings,
    format: EffectFormat = DATA_FORMAT,
  ): string =>
    [
      changed && `Settings: ${preferences(changed, format)}`,
      category && changeOfCategory(category),
      budget && changeOfBudget(budget, format),
      rules && changeOfRules(rules),
    ].filter(Boolean).join("; "),
};

const MAILS = {
  mine: "the member gets emails about bills assigned to them",
  all: "the member gets emails about all bills",
  none: "the member gets no emails",
};

const preferences = (changed: Changed, format: EffectFormat): string =>
  [
    changed.base_currency && `main currency ${changed.base_currency}`,
    changed.default_lead_days !== undefined && `reminders ${count(changed.default_lead_days, "day")} before`,
    changed.email_enabled !== undefined && `reminder emails ${changed.email_enabled ? "on" : "off"}`,
    changed.hide_amounts_in_email !== undefined &&
    `amounts in emails ${changed.hide_amounts_in_email ? "hidden" : "shown"}`,
    changed.own_only !== undefined && (changed.own_only ? "members see only their own" : "members see everything"),
    changed.relabel_closed !== undefined &&
    `notes, tags and categories of closed months ${changed.relabel_closed ? "may change" : "stay as they are"}`,
    changed.low_balance_limit &&
    `a mail before a balance falls below ${
      format.money(changed.low_balance_limit.amount, changed.low_balance_limit.currency)
    }`,
    changed.low_balance_limit === "" && "no limit for balances",
    changed.datev && "DATEV accounts",
    changed.mails && MAILS[changed.mails],
    changed.closed_through && `closed through ${changed.closed_through.slice(0, 7)}`,
    changed.closed_through === "" && "no closed months",
    changed.timezone && `time zone ${changed.timezone}`,
  ].filter(Boolean).join(", ");

const changeOfBudget = (change: NonNullable<Settings["budget"]>, format: EffectFormat): string =>
  change.action === "set"
    ? `Set the ${budget(change)} to ${format.money(change.amount, change.currency)}`
    : `Removed the ${budget(change)}`;

const changeOfRules = (rules: PayeeRule[]): string =>
  `Payee rules: ${
    names(rules.flatMap(({ payee, category, no_bill }) => [
      ...(category ? [`${payee} is ${category}`] : []),
      ...(no_bill ? [`${payee} is never proposed as a bill`] : []),
      ...(category || no_bill ? [] : [`none for ${payee}`]),
    ]))
  }`;

function changeOfCategory(
  { action, name, into, moved, moved_income: income }: NonNullable<Settings["category"]>,
): string {
  switch (action) {
    case "create":
      return `Added category ${name}`;
    case "rename":
      return `Renamed category ${name} to ${into}`;
    case "merge":
      return `Merged category ${name} into ${into}: ${
        income ? and([...(moved ? [count(moved, "expense")] : []), count(income, "income record")]) : moved
      } moved`;
    case "archive":
      return `Archived category ${name}`;
    case "make_private":
      return `Made category ${name} private`;
    case "make_shared":
      return `Shared category ${name} with everyone`;
  }
}
