/**
 * Building blocks of the tools' input schemas, so that one place describes an amount or a date. They are plain JSON
 * Schema, for clients and for checking arguments.
 */

export interface JsonSchema {
  type?: string;
  description?: string;
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  required?: string[];
  enum?: readonly (string | number)[];
  additionalProperties?: boolean | JsonSchema;
  anyOf?: JsonSchema[];
  /** Another schema that `tools/list` shows instead. */
  [LISTED_AS]?: JsonSchema;
  /** The tool whose listing describes the shared fields. Only this tool lists the fields in `without`. */
  [LISTED_IN]?: { tool: string; own: readonly string[]; without: readonly string[] };
  [keyword: string]: unknown;
}

export const LISTED_AS = Symbol("listed as");
export const LISTED_IN = Symbol("listed in");

/** Patterns that several fields share. */
export const PATTERNS = {
  date: "^(today|yesterday|tomorrow|\\d{4}-\\d{2}-\\d{2})$",
  amount: "^\\d{1,12}(\\.\\d{1,4})?$",
  currency: "^[A-Z]{3}$",
  /** RFC 5545 section 3.3.10, `bywdaylist`, limited to weekdays that every month has. */
  monthWeekday: "^(-1|[1-4])(MO|TU|WE|TH|FR|SA|SU)$",
  /** Periods besides the listed ones. `from` and `to` accept them as a beginning and an end. */
  period:
    "^((this|last|next)_(week|month|quarter|year)|last_([1-9]\\d{0,2}_days|[1-9]\\d?_(weeks|months)|[1-9]_years))$",
  /** A month in `due_on`, which means the bill's date in that month. */
  month: "^(\\d{4}|-)-(0[1-9]|1[0-2])$",
  /** A notice period, at most two years, and the day on which it ends. */
  notice:
    "^(([1-6]?\\d?\\d|7[0-2]\\d) days?|(\\d?\\d|10[0-4]) weeks?|(1?\\d|2[0-4]) months?)( to (term|month|quarter|day))?$",
  weekday: "^((last|next)_)?(mon|tues|wednes|thurs|fri|satur|sun)day$",
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

/**
 * An object with arbitrary keys. Some clients reject objects without properties, so the listing shows a list of pairs,
 * which `understand()` also accepts. @param pair the two names, as `{ question: "answer" }`
 */
export function mapOf(pair: Record<string, string>, schema: JsonSchema): JsonSchema {
  const [[key, value]] = Object.entries(pair) as [[string, string]];
  return {
    type: "object",
    ...schema,
    [LISTED_AS]: list(object({ [key]: { type: "string" }, [value]: { type: "string" } })),
  };
}

/** A boolean with a default. */
export const flag = (preset: boolean, more: JsonSchema = {}): JsonSchema => ({
  type: "boolean",
  default: preset,
  ...more,
});

/**
 * A text in a known format. The instructions explain the format, so a description adds only the field's own meaning.
 */
const formed = (pattern: string) => (description?: string, more: JsonSchema = {}): JsonSchema => ({
  type: "string",
  pattern,
  ...(description && { description }),
  ...more,
});

/** A calendar date in the owner's time zone. */
export const date = formed(PATTERNS.date);

/** A decimal string in major units. The database checks the number of decimals against the currency. */
export const amount = formed(PATTERNS.amount);

/** An ISO 4217 code; the organization's base currency by default. */
export const currency = formed(PATTERNS.currency);

export const inCurrency = currency("Converts totals.");

/** The amount that the bank charged for a foreign amount. @param more the meaning of an empty amount */
export const charged = (more = ""): JsonSchema =>
  object({ amount: amount(), currency: currency() }, more ? [] : ["amount"], {
    description: `What the bank charged for a foreign amount.${more}`,
  });

/** The tax in an amount, as an amount or a rate; either determines the other. */
export const tax = amount("Contained in amount.");
export const taxPercent: JsonSchema = { type: "number", minimum: 0, maximum: 100 };

/** Whether somebody reimburses the expense. */
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
/** A link. In tools where an empty text removes a note, it removes a link too. */
export const url = text(2000, { pattern: PATTERNS.url, description: "Receipt or order." });
export const category = (description?: string): JsonSchema => text(60, description ? { description } : {});
export const inferredCategory = category("Omit: inferred.");
export const categories = list(text(60), { maxItems: 20 });
export const tags = list(text(40, { minLength: 1 }), { maxItems: 10 });

/** One expense as parts of several categories. */
export const split: JsonSchema = list(object({ amount: amount(), category: text(60) }), {
  maxItems: 20,
  description: "The last without amount: the rest.",
});

/** The member who paid and therefore gets the remainder of a shared cost. */
export const paidBy = text(120);
/** The members who share a cost, and how. */
export const shared: JsonSchema = object(
  {
    between: list(text(120, { minLength: 1 }), {
      maxItems: 20,
      description: "Default all; [] = not shared.",
    }),
    shares: list(integer({ minimum: 1, maximum: 1000 }), {
      maxItems: 20,
      description: "[2,1], as in between.",
    }),
    amounts: list(amount(), { maxItems: 20 }),
  },
  [],
  { description: "Equally unless shares or amounts." },
);

/** The contract behind a bill, with the parts that the person states. */
export const billContract: JsonSchema = object({
  started_on: date(),
  term_months: integer({ minimum: 0, maximum: 240, description: "Minimum; 0 = none." }),
  renewal_months: integer({ minimum: 0, maximum: 240, description: "0 = open end." }),
  notice: {
    type: "string",
    pattern: PATTERNS.notice,
    description: '"3 months to quarter" (or term, month, day).',
  },
  form: oneOf(["letter", "email", "online", "any"]),
  customer_number: text(60),
  address: text(300),
});

/**
 * A schema whose fields another tool's listing describes.
 * @param own fields that the other tool does not have @param without fields that only the other tool lists
 */
export const listedIn = (
  tool: string,
  schema: JsonSchema,
  own: readonly string[] = [],
  without: readonly string[] = [],
): JsonSchema => ({ ...schema, [LISTED_IN]: { tool, own, without } });

export const query = text(120, { description: "Words of name, payee or note." });
export const limit = integer({ minimum: 1, maximum: 100, default: 25 });
export const cursor = text(512);

export const onDuplicate = oneOf(["skip", "allow"], { default: "skip" });
export const dryRun = flag(false);
export const idempotencyKey = text(128, {
  minLength: 8,
  description: "Same key + same arguments replays the first result. Optional.",
});

/** The filter on payments that lists and summaries share. */
export const paymentFilter = (): Record<string, JsonSchema> => ({
  from: date(),
  to: date("Inclusive."),
  query,
  categories,
  not_categories: list(text(60), { maxItems: 20 }),
  tags,
  payee,
  member: text(254, { description: "Who paid." }),
  recorded_by: text(254),
  min_amount: amount("In currency, else by base value; with max also as charged."),
  max_amount: amount(),
  currency: currency("Only this one."),
  kind: oneOf(["one_off", "bill_payment", "refund"]),
  reimbursement,
});

/** The same filter in a tool whose description refers to list_expenses. */
export const barePaymentFilter: Record<string, JsonSchema> = Object.fromEntries(
  Object.entries(paymentFilter()).map(([name, { description: _, ...field }]) => [
    name,
    field.enum ? { ...field, [LISTED_AS]: { type: "string" } } : field,
  ]),
);

/** Rarely used for changes; list_expenses describes them. */
const RARE_IN_CHANGES = ["not_categories", "recorded_by", "kind", "reimbursement"];

/** The same filter in tools that change the matches; list_expenses describes its fields. */
export const changeFilter: JsonSchema = listedIn("list_expenses", object(paymentFilter()), [], RARE_IN_CHANGES);
/** The text that a caller must repeat before a change of many records. */
export const confirm: JsonSchema = object(
  { count: integer({ minimum: 1 }), total: amount() },
  ["count", "total"],
  { description: "As the preview gave." },
);
