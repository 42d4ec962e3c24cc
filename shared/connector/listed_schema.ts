/**
 * The form of an input schema that `tools/list` shows: names, types, choices and descriptions. It omits limits and
 * patterns, because a model would pay for them in each conversation. The contract validates every call, and a refused
 * call's error explains the violated limits. Some clients also reject schemas with further keywords.
 */
import { type JsonSchema, LISTED_AS, LISTED_IN } from "./schema.ts";

/**
 * Accepted fields that only the contract resource describes: fields for clients that retry and synchronize, and fields
 * that an answer requests by name.
 */
const UNLISTED = new Set([
  "idempotency_key",
  "expected_version",
  "external_id",
  "expected",
  "changes_limit",
  "confirm_days",
  "create_missing_categories",
  "my_share_percent",
  "notice_days",
  "reason",
]);

/** @param isBare whether another tool describes the fields */
export function listedSchema(schema: JsonSchema, isBare = false): JsonSchema {
  if (schema[LISTED_AS]) return listedSchema(schema[LISTED_AS], isBare);
  const { type, enum: options, properties, items, required = [], [LISTED_IN]: elsewhere } = schema;
  const description = isBare ? undefined : elsewhere ? `As in ${elsewhere.tool}.` : schema.description;
  const fields = Object.entries(properties ?? {}).filter(([name]) =>
    !UNLISTED.has(name) && !elsewhere?.without.includes(name)
  );
  const below = (field: JsonSchema, name = "") =>
    listedSchema(field, isBare || (elsewhere !== undefined && !elsewhere.own.includes(name)));
  return {
    type,
    // Gemini refuses choices other than strings.
    ...(options && type === "string" && !isBare && { enum: options }),
    ...(description && { description }),
    ...(properties && { properties: Object.fromEntries(fields.map(([name, field]) => [name, below(field, name)])) }),
    ...(items && { items: below(items) }),
    ...(required.length > 0 && !isBare && { required }),
  };
}

/** Arguments in the form that `tools/list` shows: a map as a list of pairs. */
export function listedArguments(
  args: Record<string, unknown>,
  { properties = {} }: JsonSchema,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(args).map(([name, value]) => {
      const pair = properties[name]?.[LISTED_AS]?.items?.properties;
      if (!pair || typeof value !== "object") return [name, value];
      const [key, content] = Object.keys(pair) as [string, string];
      return [name, Object.entries(value!).map(([one, its]) => ({ [key]: one, [content]: its }))];
    }),
  );
}
