/**
 * One tool call: checks the arguments, runs the tool's SQL, and remembers what that said of the caller, because the
 * SDK turns whatever a tool does into an answer before anyone can ask.
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
   * Whether the caller may have the answer of `run`; asks the database only when the tool's SQL has not said.
   * @throws {AppError} what kept the tool from running, where that is not a failure of the tool itself.
   */
  verdict(): Promise<Authentication | ToolRun>;
}

/** @param options.known what was said of the caller before. */
export function createToolCall(
  connector: Connector,
  { caller, requestId, known }: { caller: Bearer; requestId: string; known?: Authentication | undefined },
): ToolCall {
  const { store, log } = connector;
  const words = wordsOf("en");
  // All a caller learns of a failure that is ours is what to quote when asking about it.
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
        // Never sent: the verdict takes its place.
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
