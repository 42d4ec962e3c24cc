/** Words of `undo_change`. */
import { DATA_FORMAT, type EffectFormat } from "../effect_format.ts";
import type { Subject } from "../facts.ts";
import type { Money, Refusal } from "../message.ts";
import { fieldNames } from "./fields.ts";
import { names, quoted } from "./phrases.ts";
import { budget } from "./update_settings.ts";

/** The summary of a change. */
interface Changed {
  summary: string;
}

export const refusals = {
  "not_found.own_change": ({ organization }: { organization: string }): Refusal => ({
    message: `You have no changes in ${organization} that can be undone.`,
    hint: "get_context with include recent_changes lists everybody's changes.",
  }),
  "not_found.change": ({ id, organization }: { id: string; organization: string }): Refusal => ({
    message: `There is no change ${id} in ${organization}.`,
    hint: "get_context with include recent_changes lists the changes.",
  }),
  "not_found.recent_change": (
    { summary, minutes, details }: Changed & { minutes: number; details: { change_id: string } },
  ): Refusal => ({
    message: `Your latest change, ${quoted(summary)}, was made more than ${minutes} minutes ago. Nothing was undone.`,
    hint:
      `Ask whether that one is meant; if so, give change_id "${details.change_id}". Others are in get_context with ` +
      "include recent_changes.",
  }),
  "already_undone": ({ summary }: Changed): Refusal => ({
    message: `${quoted(summary)} has already been undone.`,
    hint: "To do it again, undo change details.undone_by; to undo an earlier change, give its change_id.",
  }),
  "already_undone.with_earlier": (
    { summary, details }: Changed & { details: { earlier: { change_id: string; summary: string } } },
  ): Refusal => ({
    message: `${quoted(summary)} has already been undone.`,
    hint: `The change before it is ${quoted(details.earlier.summary)}: to undo that one too, give change_id ` +
      `"${details.earlier.change_id}". To do the undone change again, undo change details.undone_by.`,
  }),
  "already_undone.and_redone": ({ summary, details }: Changed & { details: { change_id: string } }): Refusal => ({
    message: `${quoted(summary)} was undone and then done again. Nothing was changed.`,
    hint: `To undo it once more, give change_id "${details.change_id}".`,
  }),
  "undo_expired": ({ summary, days }: Changed & { days: number }): Refusal => ({
    message: `${quoted(summary)} was made more than ${days} days ago and can no longer be undone.`,
    hint: "Reverse it by hand instead.",
  }),
  "undo_expired.emptied": ({ days }: { days: number }): Refusal => ({
    message: `This change was made more than ${days} days ago and can no longer be undone.`,
    hint: "Reverse it by hand instead.",
  }),
  "undo_conflict.changed_since": (
    { summary, details }: Changed & {
      details: { rows: { what: string }[]; later?: { change_id: string; summary: string } };
    },
  ): Refusal => ({
    message: `${quoted(summary)} cannot be undone, because something it touched has changed since: ${
      names(details.rows.map(({ what }) => what))
    }. Nothing was changed.`,
    hint: details.later
      ? `The latest change to it is ${quoted(details.later.summary)}. Ask whether to undo that one first (change_id ` +
        `"${details.later.change_id}"), or reverse this one by hand.`
      : "Reverse it by hand instead.",
  }),
  "undo_conflict.name_taken": ({ summary }: Changed): Refusal => ({
    message: `${
      quoted(summary)
    } cannot be undone: something with the same name or external id was added since. Nothing was changed.`,
    hint: "Rename or delete the newer one first.",
  }),
};

/** The familiar name of a kind of record. */
export function subject(of: Subject, format: Pick<EffectFormat, "date" | "money"> = DATA_FORMAT): string {
  const sum = (of: Money) => format.money(of.amount, of.currency);
  const name = "name" in of ? of.name ?? "a deleted record" : "";
  switch (of.kind) {
    case "category":
      return `Category ${name}`;
    case "document":
      return `Document ${name}`;
    case "payee_rule":
      return `The rule for ${name}`;
    case "settings":
      return "Settings";
    case "budget":
      return `The ${budget(of)}`;
    case "date":
      return `${name} due ${format.date(of.due_on)}`;
    case "payment":
      return `Payment of ${sum(of)} for ${name}`;
    case "balance":
      return `Balance of ${sum(of)} of ${name}`;
    case "income":
      return `Income ${name} of ${sum(of)}`;
    case "settlement":
      return `Settlement of ${sum(of)}`;
    case "statement":
      return `The statement of ${name}`;
    case "connection":
      return `The connection to ${name}`;
    case "expense":
      return name;
  }
}

/** How an undo reverted one item: a date's status, a removed or restored row, or restored fields. */
export function reversal({ what, verb, fields = [] }: { what: string; verb?: string; fields?: string[] }): string {
  if (verb === "removed" || verb === "restored") return `${what} ${verb}`;
  if (verb) return `${what} is ${verb} again`;
  // Facts without a name, such as the rate, may have changed as well.
  return fields.length > 0 ? `${what}: ${fieldNames(fields)} changed back` : `${what} changed back`;
}

/** Items that could not be reverted. */
export const kept = {
  connection_ended: (what: string): string => `${what} was not restored: connect it again`,
  lines_gone: (what: string): string => `${what} was not restored: import the file again before you reconcile`,
  in_use: (what: string): string => `${what} stays: other expenses use it`,
};

/** Summaries in the list of recent changes. */
export const undoneChange = ({ verb, summary }: { verb: "undid" | "redid"; summary: string }): string =>
  `${verb === "undid" ? "Undid" : "Redid"}: ${summary}`;
