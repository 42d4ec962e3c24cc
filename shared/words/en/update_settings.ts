/** Words of `update_settings`. */
import type { Refusal } from "../message.ts";
import { count, names, quoted } from "./phrases.ts";

export const refusals = {
  "forbidden_role.settings": (): Refusal => ({
    message: "Only the owner can change these settings.",
    hint: "Ask the owner of the organization to do it.",
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
    hint: `Give new_name: what ${name} is to be called.`,
  }),
  "invalid_argument.merge_target_missing": ({ name }: { name: string }): Refusal => ({
    message: "The category to merge into is missing.",
    hint: `Give into: the category that takes what is in ${name}.`,
  }),
  "duplicate.category": ({ name }: { name: string }): Refusal => ({
    message: `There is already a category called ${name}.`,
    hint: 'To put both together use action "merge".',
  }),
  "invalid_argument.cannot_merge": ({ name, into }: { name: string; into: string }): Refusal => ({
    message: `${name} cannot be merged into ${into}.`,
    hint: "Give another category that is in use.",
  }),
  "invalid_argument.too_many_to_merge": (
    { most, name, into }: { most: number; name: string; into: string },
  ): Refusal => ({
    message: `More than ${
      most.toLocaleString("en")
    } expenses are in ${name}, too many to move at once. Nothing was changed.`,
    hint: `Archive ${name} instead (action "archive"): what was spent in it stays there, and new expenses go into ` +
      `${into}. Or move them 100 at a time: list_expenses with categories [${JSON.stringify(name)}], then ` +
      `update_expenses with set {"category": ${JSON.stringify(into)}}.`,
  }),
};

export const warnings = {
  "from_now_on": ({ currency }: { currency: string }): string =>
    `Totals are in ${currency} from now on, converted at the rate of each payment's day; recorded amounts keep their ` +
    "own currency.",
  "category_in_use": ({ names: bills, category }: { names: string[]; category: string }): string => {
    const [stay, them] = bills.length === 1 ? ["stays", "it"] : ["stay", "them"];
    return `${names(bills)} ${stay} in the archived category ${category}, and so does what will be paid for ${them}. ` +
      `To move ${them} use update_bill with set.category.`;
  },
};

interface Changed {
  timezone?: string;
  base_currency?: string;
  email_enabled?: boolean;
  default_lead_days?: number;
  hide_amounts_in_email?: boolean;
}

interface Settings {
  changed?: Changed;
  category?: { action: "create" | "rename" | "merge" | "archive"; name: string; into: string; moved?: number };
}

/** Summaries in the list of recent changes. */
export const changes = {
  update_settings: ({ changed, category }: Settings): string =>
    [changed && `Settings: ${preferences(changed)}`, category && changeOfCategory(category)].filter(Boolean).join("; "),
};

const preferences = (changed: Changed): string =>
  [
    changed.base_currency && `base currency ${changed.base_currency}`,
    changed.default_lead_days !== undefined && `reminders ${count(changed.default_lead_days, "day")} before`,
    changed.email_enabled !== undefined && `reminder emails ${changed.email_enabled ? "on" : "off"}`,
    changed.hide_amounts_in_email !== undefined &&
    `amounts in emails ${changed.hide_amounts_in_email ? "hidden" : "shown"}`,
    changed.timezone && `time zone ${changed.timezone}`,
  ].filter(Boolean).join(", ");

function changeOfCategory({ action, name, into, moved }: NonNullable<Settings["category"]>): string {
  switch (action) {
    case "create":
      return `Added category ${name}`;
    case "rename":
      return `Renamed category ${name} to ${into}`;
    case "merge":
      return `Merged category ${name} into ${into}: ${moved} moved`;
    case "archive":
      return `Archived category ${name}`;
  }
}
