/**
 * Fields that models write in another form: a month as a period, a frequency as one word, a name as an id. Each reader
 * returns the fields for a value, or undefined if the value already has the contract's form.
 */
import { readMonth } from "../import/date_text.ts";
import { DAYS, periodNamed, RHYTHMS, SPEAKER, weekdayNamed } from "./habits.ts";
import type { JsonSchema } from "./schema.ts";

/** Notes a reinterpretation by the path of its field. */
export type Note = (sent: unknown, meant: string) => void;

export type Fields = Record<string, unknown>;
export const isObject = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export interface FieldReading {
  value: unknown;
  schema: JsonSchema | undefined;
  /** Whether the contract has these fields and the call lacks them. */
  isFree(...names: string[]): boolean;
}

type Reader = (reading: FieldReading) => Fields | undefined;

const NEAR_DAY = /^(today|yesterday|tomorrow)$/;
const MONTH = /^\d{4}-(0[1-9]|1[0-2])$/;
const lastDayOf = (month: string): string =>
  new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0)).toISOString().slice(0, 10);

const firstOfMonth = (name: string): Reader => ({ value }) =>
  MONTH.test(String(value)) ? { [name]: `${value}-01` } : undefined;

/** A period, as the days from its first day or to its last. */
const endOfPeriod = (name: string): Reader => ({ value }) => {
  const period = typeof value === "string" ? periodNamed(value.slice(0, 40)) : undefined;
  return period && period !== value ? { [name]: period } : undefined;
};

/** A word that means the speaker. */
const speaker = (name: string): Reader => ({ value }) =>
  SPEAKER.has(String(value).toLowerCase()) ? { [name]: "me" } : undefined;

const isId = (value: unknown) => /^[a-z]{2,5}_[0-9a-z]{8,32}$/.test(String(value));

let zones: Map<string, string[]> | undefined;
function zonesByCity(): Map<string, string[]> {
  return zones ??= Map.groupBy(
    Intl.supportedValuesOf("timeZone"),
    (zone) => zone.slice(zone.lastIndexOf("/") + 1).toLowerCase(),
  );
}

const READERS: Record<string, Reader> = {
  from: (reading) => firstOfMonth("from")(reading) ?? endOfPeriod("from")(reading),
  apply_from: firstOfMonth("apply_from"),
  pause_until: firstOfMonth("pause_until"),
  // A bill has its own day of the month.
  due_on: ({ value }) => {
    if (typeof value !== "string" || weekdayNamed(value.toLowerCase())) return undefined;
    const month = readMonth(value) ?? periodNamed(value.slice(0, 40));
    return month && month !== value ? { due_on: month } : undefined;
  },
  to: (reading) =>
    MONTH.test(String(reading.value)) ? { to: lastDayOf(String(reading.value)) } : endOfPeriod("to")(reading),
  period: ({ value, schema, isFree }) => {
    const period = typeof value === "string" ? periodNamed(value.slice(0, 40)) : undefined;
    const word = String(value).trim().toLowerCase();
    const day = NEAR_DAY.test(word) ? word : nearDay(word);
    if (day && isFree("from", "to")) return { from: day, to: day };
    if (schema) {
      if (MONTH.test(String(value)) && isFree("from", "to")) {
        return { from: `${value}-01`, to: lastDayOf(String(value)) };
      }
      return schema.enum?.includes("last_30_days") && period && !schema.enum.includes(period) && period !== value
        ? { period }
        : undefined;
    }
    if (!isFree("from", "to")) return undefined;
    if (MONTH.test(String(value))) return { from: `${value}-01`, to: lastDayOf(String(value)) };
    return period ? { from: period, to: period } : undefined;
  },
  // A filter itself has no date.
  date: ({ value, schema, isFree }) =>
    schema === undefined && isFree("from", "to") ? { from: value, to: value } : undefined,
  frequency: ({ value, isFree }) => {
    const plain = String(value).toLowerCase().replace(/[\s_-]/g, "");
    return Object.hasOwn(RHYTHMS, plain) && isFree("every") ? { ...RHYTHMS[plain] } : undefined;
  },
  limit: ({ value, schema }) =>
    schema && Number(value) > Number(schema.maximum) ? { limit: schema.maximum } : undefined,
  paid_by: speaker("paid_by"),
  member: speaker("member"),
  borne_by: speaker("borne_by"),
  recorded_by: speaker("recorded_by"),
  assignee: speaker("assignee"),
  bill_id: ({ value, isFree }) => {
    if (typeof value !== "string" || value === "" || isId(value)) return undefined;
    return isFree("bill_name") ? { bill_name: value } : isFree("query") ? { query: value } : undefined;
  },
  change_id: ({ value }) => /^(last|latest|previous|most recent)$/i.test(String(value)) ? {} : undefined,
  closed_through: ({ value }) => {
    const named = typeof value === "string" ? readMonth(value) : undefined;
    if (named) return { closed_through: named };
    const month = /^(\d{4}-\d{2})-\d{2}$/.exec(String(value))?.[1];
    return month && MONTH.test(month) && lastDayOf(month) === value ? { closed_through: month } : undefined;
  },
  timezone: ({ value }) => {
    // Zones that the database knows although their names contain no city.
    const abbreviated =
      { cet: "Europe/Brussels", eet: "Europe/Athens", wet: "Europe/Lisbon" }[String(value).toLowerCase()];
    if (abbreviated) return { timezone: abbreviated };
    const city = String(value).trim().replaceAll(" ", "_").toLowerCase();
    const zones = zonesByCity().get(city) ?? [];
    return zones.length === 1 ? { timezone: zones[0] } : undefined;
  },
  type: ({ value, schema, isFree }) => {
    if (schema || value !== "expense" && value !== "refund" && value !== "income") return undefined;
    if (value === "income") return isFree("kind") ? { kind: value } : undefined;
    return value === "expense" ? {} : isFree("is_refund") ? { is_refund: true } : undefined;
  },
  // The answer always lists pending proposals.
  include: ({ value }) => {
    const sent = Array.isArray(value) ? value : [value];
    return sent.includes("proposals") ? { include: sent.filter((list) => list !== "proposals") } : undefined;
  },
  items: ({ value, schema, isFree }) => {
    const [only, another] = Array.isArray(value) ? value : [];
    if (schema || another || typeof only !== "object" || only === null || !isFree("ids", "set")) return undefined;
    const { id, ...set } = only as Fields;
    return typeof id === "string" ? { ids: [id], set } : undefined;
  },
  shared: ({ value }) => {
    if (typeof value === "string" && value !== "true" && !/^\s*[[{]/.test(value) && value !== "false" && value !== "") {
      return { shared: { between: ["me", value] } };
    }
    if (value === true || value === "true") return { shared: {} };
    if (Array.isArray(value)) return { shared: { between: value } };
    if (typeof value !== "object" || value === null || !("with" in value) || "between" in value) return undefined;
    const { with: others, ...rest } = value as Fields;
    return { shared: { ...rest, between: ["me", ...Array.isArray(others) ? others : [others]] } };
  },
  category: ({ value, schema }) => {
    if (schema?.type === "object" && typeof value === "string" && !/^\s*\{/.test(value)) {
      return { category: { action: "create", name: value } };
    }
    if (typeof value !== "object" || value === null || !("to" in value)) return undefined;
    const { to, ...rest } = value as Fields;
    const name = rest.action === "merge" ? "into" : "new_name";
    return name in rest ? undefined : { category: { ...rest, [name]: to } };
  },
  budget: ({ value }) =>
    typeof value === "object" && value !== null && "amount" in value && !("action" in value)
      ? { budget: { ...value, action: "set" } }
      : undefined,
};

/** The fields that a value stands for; undefined for a value in the contract's form. */
export const readField = (name: string, reading: FieldReading): Fields | undefined =>
  Object.hasOwn(READERS, name) ? READERS[name]!(reading) : undefined;

/** A word for a day near today; undefined for any other. */
export const nearDay = (word: string): string | undefined => Object.hasOwn(DAYS, word) ? DAYS[word] : undefined;

/** Items of a list whose negative amounts and kinds stand for other fields. */
export const readItems = (items: unknown[], schema: JsonSchema | undefined, note: Note): unknown[] =>
  refundsAmong(items.map((item) => readKind(item, schema, note)), schema, note);

/** An account's debt becomes an overdraft, an item without a kind an expense, and a refund has its own field. */
function readKind(item: unknown, schema: JsonSchema | undefined, note: Note): unknown {
  if (!schema?.properties?.kind?.enum?.includes("overdraft") || !isObject(item)) return item;
  const { kind, ...fields } = item as Fields;
  if (kind === "expense") return fields;
  if (kind === "refund") return { is_refund: true, ...fields };
  const owed = kind === "balance" ? /^\s*-\s*(?=\d)/.exec(String(fields.amount)) : null;
  if (!owed) return item;
  const amount = String(fields.amount).slice(owed[0].length);
  note(fields.amount, `overdraft, ${amount}`);
  return { ...fields, kind: "overdraft", amount };
}

/** Negative lines of a receipt are discounts and deposits; a lone negative amount could also be income. */
function refundsAmong(items: unknown[], schema: JsonSchema | undefined, note: Note): unknown[] {
  if (!schema?.properties?.is_refund) return items;
  const isNegative = (item: unknown) => isObject(item) && /^\s*-\s*\d/.test(String(item.amount));
  if (!items.some(isNegative) || items.every(isNegative)) return items;
  return items.map((item) => {
    if (!isNegative(item) || (item as Fields).is_refund !== undefined) return item;
    const amount = String((item as Fields).amount).replace(/^\s*-\s*/, "");
    note((item as Fields).amount, `is_refund, ${amount}`);
    return { ...item as Fields, amount, is_refund: true };
  });
}
