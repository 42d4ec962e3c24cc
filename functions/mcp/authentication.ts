/** Authenticates callers of the connector: reads the token, has the database check it, and builds the refusals. */
import { readBearer } from "../../shared/connector/bearer.ts";
import { challenge, type ChallengeError } from "../../shared/connector/challenge.ts";
import { errorResponse, type RequestId } from "../../shared/connector/json_rpc.ts";
import type { Authentication, Bearer, NarrowedWrite, Refusal, ToolRun } from "../../shared/db/connector_store.ts";
import { AppError } from "../../shared/errors.ts";
import type { AppContext } from "../../shared/http/app.ts";
import { afterAnswer } from "../../shared/http/after_answer.ts";
import { connectorLimits } from "../../shared/http/quotas.ts";
import { describeError } from "../../shared/log.ts";
import { hashToken } from "../../shared/oauth/tokens.ts";
import type { Connector } from "./connector.ts";

/**
 * The caller's token, not yet verified.
 * @throws {AppError} `unauthorized` with a challenge, or `invalid_request` when it is not a bearer credential.
 */
export async function callerOf(c: AppContext, connector: Connector): Promise<Bearer> {
  const { address, config, words } = connector;
  const bearer = readBearer(c.req.header("authorization"));
  switch (bearer.kind) {
    case "token": {
      const tokenHash = hashToken(bearer.token);
      c.set("tokenHash", tokenHash);
      return { tokenHash, limits: await connectorLimits(config, c) };
    }
    case "malformed":
      throw new AppError("invalid_request", words.connector.refusals.notBearer, {
        headers: { "www-authenticate": challenge(address.metadata, "invalid_request") },
      });
    case "absent":
      throw unauthorized(connector);
    case "foreign":
      throw unauthorized(connector, "invalid_token");
  }
}

/**
 * @returns the response for a caller who may not use the connector; undefined for one who may.
 * @throws {AppError} `unauthorized` with a challenge.
 */
export function refusalResponse(
  verdict: Authentication | ToolRun,
  connector: Connector,
  id: RequestId = null,
): Response | undefined {
  switch (verdict.outcome) {
    case "ok":
      return undefined;
    case "invalid_token":
      throw unauthorized(connector, "invalid_token");
    case "feature_not_in_plan":
      return planResponse(verdict, connector, id);
    case "organization_deleting":
      return deletingResponse(verdict, connector, id);
    case "insufficient_scope":
      return narrowedResponse(verdict, connector, id);
  }
}

/** Has the database check the token, for requests that call no tool. */
export async function authenticate(connector: Connector, caller: Bearer): Promise<Authentication> {
  const verdict = await connector.store.authenticate(caller);
  recordLastUsed(connector, verdict, caller);
  return verdict;
}

/** @returns the response for a caller who may not use the connector; undefined for one who may. */
export const authenticateCaller = async (connector: Connector, caller: Bearer): Promise<Response | undefined> =>
  refusalResponse(await authenticate(connector, caller), connector);

/**
 * Keeps "last used" accurate to within an hour. Runs after the response, so that no tool call waits for it; if it
 * fails, the next request tries again.
 */
export function recordLastUsed(
  { store, log }: Connector,
  verdict: Authentication | ToolRun,
  { tokenHash }: Pick<Bearer, "tokenHash">,
): void {
  if (verdict.outcome !== "ok" || !verdict.first_use_in_hour) return;
  afterAnswer(
    store.recordUse(tokenHash).catch((thrown) => log.error("use_not_recorded", { error: describeError(thrown) })),
  );
}

function unauthorized({ address, words }: Connector, error?: ChallengeError): AppError {
  const { tokenNotValid, notSignedIn } = words.connector.refusals;
  return new AppError("unauthorized", error ? tokenNotValid : notSignedIn, {
    headers: { "www-authenticate": challenge(address.metadata, error) },
  });
}

/**
 * RFC 6750 §3.1: a client may ask the person again, who can then choose write access. Or it can show the page where
 * the person can allow it.
 */
function narrowedResponse(
  { grant_id, organization }: NarrowedWrite,
  { address, accessUrl, words }: Connector,
  id: RequestId,
): Response {
  const url = accessUrl(grant_id);
  return errorResponse({
    status: 403,
    id,
    message: words.answer.readOnly({ organization: organization.name, url }),
    data: { code: "insufficient_scope", organization, allow_url: url },
    headers: { "www-authenticate": challenge(address.metadata, "insufficient_scope") },
  });
}

/** 403, as for a missing plan, because signing in again wouldn't help. */
function deletingResponse(
  { deletes_on, organization }: Extract<Refusal, { outcome: "organization_deleting" }>,
  { address, deletionUrl, words }: Connector,
  id: RequestId,
): Response {
  const url = deletionUrl(organization.id);
  return errorResponse({
    status: 403,
    id,
    message: words.answer.deleting({ organization: organization.name, deletes_on, url }),
    data: { code: "organization_deleting", deletes_on, organization, keep_url: url },
    headers: { "www-authenticate": challenge(address.metadata) },
  });
}

/**
 * 403 without an error in the challenge, because a client that gets `insufficient_scope` would sign in again in vain.
 */
function planResponse(
  { plan, required_plan, organization, owner }: Extract<Refusal, { outcome: "feature_not_in_plan" }>,
  { address, plansUrl, words }: Connector,
  id: RequestId,
): Response {
  const upgradeUrl = plansUrl(organization.id);
  return errorResponse({
    status: 403,
    id,
    message: words.answer.planMissing({
      plan,
      required_plan,
      organization: organization.name,
      upgrade_url: upgradeUrl,
      owner,
    }),
    data: {
      code: "feature_not_in_plan",
      feature: "ai:connector",
      plan,
      required_plan,
      organization,
      upgrade_url: upgradeUrl,
    },
    headers: { "www-authenticate": challenge(address.metadata) },
  });
}
