/**
 * The connector's two questions to the database: whose token is this, and run this tool. Each is one round trip, and
 * the second answers the first as well, so that a `tools/call` never costs more than one.
 */
import type { Clock } from "../clock.ts";
import type { Envelope } from "../connector/result.ts";
import type { Arguments } from "../connector/tool.ts";
import type { Database } from "./client.ts";

export interface Organization {
  id: string;
  name: string;
}

/** What the database says of a bearer, before anything else happens. */
export type Refusal =
  | { outcome: "invalid_token" }
  | { outcome: "feature_not_in_plan"; plan: string; required_plan: string; organization: Organization };

export type Authentication = { outcome: "ok"; organization: Organization } | Refusal;
export type ToolRun = { outcome: "ok"; result: Envelope } | Refusal;

export interface ConnectorStore {
  /** @param tokenHash lower-case hex SHA-256. */
  authenticate(tokenHash: string): Promise<Authentication>;
  /** Resolves the token, then runs the tool as its user, in one transaction; a failing tool writes nothing. */
  callTool(call: { tokenHash: string; tool: string; arguments: Arguments }): Promise<ToolRun>;
}

/** @param resource the canonical resource identifier; a token bound to another one is not ours. */
export function createConnectorStore(
  { database, clock, resource }: { database: Database; clock: Clock; resource: string },
): ConnectorStore {
  return {
    authenticate: (tokenHash) =>
      database.call("authenticate_bearer", { token_hash: tokenHash, resource, at: clock().toISOString() }),
    callTool: ({ tokenHash, tool, arguments: args }) =>
      database.call("call_tool", { token_hash: tokenHash, resource, tool, arguments: args, at: clock().toISOString() }),
  };
}
