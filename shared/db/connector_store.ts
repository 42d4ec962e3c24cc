/**
 * The connector's two questions to the database: whose token is this, and run this tool. Each is one round trip, and
 * the second answers the first as well, so that a `tools/call` never costs more than one.
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

/** What the database says of a bearer, before anything else happens. */
export type Refusal =
  | { outcome: "invalid_token" }
  | { outcome: "feature_not_in_plan"; plan: string; required_plan: string; organization: Organization };

export type Authentication = { outcome: "ok"; organization: Organization; first_use_in_hour?: true } | Refusal;
export type ToolRun = { outcome: "ok"; result: FactEnvelope; first_use_in_hour?: true } | Refusal;

/** What a request draws on: its caller's quotas when the token was never ours, its grant's allowance otherwise. */
export interface ConnectorLimits {
  caller: readonly Quota[];
  read: Allowance;
  write: Allowance;
}

/** A bearer, by the lower-case hex SHA-256 of its token. */
export interface Bearer {
  tokenHash: string;
  /** Undefined limits nothing. */
  limits: ConnectorLimits | undefined;
}

/** Every method throws what `Database.call` throws, `unavailable` on an answer that cannot be one, and `rate_limited`. */
export interface ConnectorStore {
  authenticate(bearer: Bearer): Promise<Authentication>;
  /** Resolves the token, then runs the tool as its user, in one transaction; a failing tool writes nothing. */
  callTool(call: Bearer & { tool: string; arguments: Arguments }): Promise<ToolRun>;
  /** Notes that the token's client is in use; asked for by `first_use_in_hour`. */
  recordUse(tokenHash: string): Promise<void>;
}

const REFUSALS = hasOutcome("invalid_token", "feature_not_in_plan");

/** @param resource the canonical resource identifier; a token bound to another one is not ours. */
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
    async callTool({ tokenHash, limits, tool, arguments: args }) {
      const call = { token_hash: tokenHash, resource, tool, arguments: args, at: at(), ...(limits && { limits }) };
      return withinLimits(expectAnswer<ToolRun | Limited>(
        "call_tool",
        await database.call("call_tool", call),
        (answer) =>
          answer.outcome === "ok" ? typeof answer.result === "object" && answer.result !== null : REFUSALS(answer),
      ));
    },
    recordUse: async (tokenHash) => void await database.call("record_use", { token_hash: tokenHash, at: at() }),
  };
}
