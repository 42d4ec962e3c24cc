/** `forecast`: a sentence for each expected entry, assumption and omission. */
import * as z from "zod/mini";
import { presenter } from "../../../../shared/connector/tool.ts";
import type { Words } from "../../../../shared/words/words.ts";

const Point = z.object({ on: z.string(), low: z.string(), likely: z.string(), high: z.string() });
const Expected = z.looseObject({
  currency: z.string(),
  lowest: Point,
  end: Point,
  after_spending: z.optional(z.object({ amount: z.string(), on: z.string(), lowest: Point, end: Point })),
});
export type Expected = z.infer<typeof Expected>;

const Money = { amount: z.string(), currency: z.string() };
const Names = z.array(z.string());
const Assumption = z.object({
  ...Money,
  what: z.enum(["usual_spending", "usual_flow", "bill", "income"]),
  name: z.optional(z.string()),
  since: z.optional(z.string()),
  weeks: z.optional(z.number()),
  give_or_take: z.string(),
});
const LeftOut = z.discriminatedUnion("code", [
  z.object({ code: z.enum(["no_balance", "bill_without_amount", "in_total_only"]), names: Names }),
  z.object({ code: z.literal("old_balance"), name: z.string(), on: z.string(), ...Money }),
  z.object({ code: z.literal("no_rate"), currencies: Names }),
  z.object({ code: z.enum(["payments_without_line", "budgets_instead"]), ...Money }),
  z.object({
    code: z.literal("income_unplaced"),
    items: z.array(z.object({ ...Money, name: z.string(), on: z.string() })),
  }),
  z.object({ code: z.literal("income_late"), name: z.string(), on: z.string(), is_counted: z.boolean(), ...Money }),
  z.object({ code: z.enum(["income_stopped", "income_later"]), name: z.string(), on: z.string(), ...Money }),
  z.object({ code: z.literal("income_alike"), name: z.string(), other: z.string(), on: z.string() }),
  z.object({ code: z.literal("accounts_differ"), total: z.string(), ...Money }),
  z.object({
    code: z.literal("recurring_unplanned"),
    count: z.number(),
    items: z.array(z.object({ ...Money, name: z.string() })),
  }),
  z.object({ code: z.enum(["spending_unknown", "spending_in_total_only", "no_income"]) }),
]);

const Forecast = z.object({
  until: z.string(),
  today: z.string(),
  total: Expected,
  accounts: z.array(z.extend(Expected, {
    account: z.string(),
    known: z.object({ amount: z.string(), on: z.string(), source: z.string() }),
  })),
  days: z.array(z.extend(Point, { changes: z.optional(z.array(z.string())) })),
  assumptions: z.array(Assumption),
  left_out: z.array(LeftOut),
  limit: z.optional(z.object({
    ...Money,
    below: z.array(z.object({
      account: z.optional(z.string()),
      on: z.string(),
      low: z.string(),
      likely: z.string(),
      currency: z.string(),
    })),
    already_below: z.optional(z.array(z.object({ ...Money, account: z.optional(z.string()) }))),
    no_rate: z.optional(z.array(z.object({ account: z.optional(z.string()), currency: z.string() }))),
  })),
});

const presentForecast = (data: z.infer<typeof Forecast>, { forecast }: Words) => ({
  ...data,
  total: { text: forecast.expected(data.total), ...data.total },
  accounts: data.accounts.map(({ account, ...one }) => ({ account, text: forecast.expected(one), ...one })),
  assumptions: data.assumptions.map((one) => ({ ...one, text: forecast.assumption(one, data.until) })),
  left_out: data.left_out.map((one) => forecast.leftOut[one.code](one as never)),
  ...(data.limit && { limit: { text: forecast.limit(data.limit, data.until), ...data.limit } }),
});

export const answer = presenter(Forecast, presentForecast);
