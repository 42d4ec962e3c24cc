/** Facts that several messages use, in the database's form. */
import * as z from "zod/mini";

/** The facts of a tool's answer or a message, before its type is known. */
export const Told = z.record(z.string(), z.unknown());
export type Told = z.infer<typeof Told>;

/** Money: a decimal string in major units, and an ISO 4217 code. */
export const Money = z.object({ amount: z.string(), currency: z.string() });
export type Money = z.infer<typeof Money>;

export const Schedule = z.object({
  frequency: z.enum(["once", "daily", "weekly", "monthly", "yearly"]),
  every: z.number(),
  /** YYYY-MM-DD, a date of the schedule. */
  anchor_on: z.string(),
  weekend_rule: z.optional(z.enum(["before", "after"])),
  ends_on: z.optional(z.string()),
  ends_after: z.optional(z.number()),
  /** In order; 31 is the last day of the month. */
  month_days: z.optional(z.array(z.number())),
  /** As in RFC 5545: `2TU` is the second Tuesday, `-1FR` the last Friday. */
  month_weekdays: z.optional(z.array(z.string())),
});
export type Schedule = z.infer<typeof Schedule>;

/** Identifies a budget; without a category, the one of all spending. */
const Budgeted = z.object({ category: z.optional(z.string()), per: z.enum(["month", "year"]) });
export type Budgeted = z.infer<typeof Budgeted>;

/** Absent once the row is purged. */
const Name = z.nullish(z.string());

/** The name of a changed row. */
export const Subject = z.discriminatedUnion("kind", [
  z.object({ kind: z.enum(["category", "connection", "expense", "statement", "payee_rule", "document"]), name: Name }),
  z.object({ kind: z.literal("settings") }),
  z.extend(Budgeted, { kind: z.literal("budget") }),
  z.object({ kind: z.literal("date"), name: Name, due_on: z.string() }),
  z.extend(Money, { kind: z.enum(["balance", "income", "payment"]), name: Name }),
  z.extend(Money, { kind: z.literal("settlement") }),
]);
export type Subject = z.infer<typeof Subject>;

/** The effects of a change or a proposal (`app.describe_effects`): the first ones, and their number. */
export const EffectFacts = z.object({
  id: z.string(),
  subject: Subject,
  verb: z.optional(z.enum(["added", "deleted", "changed"])),
  fields: z.optional(
    z.array(
      z.object({ field: z.string(), before: z.optional(z.unknown()), after: z.optional(z.unknown()) }),
    ),
  ),
});
export type EffectFacts = z.infer<typeof EffectFacts>;

/** An amount that a provider reported and the books have not applied yet. */
export const Question = z.extend(Money, {
  due_on: z.string(),
  /** YYYY-MM of the statement; required without a reason. */
  period: z.optional(z.string()),
  /** Why it cannot be applied; absent if it can be now. */
  reason: z.optional(z.enum(["unusual", "other_currency", "nothing_to_pay", "skipped", "paid", "other"])),
  usual: z.optional(z.string()),
});
export type Question = z.infer<typeof Question>;

/** The payer and each member's share of a payment, or the split of a bill; former members are absent. */
export const Shared = z.object({
  paid_by: z.optional(z.string()),
  shares: z.optional(z.array(z.object({ member: z.optional(z.string()), amount: z.string() }))),
  between: z.optional(z.array(z.object({ member: z.optional(z.string()), weight: z.number() }))),
});
export type Shared = z.infer<typeof Shared>;

/** A bill's percentage as an amount; no total counts it. */
export const ShareNote = z.object({
  percent: z.number(),
  amount: z.optional(z.string()),
  currency: z.string(),
});
export type ShareNote = z.infer<typeof ShareNote>;

/** A name that groups spending, or the reason why it is missing. */
export const Group = z.union([
  z.string(),
  z.object({
    none: z.enum([
      ...["category", "tag", "payee", "member", "former_member", "rest"] as const,
      ...["salary", "tax_refund", "rent", "other"] as const,
    ]),
  }),
]);
export type Group = z.infer<typeof Group>;
