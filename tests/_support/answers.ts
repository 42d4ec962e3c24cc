/** Checks the database's answers in tests against the schemas of the stores. */
import { assertEquals } from "@std/assert";
import type * as z from "zod/mini";
import { PRESENTERS } from "../../functions/mcp/present/data.ts";
import { FactEnvelope } from "../../shared/connector/result.ts";
import type { Answers } from "../../shared/db/answer.ts";

const STORES = new URL("../../shared/db/", import.meta.url);

/** The schema of each public function's answer. */
export const ANSWERS: Answers = Object.assign(
  {},
  ...await Promise.all(
    [...Deno.readDirSync(STORES)].filter(({ name }) => name.endsWith("_store.ts")).map(async ({ name }) =>
      (await import(new URL(name, STORES).href)).ANSWERS
    ),
  ),
);

/** These return whole envelopes of tools, of which a page needs only a part. */
const PARTS = ["read_books", "read_expense_file"];

/** Stricter than in production: refuses unlisted keys. */
export function holdToSchema(name: string, answer: unknown, tool?: string): void {
  const schema = ANSWERS[name];
  const { outcome, result } = (answer ?? {}) as { outcome?: unknown; result?: unknown };
  if (!schema || outcome === "no_changes") return;
  try {
    if (tool && outcome === "ok") holdFacts(tool, result);
    const data = parse(name, schema, answer);
    if (!PARTS.includes(name)) assertEquals(data, answer, `${name} answers with keys that its schema does not list`);
  } catch (error) {
    // Reports the reason, which a function would hide behind a 500.
    reportError(error);
    throw error;
  }
}

/** Checks that a tool's answer has every fact that its texts need. */
export function holdFacts(tool: string, result: unknown): void {
  const { ok, data = {} } = parse(tool, FactEnvelope, result);
  const presenter = PRESENTERS.get(tool);
  if (ok && presenter) parse(tool, presenter.schema, data);
}

function parse<Schema extends z.ZodMiniType>(name: string, schema: Schema, answer: unknown): z.infer<Schema> {
  const { success, data, error } = schema.safeParse(answer);
  if (!success) throw new Error(`${name} does not answer by its schema: ${JSON.stringify(error.issues)}`);
  return data;
}
