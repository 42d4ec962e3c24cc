/** Puts the effects of a change or a proposal into words (`app.describe_effects`). */
import * as z from "zod/mini";
import type { EffectFacts, Money, Schedule, Told } from "./facts.ts";
import { DATA_FORMAT, type EffectFormat } from "./effect_format.ts";
import type { Words } from "./words.ts";

export interface Effect {
  id: string;
  /** Its familiar name, such as "Lunch" or "Rent due 2026-12-01". */
  what: string;
  verb: "added" | "deleted" | "changed";
  fields: EffectField[];
}

/** A field before and after. A new field has only `after`, a removed one only `before`. */
export interface EffectField {
  label: string;
  before?: string;
  after?: string;
}

export interface Effects {
  effects: Effect[];
  /** The number of further effects. */
  more: number;
}

/** @param facts `{effects, effects_count}` of `app.describe_effects`. */
export function tellEffects(
  { effects: facts = [], effects_count = 0 }: { effects?: readonly EffectFacts[]; effects_count?: number },
  words: Words,
  format: EffectFormat = DATA_FORMAT,
): Effects {
  const effects = facts.map(({ id, subject, verb = "changed", fields = [] }): Effect => ({
    id,
    what: typed(words.subject(subject, format), format),
    verb,
    // A record named by its amount need not repeat it.
    fields: fields.filter(({ field }) =>
      !["balance", "payment"].includes(subject.kind) || verb === "changed" || field !== "amount_minor"
    )
      .map(({ field, before, after }) => {
        // Flags appear only when true.
        const isFlag = before === true || after === true;
        const of = (value: unknown) =>
          field === "contract" && value
            ? tellContract(value as Told, words.effects, format)
            : tellValue(value ?? (isFlag ? false : undefined), words.effects, format);
        const shown = verb === "changed" || before !== undefined && after !== undefined;
        return {
          label: words.fieldName(field),
          ...((shown || before !== undefined) && { before: of(before) }),
          ...((shown || after !== undefined) && { after: of(after) }),
        };
      }),
  }));
  return { effects, more: effects_count - effects.length };
}

const typed = (text: string, { text: write }: EffectFormat): string => write ? write(text) : text;

/** Each effect as one line of text, for assistants and mails. */
export function effectLines({ effects, more }: Effects, words: Words): string[] {
  const { effects: said } = words;
  return [
    ...effects.map(({ what, verb, fields }) =>
      said.line({ what, verb: said.verbs[verb], fields: fields.map((field) => said.field(field)) })
    ),
    ...(more > 0 ? [said.more(more)] : []),
  ];
}

/** Values of a field besides text, numbers and lists. */
type FieldValue =
  | Money
  | { shared: Sharing }
  | { percent: number }
  | { days: Schedule }
  | { category: string | null }
  | { person: string | null };

function tellValue(value: unknown, said: Words["effects"], format: EffectFormat): string {
  const tell = (one: unknown) => tellValue(one, said, format);
  if (value === undefined || value === null) return said.nothing;
  if (typeof value === "boolean") return value ? said.yes : said.no;
  if (Array.isArray(value)) {
    return value.length === 0 ? said.nothing : value.map(tell).join(", ");
  }
  if (typeof value === "object") {
    const told = value as FieldValue;
    if ("currency" in told) return format.money(told.amount, told.currency);
    if ("shared" in told) return tellSharing(told.shared, said);
    if ("percent" in told) return said.percent(told.percent);
    if ("days" in told) return said.monthDays(told.days);
    if ("category" in told) return told.category ? typed(told.category, format) : said.uncategorized;
    if ("person" in told) return told.person ?? said.nobody;
    // Nested settings, such as a person's choice of emails.
    return Object.entries(value as Told).map(([key, one]) => `${key.replaceAll("_", " ")}: ${tell(one)}`)
      .join(", ");
  }
  const text = String(value);
  return /^\d{4}-\d{2}-\d{2}$/.test(text) ? format.date(text) : typed(text, format);
}

const tellContract = (contract: Told, said: Words["effects"], format: EffectFormat): string =>
  Object.entries(contract).map(([key, value]) => said.contract(key, String(value), tellValue(value, said, format)))
    .join(", ");

/** How records are shared, in the database's form. */
export const Sharing = z.object({
  how: z.enum(["equally", "shares", "amounts"]),
  between: z.array(z.object({ member: z.optional(z.nullable(z.string())), weight: z.number() })),
});
export type Sharing = z.infer<typeof Sharing>;

/** "equally between ana@example.com and ben@example.com", "by shares between ana@example.com (2) and …" */
export const tellSharing = ({ how, between }: Sharing, said: Words["effects"]): string => said.shared[how](between);
