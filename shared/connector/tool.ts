/**
 * What a tool is: the contract that clients are shown, and the judge of its arguments compiled from that very
 * contract. What a tool does is its SQL function's business (`app.<name>`).
 */
import { z } from "zod";
import { type ArgumentError, explainIssues } from "./argument_error.ts";
import { SCOPE } from "../oauth/scope.ts";
import type { Answer, PendingLink } from "../providers/ask.ts";
import type { FactEnvelope } from "./result.ts";
import type { JsonSchema } from "./schema.ts";
import { cleanStrings } from "./typed_text.ts";

/** Hints for the host's own prompts; they promise nothing to a caller. */
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
/** Writes something new each time; every write can be undone, so none of these is called destructive. */
export const CREATE = annotations(false, false, false);
/** Leaves the same books when repeated. */
export const UPDATE = annotations(false, false, true);
export const DELETE = annotations(false, true, true);
export const REVERSE = annotations(false, true, false);

/** What a tool can have done outside of the database. */
export interface FollowUpServices {
  /** Asks the providers of links, all at once, and answers in their order; never throws for what a provider does. */
  askProviders(links: readonly PendingLink[]): Promise<Answer[]>;
}

/** A second call of the database, by a name that no client can call. */
export type FollowUp = (
  first: FactEnvelope,
  services: FollowUpServices,
) => Promise<{ tool: string; arguments: Arguments } | undefined>;

/** The longest message of somebody who is not known yet, and all that most tools need. */
export const MESSAGE_BYTES = 65_536;

export interface ToolContract {
  name: string;
  title: string;
  annotations: Annotations;
  description: string;
  inputSchema: JsonSchema;
  /** Top keys of `data` in the result and their JSON types. */
  data: Record<string, "array" | "object" | "string" | "integer">;
  /** A list carries the keys of one: `next_cursor`, `total_count`, `totals_by_currency`. */
  isList?: boolean;
  /** What else is to be run, given the answer of the tool's SQL function: its answer takes the place of the first. */
  followUp?: FollowUp;
  /** Of a message with the longest call that the contract allows, where that is more than `MESSAGE_BYTES`. */
  maxBytes?: number;
  /** More for `_meta`. */
  meta?: Record<string, unknown>;
  /** Puts arguments right before anything else is done to them; must not throw on any object. */
  repair?(input: Arguments): Arguments;
  /** Turns checked arguments into those of the SQL function, or says what no schema can. @param sent what came, unchecked. */
  refine?(value: Arguments, sent: Arguments): ParsedArguments;
}

/** A tool as `tools/list` shows it. */
export interface ListedTool
  extends Omit<ToolContract, "data" | "isList" | "followUp" | "maxBytes" | "meta" | "repair" | "refine"> {
  outputSchema: JsonSchema;
  _meta: Record<string, unknown>;
}

export type Arguments = Record<string, unknown>;
export type ParsedArguments = { ok: true; value: Arguments } | { ok: false; error: ArgumentError };

export interface Tool {
  listed: ListedTool;
  /** Cleans, checks and completes arguments with their defaults; never throws. */
  parse(input: unknown): ParsedArguments;
  maxBytes: number;
  followUp?: FollowUp;
}

/** Compiles once, at module load, so that no request pays for it. */
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
      // Hosts that show sign-in per tool read this; the endpoint's own challenge is what holds.
      _meta: { ...meta, securitySchemes: [{ type: "oauth2", scopes: [SCOPE] }] },
    },
    parse(input) {
      const sent = withoutMost(input ?? {}, contract.inputSchema);
      const repaired = repair && typeof sent === "object" ? repair(sent as Arguments) : sent;
      const parsed = schema.safeParse(cleanStrings(repaired), { reportInput: true });
      if (!parsed.success) return { ok: false, error: explainIssues(parsed.error.issues, contract.inputSchema) };
      const value = parsed.data as Arguments;
      return refine ? refine(value, sent as Arguments) : { ok: true, value };
    },
  };
}

/** More members that no contract has than an answer would name. */
const MOST_UNKNOWN = 10;

/** Arguments with a few of the members that the contract does not know: they are refused, however many there are. */
function withoutMost(input: unknown, { properties = {} }: JsonSchema): unknown {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return input;
  const names = Object.keys(input);
  if (names.length <= Object.keys(properties).length + MOST_UNKNOWN) return input;
  const unknown = names.filter((name) => !Object.hasOwn(properties, name)).slice(0, MOST_UNKNOWN);
  const known = Object.keys(properties).filter((name) => Object.hasOwn(input, name));
  return Object.fromEntries([...known, ...unknown].map((name) => [name, (input as Arguments)[name]]));
}

/** Loose on purpose: a client that validates must not refuse a result that says more than it used to, or an error. */
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
