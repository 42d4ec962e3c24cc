/**
 * A tool: the contract that clients see, and the argument validator compiled from it. Its SQL function (`app.<name>`)
 * does the work.
 */
import * as z from "zod";
import type * as mini from "zod/mini";
import type { Clock } from "../clock.ts";
import { type ArgumentError, explainIssues } from "./argument_error.ts";
import { SCOPE } from "../oauth/scope.ts";
import type { Answer, PendingLink } from "../providers/ask.ts";
import type { FactEnvelope } from "./result.ts";
import { type JsonSchema, PATTERNS } from "./schema.ts";
import type { Progress, RefusalFacts } from "../words/message.ts";
import type { Told } from "../words/facts.ts";
import type { ToolName, Words } from "../words/words.ts";
import { cleanStrings } from "./typed_text.ts";
import { type Note, understand } from "./understand.ts";

/** Hints for the host's confirmation prompts. They guarantee nothing. */
export interface Annotations {
  readOnlyHint: boolean;
  /**
   * Claude's review criteria set it for tools that modify or delete data. OpenAI's rules exempt reversible changes,
   * and all changes here are reversible. This project sets it for tools that overwrite or delete.
   */
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
/** Adds something each time. */
export const CREATE = annotations(false, false, false);
/** Overwrites or deletes; repeating the call changes nothing further. */
export const UPDATE = annotations(false, true, true);
export const REVERSE = annotations(false, true, false);

/** The dependencies of a follow-up besides the database. */
export interface FollowUpServices extends WorkOptions {
  /**
   * Queries the providers of all links in parallel, one month of a link after the other, and returns their answers in
   * order. Never throws for a provider's failure. Null for a month that was not requested.
   */
  askProviders(months: readonly PendingLink[], options: WorkOptions): Promise<(Answer | null)[]>;
  /**
   * Runs a tool as the same caller, under a name or with arguments that clients cannot send. The call is part of the
   * same request, so the limits do not count it again.
   */
  callTool(tool: string, args: Arguments, options?: { isLong?: boolean }): Promise<FactEnvelope>;
  /** Downloads a file that the client names. @throws {AppError} `rate_limited` */
  fetchFile(url: string): Promise<FetchedFile>;
  clock: Clock;
}

export type FetchedFile = { bytes: Uint8Array } | { refusal: RefusalFacts };

/** Reports the progress of long work to the client, and detects that the client has disconnected. */
export interface WorkOptions {
  /** Present if the client asked for progress. Drops reports that do not exceed the last one. */
  progress?: (reached: Progress) => void;
  /**
   * Aborted when the client of an event stream disconnects. The work then keeps its results and starts no further
   * step.
   */
  signal: AbortSignal;
}

/** A tool's work after its first database call; its answer replaces the first one. */
export type FollowUp = (
  first: FactEnvelope,
  services: FollowUpServices,
  args: Arguments,
) => Promise<FactEnvelope | undefined>;

/** The size limit of messages from unauthenticated callers; enough for most tools. */
export const MESSAGE_BYTES = 65_536;

/** Puts a tool's data into words: labels for missing names, sentences and files. */
export interface Presenter {
  /** The schema of the tool's data; tests check the database's answers with it. */
  schema: mini.ZodMiniType;
  present(data: Told, words: Words): Told;
}

export const presenter = <Schema extends mini.ZodMiniType>(
  schema: Schema,
  present: (data: mini.infer<Schema>, words: Words) => object,
): Presenter => ({ schema, present: present as Presenter["present"] });

export interface ToolContract {
  /** Its title and description are in the catalog. */
  name: ToolName;
  annotations: Annotations;
  inputSchema: JsonSchema;
  /** Top-level keys of `data` in the result and their JSON types. */
  data: Record<string, "array" | "object" | "string" | "integer">;
  /** Whether the result also has the keys of a list: `next_cursor`, `total_count`, `totals_by_currency`. */
  isList?: boolean;
  /** Without this function, a tool returns its facts unchanged. */
  answer?: Presenter;
  followUp?: FollowUp;
  /** Whether a call may take the database longer than usual. */
  isLong?(args: Arguments): boolean;
  /** The size of a message with the longest call that the contract allows, if it exceeds `MESSAGE_BYTES`. */
  maxBytes?: number;
  /** Additional `_meta`. */
  meta?: Record<string, unknown>;
  /** Corrects arguments before anything else; must not throw on any object. */
  repair?(input: Arguments): Arguments;
  /**
   * Turns validated arguments into the SQL function's, or reports a violation that the schema cannot express. @param
   * sent the arguments as received @param at the current time
   */
  refine?(value: Arguments, sent: Arguments, at?: Date): ParsedArguments;
}

/** A tool as listed by `tools/list`, without its words. */
export interface ListedTool extends
  Omit<
    ToolContract,
    "data" | "isList" | "answer" | "followUp" | "isLong" | "maxBytes" | "meta" | "repair" | "refine"
  > {
  outputSchema: JsonSchema;
  _meta: Record<string, unknown>;
}

export type Arguments = Record<string, unknown>;
/** `understood` lists reinterpreted names and values: "merchant → payee". */
export type ParsedArguments = { ok: true; value: Arguments; understood?: string[] } | {
  ok: false;
  error: ArgumentError;
};

export interface Tool {
  listed: ListedTool;
  /** Cleans and validates arguments and fills in defaults; never throws. @param at the current time, if it matters */
  parse(input: unknown, at?: Date): ParsedArguments;
  maxBytes: number;
  answer?: Presenter;
  followUp?: FollowUp;
  isLong?(args: Arguments): boolean;
}

/** Compiles the schema at the first call, because most instances run few of the tools. */
export function defineTool(
  { data, isList = false, answer, followUp, isLong, maxBytes = MESSAGE_BYTES, meta, repair, refine, ...contract }:
    ToolContract,
): Tool {
  let compiled: z.ZodType | undefined;
  const schema = () =>
    compiled ??= z.fromJSONSchema(withRelativeDays(contract.inputSchema) as z.core.JSONSchema.JSONSchema);
  return {
    answer,
    followUp,
    isLong,
    maxBytes,
    listed: {
      ...contract,
      outputSchema: envelopeSchema({ data, isList, annotations: contract.annotations }),
      // Hosts that show sign-in per tool read this. Access is enforced by the endpoint's own challenge.
      _meta: { ...meta, securitySchemes: [{ type: "oauth2", scopes: [SCOPE] }] },
    },
    parse(input, at) {
      const sent = limitUnknownFields(input ?? {}, contract.inputSchema);
      const repaired = repair && typeof sent === "object" ? repair(sent as Arguments) : sent;
      const notes = new Set<string>();
      const note: Note = (from, to) => void (notes.size < MAX_NOTES && notes.add(`${from} → ${to}`.slice(0, 120)));
      const meant = understand(cleanStrings(repaired), contract.inputSchema, note);
      const parsed = schema().safeParse(meant, { reportInput: true });
      if (!parsed.success) return { ok: false, error: explainIssues(parsed.error.issues, contract.inputSchema) };
      const value = parsed.data as Arguments;
      const refined = refine ? refine(value, sent as Arguments, at) : { ok: true as const, value };
      return refined.ok && notes.size > 0 ? { ...refined, understood: [...notes] } : refined;
    },
  };
}

/**
 * The contract accepts days without a year, weekdays and other periods, but does not list them. The database resolves
 * them, because it knows the owner's current day.
 */
const withRelativeDays = (schema: JsonSchema): JsonSchema =>
  JSON.parse(JSON.stringify(schema), (key, value) => {
    if (key === "pattern" && value === PATTERNS.date) {
      return [value, "^--\\d{2}-\\d{2}$", PATTERNS.month, PATTERNS.weekday, PATTERNS.period].join("|");
    }
    if (key !== "period" || !value.enum?.includes("last_30_days")) return value;
    const { enum: _, ...period } = value;
    return { ...period, pattern: PATTERNS.period };
  });

/** The maximum number of reinterpretations in an answer. */
const MAX_NOTES = 10;

/** More unknown fields than one answer lists. */
const MAX_UNKNOWN_FIELDS = 10;

/** Arguments with only the first few unknown fields; the call is rejected either way. */
function limitUnknownFields(input: unknown, { properties = {} }: JsonSchema): unknown {
  if (typeof input !== "object" || input === null || Array.isArray(input)) return input;
  const names = Object.keys(input);
  if (names.length <= Object.keys(properties).length + MAX_UNKNOWN_FIELDS) return input;
  const unknown = names.filter((name) => !Object.hasOwn(properties, name)).slice(0, MAX_UNKNOWN_FIELDS);
  const known = Object.keys(properties).filter((name) => Object.hasOwn(input, name));
  return Object.fromEntries([...known, ...unknown].map((name) => [name, (input as Arguments)[name]]));
}

/** Deliberately loose: a validating client must accept errors, and results with fields that later versions add. */
function envelopeSchema(
  { data, isList = false, annotations: { readOnlyHint } }: Pick<ToolContract, "data" | "isList" | "annotations">,
): JsonSchema {
  const properties = (types: Record<string, string>): Record<string, JsonSchema> =>
    Object.fromEntries(Object.entries(types).map(([key, type]) => [key, { type }]));
  return {
    type: "object",
    properties: {
      ...properties({ ok: "boolean", context: "object" }),
      data: { type: "object", properties: properties(data) },
      ...(!readOnlyHint && properties({ change_id: "string" })),
      ...properties({ warnings: "array", error: "object" }),
      ...(isList && properties({ next_cursor: "string", total_count: "integer", totals_by_currency: "object" })),
    },
    required: ["ok"],
  };
}
