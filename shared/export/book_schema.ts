/** The JSON Schema of an export's files: one definition per kind of record, for a line of its JSON Lines file. */
import { BOOKS, type Columns, type ColumnType, type Part, PARTS } from "./books.ts";

const TYPES: Record<ColumnType, Record<string, unknown>> = {
  text: { type: "string" },
  integer: { type: "integer" },
  flag: { type: "boolean" },
  day: { type: "string", format: "date" },
  instant: { type: "string", format: "date-time" },
  decimal: { type: "string", pattern: "^-?[0-9]+(\\.[0-9]+)?$" },
  texts: { type: "array", items: { type: "string" } },
  integers: { type: "array", items: { type: "integer" } },
  object: { type: "object" },
};

/** @param titles each file's title for people. */
export function bookSchema(titles: Readonly<Record<Part, string>>): Record<string, unknown> {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $defs: Object.fromEntries(PARTS.map((part) => [part, recordSchema(titles[part], BOOKS[part])])),
  };
}

const recordSchema = (title: string, columns: Columns) => ({
  title,
  type: "object",
  properties: Object.fromEntries(Object.entries(columns).map(([name, type]) => [name, valueSchema(type)])),
  required: Object.keys(columns),
  additionalProperties: false,
});

function valueSchema(type: Columns[string]): Record<string, unknown> {
  const schema = TYPES[type.replace("?", "") as ColumnType];
  return type.endsWith("?") ? { ...schema, type: [schema.type, "null"] } : schema;
}
