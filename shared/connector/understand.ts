/**
 * Reads arguments as the caller meant them if only one meaning is possible: `eur`, `"14,50"`, `20`, `"1 Nov"`, one
 * value for a list. Models send all of these, and even an error with a good hint costs a call. It follows the
 * contract's schema, so all tools and fields behave alike, and leaves undescribed fields alone. Ambiguous values
 * remain unchanged, and the validator refuses them with a hint. The database resolves a day without a year, because
 * only it knows the person's day. Takes time linear in the size of the arguments.
 */
import { readDate, readYearlessDay, toIsoDate } from "../import/date_text.ts";
import { decimalSignOf, isCode, readCurrency, readMoney, toDecimal } from "../import/money_text.ts";
import { choicesFor, currencyNamed, fieldsFor, monthWeekdayNamed, weekdayNamed } from "./habits.ts";
import { type JsonSchema, LISTED_AS, PATTERNS } from "./schema.ts";
import { cleanStrings } from "./typed_text.ts";
import { type Fields, isObject, nearDay, type Note, readField, readItems } from "./understand_field.ts";

export type { Note } from "./understand_field.ts";

/**
 * @param value JSON data that was sent for `schema`. @param note gets reinterpreted names and values, but no plain
 * change of form, such as "14,50" or "last friday".
 */
export function understand(value: unknown, schema: JsonSchema | undefined, note: Note = () => {}): unknown {
  const type = schema?.type;
  if (typeof value === "string" && (type === "object" || type === "array")) value = readJson(value);
  switch (type) {
    case "object":
      if (Array.isArray(value) && schema![LISTED_AS]) value = mapFromPairs(value, schema![LISTED_AS]);
      if (!isObject(value)) return value;
      return schema!.properties ? understandFields(value, schema!, note) : understandMap(value, schema!, note);
    case "array":
      return understandList(value, schema!, note);
    case "boolean":
      return understandBoolean(value);
    case "integer":
    case "number":
      return typeof value === "string" && /^-?\d{1,9}(\.\d{1,9})?$/.test(value) ? Number(value) : value;
    case "string":
      return understandText(Array.isArray(value) && value.length === 1 ? value[0] : value, schema!, note);
    default:
      // Clients treat an answer that may be a text or a boolean as a text.
      return schema?.anyOf?.some(({ type }) => type === "boolean") ? understandBoolean(value) : value;
  }
}

/** An object or a list that was sent as its JSON text. */
function readJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return cleanStrings(JSON.parse(text));
  } catch {
    return text;
  }
}

function understandBoolean(value: unknown): unknown {
  const word = typeof value === "string" ? value.toLowerCase() : value;
  if (word === "true" || word === "yes" || word === "1" || word === 1) return true;
  return word === "false" || word === "no" || word === "0" || word === 0 ? false : value;
}

/** Whether null is ambiguous in an object, because it could clear the field or keep it. */
export const isChange = (schema: JsonSchema | undefined): boolean => schema?.minProperties !== undefined;

const ISO_DAY = /^\d{4}-\d{2}-\d{2}$/;

function understandFields(given: Fields, schema: JsonSchema, note: Note): Fields {
  const { properties = {}, required = [] } = schema;
  const sent = nestFlatFields(liftNestedFields(given, properties, note), schema, note);
  const isFree = (...names: string[]) =>
    names.every((name) => Object.hasOwn(properties, name) && !Object.hasOwn(sent, name) && !read.has(name));
  const read = new Map<string, unknown>();
  let currency: string | undefined;
  for (const [key, value] of Object.entries(sent)) {
    const meant = nameOf(key, value, sent, properties);
    const name = read.has(meant) ? key : meant;
    const field = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (field && !required.includes(name) && !isChange(schema) && isNothing(value, field)) continue;
    if (fieldsFor(plainName(key)).includes(name)) note(key, name);
    const money = field?.pattern === PATTERNS.amount ? moneyWithCurrency(value) : undefined;
    if (money && properties.currency && agrees(sent.currency, money.currency) && agrees(currency, money.currency)) {
      currency = money.currency;
      read.set(name, money.amount);
      continue;
    }
    const fields = readField(name, { value, schema: field, isFree });
    if (fields) note(`${name} ${JSON.stringify(value)}`.slice(0, 60), JSON.stringify(fields).slice(0, 60));
    for (const [one, content] of Object.entries(fields ?? { [name]: value })) {
      read.set(one, understand(content, Object.hasOwn(properties, one) ? properties[one] : undefined, note));
    }
  }
  if (currency) read.set("currency", currency);
  const [from, to] = [read.get("from"), read.get("to")].map(String);
  // A period has one beginning, so its two days may come in any order.
  if (properties.from?.pattern === PATTERNS.date && ISO_DAY.test(from!) && ISO_DAY.test(to!) && from! > to!) {
    note(`from ${from}, to ${to}`, `from ${to}, to ${from}`);
    read.set("from", to).set("to", from);
  }
  return Object.fromEntries(read);
}

/** Moves misplaced fields out of a change: `set: { apply_from }`. */
function liftNestedFields(sent: Fields, properties: Record<string, JsonSchema>, note: Note): Fields {
  const [name, { properties: fields = {} }] = Object.entries(properties).find(([, schema]) => isChange(schema)) ??
    ["", {}];
  const change = sent[name];
  if (!isObject(change)) return sent;
  const lifted = Object.entries(change).filter(([key]) =>
    !Object.hasOwn(fields, key) && Object.hasOwn(properties, key) && !Object.hasOwn(sent, key)
  );
  if (lifted.length === 0) return sent;
  for (const [key] of lifted) note(`${name}.${key}`, key);
  const kept = Object.entries(change).filter(([key]) => !lifted.some(([other]) => other === key));
  return { ...sent, ...Object.fromEntries(lifted), [name]: Object.fromEntries(kept) };
}

/**
 * Moves fields into the object or list that they belong to: `{ name, amount }` without `items`, `{ note }` without
 * `set`. If several places fit, the change gets them. An object or list that the call already contains remains
 * unchanged.
 */
function nestFlatFields(sent: Fields, { properties = {}, required = [] }: JsonSchema, note: Note): Fields {
  const isKnown = (key: string, value: unknown, fields = properties) =>
    Object.hasOwn(fields, nameOf(key, value, sent, fields));
  const strays = Object.entries(sent).filter(([key, value]) => !isKnown(key, value));
  if (strays.length === 0) return sent;
  const places = Object.entries(properties).flatMap(([name, { items, ...schema }]) => {
    const fields = schema.type === "object"
      ? schema.properties
      : required.includes(name)
      ? items?.properties
      : undefined;
    const holdsAll = fields && strays.every(([key, value]) => isKnown(key, value, fields));
    return holdsAll && !Object.hasOwn(sent, name)
      ? [{ name, isList: items !== undefined, isChange: isChange(schema) }]
      : [];
  });
  const [place, another] = places.toSorted((a, b) => Number(b.isChange) - Number(a.isChange));
  if (!place || (another && !place.isChange)) return sent;
  // The level above may have the same fields as the items, such as a name.
  const moved = Object.fromEntries(strays);
  const kept = Object.fromEntries(Object.entries(sent).filter(([key]) => !Object.hasOwn(moved, key)));
  note(strays.map(([key]) => key).join(", "), `${place.name}.${strays.map(([key]) => key).join(", ")}`);
  return { ...kept, [place.name]: place.isList ? [moved] : moved };
}

/** `[{ currency: "EUR", amount: "5" }]` as `{ EUR: "5" }`; undefined for a repeated key, which is ambiguous. */
function mapFromPairs(pairs: unknown[], { items }: JsonSchema): unknown {
  const [key, value] = Object.keys(items!.properties!) as [string, string];
  const entries = pairs.map((pair) => isObject(pair) ? [pair[key], pair[value]] as const : []);
  const keys = new Set(entries.map(([name]) => name));
  const isMap = keys.size === pairs.length && [...keys].every((name) => typeof name === "string");
  return isMap ? Object.fromEntries(entries) : pairs;
}

const understandMap = (map: Fields, { additionalProperties }: JsonSchema, note: Note): Fields =>
  typeof additionalProperties === "object"
    ? Object.fromEntries(
      Object.entries(map).map(([key, value]) => [key, understand(value, additionalProperties, note)]),
    )
    : map;

/** The field that a name stands for: `category` for `categories`, `groupBy` for `group_by`, `merchant` for `payee`. */
function nameOf(key: string, value: unknown, sent: Fields, properties: Record<string, JsonSchema>): string {
  if (Object.hasOwn(properties, key) || key.length > 60) return key;
  const plain = plainName(key);
  const candidates = [plain, `${plain}s`, plain.replace(/y$/, "ies")];
  if (!Array.isArray(value) || value.length === 1) candidates.push(plain.replace(/ies$/, "y"), plain.replace(/s$/, ""));
  candidates.push(...fieldsFor(plain));
  return candidates.find((name) => Object.hasOwn(properties, name) && !Object.hasOwn(sent, name)) ?? key;
}

const plainName = (key: string) => key.trim().replace(/(?<=[a-z])(?=[A-Z])|[\s-]+/g, "_").toLowerCase();
const plainChoice = (text: string) => text.toLowerCase().replace(/[\s_-]/g, "");

/** A field with an empty value. */
const isNothing = (value: unknown, { type }: JsonSchema) =>
  value === null || (value === "" && (type === "string" || type === "array"));

const agrees = (given: unknown, currency: string) =>
  given === undefined || given === null || given === "" || understandCurrency(given) === currency;

function understandList(value: unknown, { items, maxItems }: JsonSchema, note: Note): unknown {
  // Refuses the list, even if its items are readable.
  if (Array.isArray(value) && value.length > Number(maxItems ?? Infinity)) return value;
  if (Array.isArray(value)) return readItems(value, items, note).map((item) => understand(item, items, note));
  if (isObject(value)) return items?.type === "object" ? [understand(value, items, note)] : value;
  if (value === null || value === undefined || items?.type === "object") return value;
  if (typeof value !== "string") return [understand(value, items, note)];
  if (items?.enum && plainChoice(value) === "all") return [...items.enum];
  // A text in the list may contain a comma.
  const isShort = items?.enum || (items?.type === "string" && !items.pattern && Number(items.maxLength) <= 40);
  const parts = isShort ? value.split(",", (items.enum?.length ?? 10) + 1).map((part) => part.trim()) : [value];
  return parts.map((part) => understand(part, items, note));
}

function understandText(value: unknown, schema: JsonSchema, note: Note): unknown {
  if (schema.enum) return understandOption(value, schema.enum, note);
  switch (schema.pattern) {
    case PATTERNS.amount:
      return understandAmount(value, note);
    case PATTERNS.date:
      return understandDate(value, note);
    case PATTERNS.currency:
      return understandCurrency(value, note);
    case PATTERNS.monthWeekday: {
      const meant = typeof value === "string" ? monthWeekdayNamed(value.slice(0, 40)) : undefined;
      if (meant) note(value, meant);
      return meant ?? value;
    }
    default:
      return value;
  }
}

function understandOption(value: unknown, options: NonNullable<JsonSchema["enum"]>, note: Note): unknown {
  if ((typeof value !== "string" && typeof value !== "boolean") || String(value).length > 60) return value;
  const plain = plainChoice(String(value));
  const same = options.filter((option) => plainChoice(String(option)) === plain);
  if (same.length === 1) return same[0];
  const meant = options.filter((option) => choicesFor(plain).includes(String(option)));
  if (meant.length !== 1) return value;
  note(value, String(meant[0]));
  return meant[0];
}

/** Numbers are major units, like the contract's decimal text. */
function understandAmount(value: unknown, note: Note): unknown {
  if (typeof value === "number" && Math.abs(value) < 1e12) return String(value);
  if (typeof value !== "string" || new RegExp(PATTERNS.amount).test(value)) return value;
  const thousands = /^(\d{1,6})(?:\.(\d{1,3}))?\s?k$/i.exec(value.trim());
  if (thousands) {
    const meant = `${thousands[1]}${(thousands[2] ?? "").padEnd(3, "0")}`;
    note(value, meant);
    return meant;
  }
  const money = readMoney(value);
  return money && !money.isNegative && !money.currency ? decimalOf(money.digits) ?? value : value;
}

function moneyWithCurrency(value: unknown): { amount: string; currency: string } | undefined {
  if (typeof value !== "string") return undefined;
  const [, digits, word] = /^([\d.,]{1,20}) ?(\p{L}{3,20})$/u.exec(value.trim()) ?? [];
  const named = word && currencyNamed(word);
  const money = named ? { ...readMoney(digits!)!, currency: named } : readMoney(value);
  if (!money?.currency || money.isNegative || !/^[A-Z]{3}$/.test(money.currency)) return undefined;
  const amount = decimalOf(money.digits);
  return amount === undefined ? undefined : { amount, currency: money.currency };
}

/** Undefined if the point or comma may separate thousands or decimals. */
function decimalOf(digits: string): string | undefined {
  const sign = decimalSignOf(digits);
  return sign || !/[.,]/.test(digits) ? toDecimal(digits, sign ?? ".") : undefined;
}

function understandCurrency(value: unknown, note: Note = () => {}): unknown {
  if (typeof value !== "string" || value.length > 40) return value;
  const code = value.length <= 10 ? readCurrency(value) : undefined;
  const named = code && isCode(code) ? undefined : currencyNamed(value);
  if (!named && code && /^[A-Z]{3}$/.test(code)) return code;
  if (named) note(value, named);
  return named ?? value;
}

function understandDate(value: unknown, note: Note): unknown {
  if (typeof value !== "string" || value.length > 60) return value;
  const plain = value.trim().toLowerCase();
  if ([PATTERNS.date, PATTERNS.weekday].some((form) => new RegExp(form).test(plain))) return plain;
  const instant = /^(\d{4}-\d{2}-\d{2})[t ]\d{1,2}:\d{2}/.exec(plain);
  const word = nearDay(plain) ?? weekdayNamed(plain);
  const days = possibleDays(value);
  const meant = word ?? instant?.[1] ?? (days.length === 1 ? days[0] : readYearlessDay(value));
  if (meant && (instant || word && word !== plain.replaceAll(" ", "_"))) note(value, meant);
  return meant ?? value;
}

/** The days that a text may mean: none, one, or two if day and month could be swapped. */
export function possibleDays(sent: string): string[] {
  const date = readDate(sent);
  // Two digits could be a year or a day.
  if (!date || !/\d{4}/.test(sent)) return [];
  const days = date.order ? [toIsoDate(date, date.order)] : [toIsoDate(date, "DMY"), toIsoDate(date, "MDY")];
  return [...new Set(days.filter((day) => day !== undefined))];
}
