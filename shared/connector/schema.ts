/**
 * Building blocks of the tools' input schemas, so that an amount or a date is described in one place. Plain JSON
 * Schema: clients see it, and arguments are checked against it.
 */

export interface JsonSchema {
  type?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  required?: string[];
  enum?: readonly (string | number)[];
  additionalProperties?: boolean | JsonSchema;
  [keyword: string]: unknown;
}

/** Patterns that several fields share. */
export const PATTERNS = {
  date: "^(today|yesterday|tomorrow|\\d{4}-\\d{2}-\\d{2})$",
  amount: "^\\d{1,12}(\\.\\d{1,4})?$",
  currency: "^[A-Z]{3}$",
  /** RFC 5545 section 3.3.10, `bywdaylist`, as far as every month has one. */
  monthWeekday: "^(-1|[1-4])(MO|TU|WE|TH|FR|SA|SU)$",
  url: "^(https?://[^\\s/?#@\\\\]+([/?#]\\S*)?)?$",
};

/** An object that rejects unknown fields. */
export const object = (properties: Record<string, JsonSchema>, required: string[] = [], more: JsonSchema = {}) => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
  ...more,
});

export const text = (maxLength: number, more: JsonSchema = {}): JsonSchema => ({ type: "string", maxLength, ...more });
export const integer = (more: JsonSchema): JsonSchema => ({ type: "integer", ...more });
export const oneOf = (values: string[], more: JsonSchema = {}): JsonSchema => ({
  type: "string",
  enum: values,
  ...more,
});
export const list = (items: JsonSchema, more: JsonSchema = {}): JsonSchema => ({ type: "array", items, ...more });

/** A boolean with a default. */
export const flag = (preset: boolean, more: JsonSchema = {}): JsonSchema => ({
  type: "boolean",
  default: preset,
  ...more,
});

/** A calendar date in the owner's time zone. */
export const date = (
  description = "YYYY-MM-DD or today, in the owner's timezone.",
  more: JsonSchema = {},
): JsonSchema => ({
  type: "string",
  pattern: PATTERNS.date,
  description,
  ...more,
});

/** A decimal string in major units. The database checks the number of decimals against the currency. */
export const amount = (
  description = 'Positive decimal in major units, e.g. "14.50". Never negative.',
): JsonSchema => ({ type: "string", pattern: PATTERNS.amount, description });

export const currency = (description = "ISO 4217. Default: organization base currency."): JsonSchema => ({
  type: "string",
  pattern: PATTERNS.currency,
  description,
});

export const inCurrency = currency(
  "Convert totals to this currency (ISO 4217). Default: the organization's base currency.",
);

/** What the bank took for an amount in a foreign currency. @param more what an empty one means */
export const charged = (more = ""): JsonSchema =>
  object({ amount: amount("Positive decimal."), currency: currency() }, more ? [] : ["amount"], {
    description: `What the bank charged for a foreign amount, if known.${more}`,
  });

/** The tax in an amount; either of both follows from the other. */
export const tax = amount("Contained in amount.");
export const taxPercent: JsonSchema = { type: "number", minimum: 0, maximum: 100 };

/** Whether somebody pays it back. */
export const reimbursement = oneOf(["open", "done", "none"]);
export const reimbursedBy = text(120);

/** One id: `<prefix>_` followed by lower-case letters and digits. */
export const id = (prefix: string): JsonSchema => ({ type: "string", pattern: `^${prefix}_[0-9a-z]{8,32}$` });

/** Up to 100 distinct ids of the given kinds. */
export const ids = (...prefixes: string[]): JsonSchema =>
  list(id(`(${prefixes.join("|")})`), { minItems: 1, maxItems: 100, uniqueItems: true });

/** Name of an expense or bill. */
export const name = (more: JsonSchema = {}): JsonSchema => ({ type: "string", minLength: 1, maxLength: 120, ...more });
export const payee = text(120);
export const note = text(2000);
/** May be empty where a note may be, which removes the link. */
export const url = text(2000, { pattern: PATTERNS.url, description: "Link to the receipt or order, http(s)." });
export const category = (description = "Category name."): JsonSchema => text(60, { description });
export const inferredCategory = category("Category name. Omit to let the server infer it from payee history.");
export const categories = list(text(60), { maxItems: 20 });
export const tags = list(text(40, { minLength: 1 }), { maxItems: 10 });

/** One expense as parts of several categories. */
export const split: JsonSchema = list(object({ amount: amount("Omit in one: the rest."), category: text(60) }), {
  maxItems: 20,
});

/** The member who paid: the remainder of what is shared is theirs. */
export const paidBy = text(120);
/** Between whom something is shared, and how. */
export const shared: JsonSchema = object(
  {
    between: list(text(120, { minLength: 1 }), {
      maxItems: 20,
      description: "Members, or me. Default: all. [] = not shared.",
    }),
    shares: list(integer({ minimum: 1, maximum: 1000 }), {
      maxItems: 20,
      description: "[2,1]: in the order of between.",
    }),
    amounts: list(amount("Or what each bears."), { maxItems: 20 }),
  },
  [],
  { description: "Shared cost; equally unless shares or amounts." },
);

/** The same where log_expenses describes it, as clients see that. */
export const listedShared: JsonSchema = { type: "object", description: "As in log_expenses." };

export const query = text(120, { description: "Text in name, payee or note." });
export const limit = integer({ minimum: 1, maximum: 100, default: 25 });
export const cursor = text(512, { description: "next_cursor of the previous page." });

export const onDuplicate = oneOf(["skip", "allow"], { default: "skip" });
export const dryRun = flag(false, { description: "Preview, write nothing." });
export const idempotencyKey = text(128, {
  minLength: 8,
  description: "Same key + same arguments replays the first result. Optional.",
});

/** The filter on payments that lists and summaries share. */
export const paymentFilter = (currencyDescription = "Only amounts in this currency."): Record<string, JsonSchema> => ({
  from: date("First day, inclusive: YYYY-MM-DD or today, in the owner's timezone."),
  to: date("Last day, inclusive."),
  query,
  categories,
  not_categories: list(text(60), { maxItems: 20, description: "All but these." }),
  tags,
  payee,
  member: text(254, { description: "Who recorded it: an address, or me." }),
  min_amount: amount("In currency, or else the base currency; others are converted."),
  max_amount: amount("Likewise."),
  currency: currency(currencyDescription),
  kind: oneOf(["one_off", "bill_payment", "refund"]),
  reimbursement,
});

/** Fields that another tool describes. */
export const bare = (fields: Record<string, JsonSchema>): Record<string, JsonSchema> =>
  Object.fromEntries(Object.entries(fields).map(([key, { description: _, ...field }]) => [key, field]));

/** The same where list_expenses describes it: a change of whatever it lets through. */
export const changeFilter: JsonSchema = object(bare(paymentFilter()));
/** As clients see that: the names and types of its fields. */
export const listedChangeFilter: JsonSchema = object(
  Object.fromEntries(
    Object.entries(paymentFilter()).map(([key, { type, items, enum: values }]) => [
      key,
      { type, ...(items && { items: { type: items.type } }), ...(values && { enum: values }) },
    ]),
  ),
);

/** What is said back before many records are touched. */
export const confirm: JsonSchema = object(
  { count: integer({ minimum: 1 }), total: amount("In the base currency.") },
  ["count", "total"],
  { description: "What dry_run or the error said, once the user agreed." },
);
