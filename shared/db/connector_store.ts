/**
 * The connector's two database calls: resolve a token, and run a tool. Each is one round trip. Running a tool also
 * resolves the token, so a `tools/call` needs only one call.
 */
import * as z from "zod/mini";
import { either, outcome } from "../outcome.ts";
import type { Clock } from "../clock.ts";
import { FactEnvelope } from "../connector/result.ts";
import type { Arguments } from "../connector/tool.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";
import { type Allowance, Limited, type Quota, withinLimits } from "./quota.ts";

export const Organization = z.object({ id: z.string(), name: z.string() });

/** Why a bearer is refused, before anything else happens. */
export const Refusal = either(
  outcome(["invalid_token"]),
  outcome(["feature_not_in_plan"], {
    plan: z.string(),
    required_plan: z.string(),
    organization: Organization,
    /** The owner's address, for the other members. */
    owner: z.optional(z.nullable(z.string())),
  }),
  /** Its owner is deleting it; `deletes_on` is a date in UTC. */
  outcome(["organization_deleting"], { deletes_on: z.string(), organization: Organization }),
);
export type Refusal = z.infer<typeof Refusal>;

/** A write by an app that its person limits to reading. */
const NarrowedWrite = outcome(["insufficient_scope"], { grant_id: z.string(), organization: Organization });
export type NarrowedWrite = z.infer<typeof NarrowedWrite>;

export const Authentication = either(
  outcome(["ok"], {
    organization: Organization,
    grant_id: z.optional(z.string()),
    /** Why the caller may not write. */
    barred_by: z.optional(z.enum(["role", "grant"])),
    first_use_in_hour: z.optional(z.literal(true)),
  }),
  Refusal,
);
export type Authentication = z.infer<typeof Authentication>;

export const ToolRun = either(
  outcome(["ok"], { result: FactEnvelope, first_use_in_hour: z.optional(z.literal(true)) }),
  Refusal,
  NarrowedWrite,
);
export type ToolRun = z.infer<typeof ToolRun>;

/** The limits that count a request: the caller's quotas when the token is unknown, otherwise its grant's allowance. */
export interface ConnectorLimits {
  caller: readonly Quota[];
  read: Allowance;
  write: Allowance;
}

/** A bearer token, identified by its lower-case hex SHA-256. */
export interface Bearer {
  tokenHash: string;
  /** No limits when undefined. */
  limits: ConnectorLimits | undefined;
}

/** Every method throws what `Database.call` throws, `unavailable` on a malformed answer, and `rate_limited`. */
export interface ConnectorStore {
  authenticate(bearer: Bearer): Promise<Authentication>;
  /**
   * Resolves the token, then runs the tool as its user, in one transaction; a failing tool writes nothing. A long tool
   * may take a minute. A reading tool may run twice.
   */
  callTool(call: Bearer & { tool: string; arguments: Arguments; isLong?: boolean; isRead?: boolean }): Promise<ToolRun>;
  /** Records that the token's client is in use, when the database asked for it with `first_use_in_hour`. */
  recordUse(tokenHash: string): Promise<void>;
}

/** Longer than `call_long_tool` may take. */
const LONG_MS = 58_000;

export const ANSWERS = {
  authenticate_bearer: either(Authentication, Limited),
  call_tool: either(ToolRun, Limited),
  call_long_tool: either(ToolRun, Limited),
  record_use: z.unknown(),
};

/** @param resource the canonical resource identifier; tokens bound to another one are refused. */
export function createConnectorStore(
  { database, clock, resource }: { database: Database; clock: Clock; resource: string },
): ConnectorStore {
  const ask = asking(database, ANSWERS);
  const at = () => clock().toISOString();
  return {
    async authenticate({ tokenHash, limits }) {
      const call = { token_hash: tokenHash, resource, at: at(), ...(limits && { limits }) };
      return withinLimits(await ask("authenticate_bearer", call));
    },
    async callTool({ tokenHash, limits, tool, arguments: args, isLong, isRead = false }) {
      const call = { token_hash: tokenHash, resource, tool, arguments: args, at: at(), ...(limits && { limits }) };
      return withinLimits(
        await (isLong ? ask("call_long_tool", call, { deadlineMs: LONG_MS }) : ask("call_tool", call, { isRead })),
      );
    },
    recordUse: async (tokenHash) => void await ask("record_use", { token_hash: tokenHash, at: at() }),
  };
}
