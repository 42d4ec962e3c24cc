/**
 * The connector's two database calls: resolve a token, and run a tool. Each is one round trip, and running a tool also
 * resolves the token, so a `tools/call` never needs more than one.
 */
import type { Clock } from "../clock.ts";
import type { FactEnvelope } from "../connector/result.ts";
import type { Arguments } from "../connector/tool.ts";
import { expectAnswer, hasOutcome } from "./answer.ts";
import type { Database } from "./client.ts";
import { type Allowance, type Limited, type Quota, withinLimits } from "./quota.ts";

export interface Organization {
  id: string;
  name: string;
}

/** Why a bearer is refused, before anything else happens. */
export type Refusal =
  | { outcome: "invalid_token" }
  /** `owner`: their address, for anybody else. */
  | {
    outcome: "feature_not_in_plan";
    plan: string;
    required_plan: string;
    organization: Organization;
    owner?: string | null;
  }
  /** Its owner is deleting it; `deletes_on` is a date in UTC. */
  | { outcome: "organization_deleting"; deletes_on: string; organization: Organization };

export type Authentication = { outcome: "ok"; organization: Organization; first_use_in_hour?: true } | Refusal;
export type ToolRun = { outcome: "ok"; result: FactEnvelope; first_use_in_hour?: true } | Refusal;

/** Which limits a request counts against: the caller's quotas when the token is unknown, else its grant's allowance. */
export interface ConnectorLimits {
  caller: readonly Quota[];
  read: Allowance;
  write: Allowance;
}

/** A bearer, identified by the lower-case hex SHA-256 of its token. */
export interface Bearer {
  tokenHash: string;
  /** No limits when undefined. */
  limits: ConnectorLimits | undefined;
}

/** Every method throws what `Database.call` throws, `unavailable` on a malformed answer, and `rate_limited`. */
export interface ConnectorStore {
  authenticate(bearer: Bearer): Promise<Authentication>;
  /**
   * Resolves the token, then runs the tool as its user, in one transaction; a failing tool writes nothing. One that is
   * long may take a minute; one that only reads may run twice.
   */
  callTool(call: Bearer & { tool: string; arguments: Arguments; isLong?: boolean; isRead?: boolean }): Promise<ToolRun>;
  /** Records that the token's client is in use; requested by `first_use_in_hour`. */
  recordUse(tokenHash: string): Promise<void>;
}

/** Longer than `call_long_tool` may take. */
const LONG_MS = 58_000;
const REFUSALS = hasOutcome("invalid_token", "feature_not_in_plan", "organization_deleting");

/** @param resource the canonical resource identifier; tokens bound to another one are refused. */
export function createConnectorStore(
  { database, clock, resource }: { database: Database; clock: Clock; resource: string },
): ConnectorStore {
  const at = () => clock().toISOString();
  return {
    async authenticate({ tokenHash, limits }) {
      const answer = await database.call("authenticate_bearer", {
        token_hash: tokenHash,
        resource,
        at: at(),
        ...(limits && { limits }),
      });
      return withinLimits(expectAnswer<Authentication | Limited>(
        "authenticate_bearer",
        answer,
        (answer) => answer.outcome === "ok" || REFUSALS(answer),
      ));
    },
    async callTool({ tokenHash, limits, tool, arguments: args, isLong, isRead = false }) {
      const call = { token_hash: tokenHash, resource, tool, arguments: args, at: at(), ...(limits && { limits }) };
      return withinLimits(expectAnswer<ToolRun | Limited>(
        "call_tool",
        await (isLong
          ? database.call("call_long_tool", call, { deadlineMs: LONG_MS })
          : database.call("call_tool", call, { isRead })),
        (answer) =>
          answer.outcome === "ok" ? typeof answer.result === "object" && answer.result !== null : REFUSALS(answer),
      ));
    },
    recordUse: async (tokenHash) => void await database.call("record_use", { token_hash: tokenHash, at: at() }),
  };
}
