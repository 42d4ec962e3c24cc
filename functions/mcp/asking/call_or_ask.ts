/**
 * Asks the person in the client's own form when a tool needs an answer, instead of leaving the question to the model,
 * and calls the tool again with the answers. The server keeps no state between the two requests. The questions travel
 * through the client, signed for ten minutes and bound to the grant (a person, an organization and an app), the tool
 * and the arguments.
 */
import {
  type CallToolResult,
  type InputRequiredResult,
  ProtocolError,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import * as z from "zod/mini";
import type { Arguments } from "../../../shared/connector/tool.ts";
import type { Clock } from "../../../shared/clock.ts";
import { readToken, signToken } from "../../../shared/signed_token.ts";
import { sha256 } from "../../../shared/std/sha256.ts";
import type { Words } from "../../../shared/words/words.ts";
import { answered, Asked, formOf } from "./form.ts";

const LABEL = "elicitation";
const LIFETIME_MS = 10 * 60_000;
/** The key of the only form in a result. */
const KEY = "answers";

export interface AskingDeps {
  secrets: readonly string[];
  clock: Clock;
  /** The caller's grant, unless their access has ended. */
  grantId(): Promise<string | undefined>;
}

interface Call {
  tool: string;
  arguments: unknown;
  /** The state and answers of a repeated request. */
  state: string | undefined;
  responses: Record<string, unknown> | undefined;
  run(args: unknown): Promise<CallToolResult>;
}

const Response = z.object({ action: z.string(), content: z.optional(z.record(z.string(), z.unknown())) });

/** @throws {ProtocolError} for a state or answers of another call */
export async function callOrAsk(
  { secrets, clock, grantId }: AskingDeps,
  words: Words,
  call: Call,
): Promise<CallToolResult | InputRequiredResult> {
  const { tool, arguments: args, state, responses, run } = call;
  const digest = sha256(canonical([tool, args ?? {}])).toString("base64url");
  if (state === undefined) {
    const result = await run(args);
    const form = formOf(result.structuredContent, words);
    const grant = form && await grantId();
    if (!form || !grant) return result;
    const { message, requestedSchema, asked } = form;
    const expiresAt = new Date(clock().getTime() + LIFETIME_MS);
    return {
      resultType: "input_required",
      inputRequests: {
        [KEY]: { method: "elicitation/create", params: { mode: "form", message, requestedSchema } },
      },
      requestState: await signToken(secrets, LABEL, { claims: { grant, call: digest, asked }, expiresAt }),
    };
  }
  const claims = await readToken(secrets, LABEL, { token: state, at: clock() });
  if (!claims || claims.call !== digest || claims.grant !== await grantId()) {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, words.asking.badState, {
      reason: "invalid_request_state",
    });
  }
  const response = Response.safeParse(responses?.[KEY]);
  // If the person declines the form, the assistant asks.
  if (!response.success || response.data.action !== "accept") return await run(args);
  const complete = answered((args ?? {}) as Arguments, Asked.parse(claims.asked), response.data.content ?? {});
  if (!complete) throw new ProtocolError(ProtocolErrorCode.InvalidParams, words.asking.badAnswers);
  return await run(complete);
}

/** JSON with sorted keys, because a client may repeat its arguments in another order. */
const canonical = (value: unknown): string =>
  JSON.stringify(
    value,
    (_, part) =>
      typeof part === "object" && part !== null && !Array.isArray(part)
        ? Object.fromEntries(Object.entries(part).toSorted(([one], [other]) => one < other ? -1 : 1))
        : part,
  );
