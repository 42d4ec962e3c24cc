/**
 * One tool call: checks the arguments, runs the tool's SQL, and keeps its verdict on the caller, because the SDK turns
 * any result into a response before that could be checked.
 */
import { type FactEnvelope, toolResult } from "../../shared/connector/result.ts";
import type { Authentication, Bearer, ToolRun } from "../../shared/db/connector_store.ts";
import { type AppError, toAppError } from "../../shared/errors.ts";
import { describeError } from "../../shared/log.ts";
import { wordsOf } from "../../shared/words/words.ts";
import { withAddresses } from "./addresses.ts";
import type { Connector } from "./connector.ts";
import { present } from "./present/present.ts";
import type { RunTool } from "./server.ts";

export interface ToolCall {
  run: RunTool;
  /**
   * Whether the caller may receive the result of `run`; queries the database only if the tool's SQL has not decided.
   * @throws {AppError} what kept the tool from running, unless it is a failure of the tool itself.
   */
  verdict(): Promise<Authentication | ToolRun>;
}

/** @param options.known an earlier verdict on the caller. */
export function createToolCall(
  connector: Connector,
  { caller, requestId, known }: { caller: Bearer; requestId: string; known?: Authentication | undefined },
): ToolCall {
  const { store, log } = connector;
  const words = wordsOf("en");
  // For internal failures, the caller only learns what to quote in a report.
  const internal: FactEnvelope = {
    ok: false,
    error: { code: "internal", params: { details: { request_id: requestId } } },
  };
  let verdict: ToolRun | undefined;
  let failure: AppError | undefined;
  return {
    async run(tool, input) {
      const parsed = tool.parse(input);
      const { name } = tool.listed;
      const answer = (facts: FactEnvelope) => toolResult(present(name, facts, words), words);
      if (!parsed.ok) return answer(parsed);
      try {
        verdict = await store.callTool({ ...caller, tool: name, arguments: parsed.value });
        const next = verdict.outcome === "ok" ? await tool.followUp?.(verdict.result, connector) : undefined;
        if (next) verdict = await store.callTool({ ...caller, ...next });
        // Never sent: the verdict replaces it.
        if (verdict.outcome !== "ok") return answer(internal);
        const result = withAddresses(present(name, verdict.result, words), connector);
        log.info("tool_call", {
          request_id: requestId,
          tool: name,
          outcome: result.error?.code ?? "ok",
          organization_id: result.context?.organization?.id,
        });
        return toolResult(result, words);
      } catch (thrown) {
        failure = toAppError(thrown);
        if (failure.code === "internal") {
          log.error("tool_failure", { request_id: requestId, tool: name, error: describeError(thrown) });
        }
        return answer(internal);
      }
    },
    async verdict() {
      if (failure && failure.code !== "internal") throw failure;
      return verdict ?? known ?? await store.authenticate(caller);
    },
  };
}
