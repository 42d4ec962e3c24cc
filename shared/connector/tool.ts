/**
 * What a tool is: the contract that clients see and the argument validator compiled from it. What a tool does is
 * defined by its SQL function (`app.<name>`).
 */
import { z } from "zod";
import { type ArgumentError, explainIssues } from "./argument_error.ts";
import { SCOPE } from "../oauth/scope.ts";
import type { Answer, PendingLink } from "../providers/ask.ts";
import type { FactEnvelope } from "./result.ts";
import type { JsonSchema } from "./schema.ts";
import { cleanStrings } from "./typed_text.ts";

/** Hints for the host's confirmation prompts; not a guarantee. */
export interface Annotations {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  idempotentHint: boolean;
  openWorldHint: boolean;
}

const annotations = (readOnlyHint: boolean, destructiveHint: boolean, idempotentHint: boolean): Annotations => ({
  readOnlyHint,
  destructiveHint,
  idempotentHint,
  openWorldHint: false,
});

export const READ = annotations(true, false, true);
/** Adds something each time. Every write can be undone, so none of these is marked destructive. */
export const CREATE = annotations(false, false, false);
/** Repeating the call changes nothing further. */
export const UPDATE = annotations(false, false, true);
export const DELETE = annotations(false, true, true);
export const REVERSE = annotations(false, true, false);

/** Services outside the database that a tool may use. */
export interface FollowUpServices {
  /**
   * Queries the providers of all links in parallel and returns their answers in order; never throws for a provider's
   * failure.
   */
  askProviders(links: readonly PendingLink[]): Promise<Answer[]>;
}

/** A second database call, by a name that clients cannot call. */
export type FollowUp = (
  first: FactEnvelope,
  services: FollowUpServices,
) => Promise<{ tool: string; arguments: Arguments } | undefined>;

/** The size limit of messages from unauthenticated callers; enough for most tools. */
export const MESSAGE_BYTES = 65_536;

export interface ToolContract {
  name: string;
  title: string;
  annotations: Annotations;
  description: string;
  inputSchema: JsonSchema;
  /** Top-level keys of `data` in the result and their JSON types. */
  data: Record<string, "array" | "object" | "string" | "integer">;
  /** Whether the result also has the keys of a list: `next_cursor`, `total_count`, `totals_by_currency`. */
  isList?: boolean;
  /** What to run next, given the answer of the SQL function. Its answer replaces the first. */
  followUp?: FollowUp;
  /** Size of a message with the longest call the contract allows, where it exceeds `MESSAGE_BYTES`. */
  maxBytes?: number;
  /** Additional `_meta`. */
  meta?: Record<string, unknown>;
  /** Corrects arguments before anything else; must not throw on any object. */
  repair?(input: Arguments): Arguments;
  /**
   * Turns validated arguments into those of the SQL function, or reports what the schema cannot express. @param sent
   * the arguments as received.
   */
  refine?(value: Arguments, sent: Arguments): ParsedArguments;
}

/** A tool as listed by `tools/list`. */
export interface ListedTool
  extends Omit<ToolContract, "data" | "isList" | "followUp" | "maxBytes" | "meta" | "repair" | "refine"> {
  outputSchema: JsonSchema;
  _meta: Record<string, unknown>;
}

export type Arguments = Record<string, unknown>;
export type ParsedArguments = { ok: true; value: Arguments } | { ok: false; error: ArgumentError };

export interface Tool {
  listed: ListedTool;
  /** Cleans and validates arguments and fills in defaults; never throws. */
  parse(input: unknown): ParsedArguments;
  maxBytes: number;
  followUp?: FollowUp;
}

/** Compiled once at module load, not per request. */
export function defineTool(
  { data, isList = false, followUp, maxBytes = MESSAGE_BYTES, meta, repair, refine, ...contract }: ToolContract,
): Tool {
  const schema = z.fromJSONSchema(contract.inputSchema as z.core.JSONSchema.JSONSchema);
  return {
    followUp,
    maxBytes,
    listed: {
      ...contract,
      outputSchema: envelopeSchema(data, isList),
      // Hosts that show sign-in per tool read this. Access is enforced by the endpoint's own challenge.
      _meta: { ...meta, securitySchemes: [{ type: "oauth2", scopes: [SCOPE] }] },
    },
    parse(input) {
      const sent = limitUnknownFields(input ?? {}, contract.inputSchema);
      const repaired = repair && typeof sent === "object" ? repair(sent as Arguments) : sent;
      const parsed = schema.safeParse(cleanStrings(repaired), { reportInput: true });
      if (!parsed.success) return { ok: false, error: explainIssues(parsed.error.issues, contract.inputSchema) };
      const value = parsed.data as Arguments;
      return refine ? refine(value, sent as Arguments) : { ok: true, value };
    },
  };
}

/** More unknown fields than one answer lists. */
const MAX_UNKNOWN_FIELDS = 10;

/** Arguments with only the first few unknown fields: the call is rejected either way. */
function limitUnknownFields(input: unknown, { properties = {} }: JsonSchema): unknown {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return input;
  const names = Object.keys(input);
  if (names.length <= Object.keys(properties).length + MAX_UNKNOWN_FIELDS) return input;
  const unknown = names.filter((name) => !Object.hasOwn(properties, name)).slice(0, MAX_UNKNOWN_FIELDS);
  const known = Object.keys(properties).filter((name) => Object.hasOwn(input, name));
  return Object.fromEntries([...known, ...unknown].map((name) => [name, (input as Arguments)[name]]));
}

/** Deliberately loose: a client that validates must accept errors, and results with fields added later. */
function envelopeSchema(data: ToolContract["data"], isList: boolean): JsonSchema {
  const properties = (types: Record<string, string>): Record<string, JsonSchema> =>
    Object.fromEntries(Object.entries(types).map(([key, type]) => [key, { type }]));
  return {
    type: "object",
    properties: {
      ...properties({ ok: "boolean", context: "object" }),
      data: { type: "object", properties: properties(data) },
      ...properties({ change_id: "string", warnings: "array", error: "object" }),
      ...(isList && properties({ next_cursor: "string", total_count: "integer", totals_by_currency: "object" })),
    },
    required: ["ok"],
  };
}
