/** Tool arguments generated from the contracts: most valid, some nearly, some not at all. */
import fc from "fast-check";
import { type JsonSchema, PATTERNS } from "../../shared/connector/schema.ts";
import { hostileText, mostly } from "./texts.ts";

const anything = fc.oneof(fc.jsonValue({ maxDepth: 4 }), hostileText);

/** @param ids of existing records; a field that accepts an id mostly gets one of them */
export function argumentsOf(schema: JsonSchema, ids: readonly string[]): fc.Arbitrary<unknown> {
  return fc.oneof({ weight: 12, arbitrary: valueOf(schema, ids) }, { weight: 1, arbitrary: anything });
}

function valueOf(schema: JsonSchema, ids: readonly string[]): fc.Arbitrary<unknown> {
  if (schema.enum) return mostly(fc.constantFrom<string | number>(...schema.enum));
  switch (schema.type) {
    case "object": {
      const fields: Record<string, fc.Arbitrary<unknown>> = {};
      for (const [name, field] of Object.entries(schema.properties ?? {})) fields[name] = argumentsOf(field, ids);
      const known = fc.record(fields, { requiredKeys: schema.required ?? [] });
      const unknown = fc.dictionary(hostileText, anything, { maxKeys: 2 });
      return fc.oneof({ weight: 9, arbitrary: known }, { weight: 1, arbitrary: unknown });
    }
    case "array":
      return fc.array(argumentsOf(schema.items!, ids), { maxLength: 4 });
    case "boolean":
      return fc.boolean();
    case "integer":
    case "number":
      return fc.oneof(fc.integer({ min: 0, max: 100 }), fc.integer(), fc.double());
    default:
      return mostly(fc.constantFrom(...textsOf(schema, ids)));
  }
}

const DATES = ["today", "yesterday", "2026-10-01", "2024-02-29", "2026-12-31", "9999-12-31"];
const AMOUNTS = ["1.00", "14.50", "0.01", "999999999999.99", "0", "1.999"];
const WORDS = ["Rent", "Lunch", "Groceries", "Netflix", "Office", "Ünïcode ☕"];
const STATEMENT = "Date,Name,Amount,Currency\n2026-10-01,Lunch,-14.50,EUR\n2026-10-02,Taxi,-20,USD\n";

function textsOf({ pattern, maxLength = 0 }: JsonSchema, ids: readonly string[]): string[] {
  if (pattern === PATTERNS.date) return DATES;
  if (pattern === PATTERNS.amount) return AMOUNTS;
  if (pattern === PATTERNS.currency) return ["EUR", "USD", "JPY", "XXX"];
  if (pattern === PATTERNS.monthWeekday) return ["2TU", "-1FR", "4MO", "-1MO"];
  const fitting = typeof pattern === "string" ? ids.filter((id) => new RegExp(pattern).test(id)) : [];
  if (fitting.length > 0) return fitting;
  return Number(maxLength) > 10_000 ? [STATEMENT, STATEMENT.replaceAll(",", ";")] : WORDS;
}
