/** What a change does to things, before and after. */
import { and } from "./phrases.ts";

interface Shared {
  how: keyof typeof HOW;
  between: { member?: string | null; weight: number }[];
}

const HOW = { equally: "equally", shares: "by shares", amounts: "by amounts" };

export const effects = {
  /** After what it is called. */
  verbs: { added: "added", deleted: "deleted", changed: "changed" },
  yes: "yes",
  no: "no",
  nothing: "nothing",
  nobody: "a former member",
  uncategorized: "Uncategorized",
  /** "equally between ana@example.com and ben@example.com", "by shares between ana@example.com (2) and …" */
  shared: ({ how, between }: Shared): string =>
    `${HOW[how]} between ${
      and(
        between.map(({ member, weight }) => `${member ?? "a former member"}${how === "shares" ? ` (${weight})` : ""}`),
      )
    }`,
  /** How it reads in a line of text: "Lunch changed: amount 12.00 EUR → 14.50 EUR, date …". */
  line: ({ what, verb, fields }: { what: string; verb: string; fields: string[] }): string =>
    fields.length > 0 ? `${what} ${verb}: ${fields.join(", ")}` : `${what} ${verb}`,
  field: ({ label, before, after }: { label: string; before?: string; after?: string }): string =>
    before !== undefined && after !== undefined ? `${label} ${before} → ${after}` : `${label} ${before ?? after ?? ""}`,
  more: (count: number): string => count === 1 ? "and one more" : `and ${count} more`,
  before: "Before",
  after: "After",
};
