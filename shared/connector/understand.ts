/**
 * Reads arguments as they were meant where that leaves a single meaning: `eur`, `"14,50"`, `20`, `"1 Nov"`, one value
 * for a list of them. Follows the contract's own schema and touches nothing it does not describe; what could mean two
 * things stays as it was sent, and is refused with what to send instead. Takes time linear in what was sent.
 */
import { readDate, readYearlessDay, toIsoDate } from "../import/date_text.ts";
import { decimalSignOf, readCurrency, readMoney, toDecimal } from "../import/money_text.ts";
import { type JsonSchema, LISTED_AS, PATTERNS } from "./schema.ts";

type Fields = Record<string, unknown>;

/** @param value JSON data that was sent for `schema`. */
export function understand(value: unknown, schema: JsonSchema | undefined): unknown {
  switch (schema?.type) {
    case "object":
      if (Array.isArray(value) && schema[LISTED_AS]) return mapFromPairs(value, schema[LISTED_AS]);
      return isObject(value) && schema.properties ? understandFields(value, schema) : value;
    case "array":
      return understandList(value, schema);
    case "boolean":
      return value === "true" ? true : value === "false" ? false : value;
    case "integer":
    case "number":
      return typeof value === "string" && /^-?\d{1,9}(\.\d{1,9})?$/.test(value) ? Number(value) : value;
    case "string":
      return understandText(Array.isArray(value) && value.length === 1 ? value[0] : value, schema);
    default:
      return value;
  }
}

/** Whether null could mean two things in an object: to empty the field, or not to touch it. */
export const isChange = (schema: JsonSchema | undefined): boolean => schema?.minProperties !== undefined;

const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function understandFields(sent: Fields, schema: JsonSchema): Fields {
  const { properties = {}, required = [] } = schema;
  const read = new Map<string, unknown>();
  let currency: string | undefined;
  for (const [key, value] of Object.entries(sent)) {
    const meant = nameOf(key, value, sent, properties);
    const name = read.has(meant) ? key : meant;
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (field && !required.includes(name) && !isChange(schema) && isNothing(value, field)) continue;
    const money = field?.pattern === PATTERNS.amount ? moneyWithCurrency(value) : undefined;
    if (money && properties.currency && agrees(sent.currency, money.currency) && agrees(currency, money.currency)) {
      currency = money.currency;
      read.set(name, money.amount);
    } else {
      read.set(name, understand(value, field));
    }
  }
  if (currency) read.set("currency", currency);
  return Object.fromEntries(read);
}

/** `[{ currency: "EUR", amount: "5" }]` as `{ EUR: "5" }`; a repeated key has two meanings. */
function mapFromPairs(pairs: unknown[], { items }: JsonSchema): unknown {
  const [key, value] = Object.keys(items!.properties!) as [string, string];
  const entries = pairs.map((pair) => isObject(pair) ? [pair[key], pair[value]] as const : []);
  const keys = new Set(entries.map(([name]) => name));
  const isMap = keys.size === pairs.length && [...keys].every((name) => typeof name === "string");
  return isMap ? Object.fromEntries(entries) : pairs;
}

/** The field that a name stands for: `category` for `categories`, `groupBy` for `group_by`. */
function nameOf(key: string, value: unknown, sent: Fields, properties: Record<string, JsonSchema>): string {
  if (Object.hasOwn(properties, key) || key.length > 60) return key;
  const plain = key.trim().replace(/(?<=[a-z])(?=[A-Z])|[\s-]+/g, "_").toLowerCase();
  const candidates = [plain, `${plain}s`, plain.replace(/y$/, "ies")];
  if (!Array.isArray(value) || value.length === 1) candidates.push(plain.replace(/ies$/, "y"), plain.replace(/s$/, ""));
  return candidates.find((name) => Object.hasOwn(properties, name) && !Object.hasOwn(sent, name)) ?? key;
}

/** A field that was filled in with nothing. */
const isNothing = (value: unknown, { type }: JsonSchema) =>
  value === null || (value === "" && (type === "string" || type === "array"));

const agrees = (given: unknown, currency: string) =>
  given === undefined || given === null || given === "" || understandCurrency(given) === currency;

function understandList(value: unknown, { items }: JsonSchema): unknown {
  if (Array.isArray(value)) return value.map((item) => understand(item, items));
  if (isObject(value)) return items?.type === "object" ? [understand(value, items)] : value;
  if (value === null || value === undefined || items?.type === "object") return value;
  // Only values of a closed list are told apart by commas: other texts may contain one.
  const parts = typeof value === "string" && items?.enum ? value.split(",", items.enum.length + 1) : [value];
  return parts.map((part) => understand(part, items));
}

function understandText(value: unknown, { pattern, enum: options }: JsonSchema): unknown {
  if (options) return understandOption(value, options);
  switch (pattern) {
    case PATTERNS.amount:
      return understandAmount(value);
    case PATTERNS.date:
      return understandDate(value);
    case PATTERNS.currency:
      return understandCurrency(value);
    default:
      return value;
  }
}

function understandOption(value: unknown, options: NonNullable<JsonSchema["enum"]>): unknown {
  if (typeof value !== "string" || value.length > 60) return value;
  const plain = (text: string) => text.toLowerCase().replace(/[\s_-]/g, "");
  const meant = options.filter((option) => plain(String(option)) === plain(value));
  return meant.length === 1 ? meant[0] : value;
}

/** Numbers are major units, as the contract says of the text. */
function understandAmount(value: unknown): unknown {
  if (typeof value === "number" && Math.abs(value) < 1e12) return String(value);
  if (typeof value !== "string" || new RegExp(PATTERNS.amount).test(value)) return value;
  const money = readMoney(value);
  return money && !money.isNegative && !money.currency ? decimalOf(money.digits) ?? value : value;
}

function moneyWithCurrency(value: unknown): { amount: string; currency: string } | undefined {
  const money = typeof value === "string" ? readMoney(value) : undefined;
  if (!money?.currency || money.isNegative || !/^[A-Z]{3}$/.test(money.currency)) return undefined;
  const amount = decimalOf(money.digits);
  return amount === undefined ? undefined : { amount, currency: money.currency };
}

/** Undefined where the point or comma may stand for thousands or decimals. */
function decimalOf(digits: string): string | undefined {
  const sign = decimalSignOf(digits);
  return sign || !/[.,]/.test(digits) ? toDecimal(digits, sign ?? ".") : undefined;
}

function understandCurrency(value: unknown): unknown {
  const code = typeof value === "string" && value.length <= 10 ? readCurrency(value) : undefined;
  return code && /^[A-Z]{3}$/.test(code) ? code : value;
}

function understandDate(value: unknown): unknown {
  if (typeof value !== "string" || value.length > 60) return value;
  const plain = value.trim().toLowerCase();
  if (new RegExp(PATTERNS.date).test(plain)) return plain;
  const days = possibleDays(value);
  return days.length === 1 ? days[0] : readYearlessDay(value) ?? value;
}

/** The days a text may stand for: none, one, or two where day and month could be swapped. */
export function possibleDays(sent: string): string[] {
  const date = readDate(sent);
  // Two digits could be a year or a day; a time with a zone could be another day for the owner.
  if (!date || !/\d{4}/.test(sent) || /[T\s](?!00:00)\d{1,2}:\d{2}.*(z|[+-]\d{2}:?\d{2})$/i.test(sent.trim())) {
    return [];
  }
  const days = date.order ? [toIsoDate(date, date.order)] : [toIsoDate(date, "DMY"), toIsoDate(date, "MDY")];
  return [...new Set(days.filter((day) => day !== undefined))];
}
