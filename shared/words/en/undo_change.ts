/** Words of `undo_change`. */
import type { Money, Refusal } from "../message.ts";
import { fieldName, money, names, quoted } from "./phrases.ts";

/** The summary of a change. */
interface Changed {
  summary: string;
}

/** What a changed row is called. */
type Subject =
  | { kind: "category" | "connection" | "expense"; name: string }
  | { kind: "settings" }
  | { kind: "date"; name: string; due_on: string }
  | { kind: "payment"; name: string } & Money;

export const refusals = {
  "not_found.own_change": ({ organization }: { organization: string }): Refusal => ({
    message: `You have no changes in ${organization} that can be undone.`,
    hint: "get_context with include recent_changes lists everybody's changes.",
  }),
  "not_found.change": ({ id, organization }: { id: string; organization: string }): Refusal => ({
    message: `There is no change ${id} in ${organization}.`,
    hint: "get_context with include recent_changes lists the changes.",
  }),
  "undo_conflict.undone_already": ({ summary }: Changed): Refusal => ({
    message: `${quoted(summary)} has already been undone.`,
    hint: "To do it again, undo change details.undone_by.",
  }),
  "undo_expired": ({ summary, days }: Changed & { days: number }): Refusal => ({
    message: `${quoted(summary)} was made more than ${days} days ago and can no longer be undone.`,
    hint: "Reverse it by hand instead.",
  }),
  "undo_conflict.changed_since": (
    { summary, details }: Changed & { details: { rows: { what: string }[] } },
  ): Refusal => ({
    message: `${quoted(summary)} cannot be undone, because it was changed since: ${
      names(details.rows.map(({ what }) => what))
    }. Nothing was changed.`,
    hint: "Undo the later change first, or reverse this one by hand.",
  }),
  "undo_conflict.name_taken": ({ summary }: Changed): Refusal => ({
    message: `${
      quoted(summary)
    } cannot be undone: something with the same name or external id was added since. Nothing was changed.`,
    hint: "Rename or delete the newer one first.",
  }),
};

export function subject(of: Subject): string {
  switch (of.kind) {
    case "category":
      return `Category ${of.name}`;
    case "settings":
      return "Settings";
    case "date":
      return `${of.name} due ${of.due_on}`;
    case "payment":
      return `Payment of ${money(of)} for ${of.name}`;
    case "connection":
      return `The connection to ${of.name}`;
    case "expense":
      return of.name;
  }
}

/** How one item was reverted: a date's status, a row removed or restored, or fields set back. */
export function reversal({ what, verb, fields = [] }: { what: string; verb?: string; fields?: string[] }): string {
  if (verb === "removed" || verb === "restored") return `${what} ${verb}`;
  if (verb) return `${what} is ${verb} again`;
  // Unnamed facts may have changed as well, for example only the rate.
  return fields.length > 0 ? `${what}: ${fields.map(fieldName).join(", ")} set back` : `${what} set back`;
}

/** What could not be reverted. */
export const kept = {
  connection_ended: (what: string): string => `${what} stays ended: connect it again`,
  in_use: (what: string): string => `${what} stays: other expenses use it`,
};

/** Summaries in the list of recent changes. */
export const undoneChange = ({ verb, summary }: { verb: "undid" | "redid"; summary: string }): string =>
  `${verb === "undid" ? "Undid" : "Redid"}: ${summary}`;
