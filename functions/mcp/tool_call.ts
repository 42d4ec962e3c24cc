/**
 * One tool call: checks the arguments, runs the tool's SQL, and keeps the SQL's verdict on the caller, because the SDK
 * turns any result into a response at once.
 */
import type { Arguments, Tool } from "../../shared/connector/tool.ts";
import { listedArguments } from "../../shared/connector/listed_schema.ts";
import type { JsonSchema } from "../../shared/connector/schema.ts";
import { type Envelope, type FactEnvelope, type ToolResult, toolResult } from "../../shared/connector/result.ts";
import type { Authentication, Bearer, NarrowedWrite, ToolRun } from "../../shared/db/connector_store.ts";
import { type AppError, toAppError } from "../../shared/errors.ts";
import { describeError, type LogFields } from "../../shared/log.ts";
import { withAddresses } from "./addresses.ts";
import type { Connector } from "./connector.ts";
import { presentPage } from "./present/page.ts";
import { present } from "./present/present.ts";
import { reportProgress } from "./report_progress.ts";
import type { ProgressEvent, RunTool } from "./server.ts";

export interface ToolCall {
  run: RunTool;
  /**
   * Whether the caller may receive the result of `run`; queries the database only if the tool's SQL has not decided.
   * @throws {AppError} the reason that the tool did not run, unless the tool itself failed
   */
  verdict(): Promise<Authentication | ToolRun>;
  /** The verdict that came with the first progress report. From then on, the answer can only be a stream. */
  begun(): ToolRun | undefined;
}

/** A tool after its first database call. */
interface Begun {
  first: Extract<ToolRun, { outcome: "ok" }>;
  signal: AbortSignal;
  send: ((event: ProgressEvent) => void) | undefined;
}

interface Options {
  caller: Bearer;
  requestId: string;
  /** Adds fields to the request's log line. */
  note(fields: LogFields): void;
  /** An earlier verdict on the caller. */
  known?: Authentication | undefined;
  /** Whether the client accepts progress. */
  isStreamed: boolean;
}

export function createToolCall(
  connector: Connector,
  { caller, requestId, note, known, isStreamed }: Options,
): ToolCall {
  const { store, log, clock, words } = connector;
  // After an internal failure, the caller gets only the id to quote in a report.
  const internal: FactEnvelope = {
    ok: false,
    error: { code: "internal", params: { details: { request_id: requestId } } },
  };
  let verdict: ToolRun | undefined;
  let failure: AppError | undefined;
  let called: Tool | undefined;
  let begun: ToolRun | undefined;
  /** The result of a further call in the same request; undefined also if the caller has lost access in the meantime. */
  async function followUp(
    tool: Tool,
    sent: Arguments,
    { first, signal, send }: Begun,
  ): Promise<FactEnvelope | undefined> {
    const { tokenHash } = caller;
    const callTool = async (name: string, args: Arguments, options: { isLong?: boolean } = {}) => {
      verdict = await store.callTool({ tokenHash, limits: undefined, tool: name, arguments: args, ...options });
      if (verdict.outcome !== "ok") throw new RefusedMeanwhile();
      return verdict.result;
    };
    const progress = isStreamed && send && reportProgress(words.progress[tool.listed.name], (event) => {
      begun = first;
      send(event);
    });
    const { askProviders } = connector;
    const fetchFile = (url: string) => connector.fetchFile(url, tokenHash);
    const services = { askProviders, callTool, fetchFile, clock, signal, ...(progress && { progress }) };
    try {
      return await tool.followUp?.(first.result, services, sent);
    } catch (thrown) {
      if (thrown instanceof RefusedMeanwhile) return undefined;
      throw thrown;
    }
  }
  return {
    async run(tool, input, { signal, progress: send }) {
      called = tool;
      const parsed = tool.parse(input, clock());
      const { name } = tool.listed;
      const tell = (envelope: Envelope) => nameRequest(toolResult(envelope, words), requestId);
      const answer = (facts: FactEnvelope) => tell(present(name, facts, words));
      if (!parsed.ok) return answer(parsed);
      try {
        const isLong = tool.isLong?.(parsed.value) ?? false;
        const isRead = tool.listed.annotations.readOnlyHint;
        verdict = await store.callTool({ ...caller, tool: name, arguments: parsed.value, isLong, isRead });
        const first = verdict.outcome === "ok" ? verdict : undefined;
        const facts = first && (await followUp(tool, parsed.value, { first, signal, send }) ?? first.result);
        // Never sent, because the verdict replaces it.
        if (!facts || verdict.outcome !== "ok") return answer(internal);
        const { proposal_id: proposalId, ...told } = facts as FactEnvelope & { proposal_id?: string };
        const said = await withAddresses(presentPage(name, told, words), connector);
        const shown = listCommit(said, tool.listed.inputSchema);
        const result = parsed.understood ? { ...shown, understood: parsed.understood } : shown;
        const about = proposalId ?? (name === "decide_proposal" && facts.ok && parsed.value.proposal_id);
        // Sends mail to the approvers or to the proposer after the answer.
        if (about) connector.mailProposal(String(about), requestId);
        note({
          tool: name,
          outcome: result.error?.code ?? "ok",
          organization_id: result.context?.organization?.id,
        });
        return tell(result);
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
      return verdict ?? refuseNarrowed(known ?? await store.authenticate(caller), called);
    },
    begun: () => begun,
  };
}

/** `commit_with` has the form that `tools/list` declares, for clients that enforce it on their model. */
function listCommit({ data, error, ...envelope }: Envelope, schema: JsonSchema): Envelope {
  const listed = <Facts extends Record<string, unknown> | undefined>(facts: Facts): Facts =>
    facts?.commit_with ? { ...facts, commit_with: listedArguments(facts.commit_with as Arguments, schema) } : facts;
  return {
    ...envelope,
    ...(data && { data: data.preview ? { ...data, preview: listed(data.preview as Arguments) } : data }),
    ...(error && { error: error.details ? { ...error, details: listed(error.details) } : error }),
  };
}

/** A write whose arguments are invalid gets the same refusal as one that reached the SQL. */
function refuseNarrowed(caller: Authentication, tool: Tool | undefined): Authentication | NarrowedWrite {
  if (caller.outcome !== "ok" || caller.barred_by !== "grant" || tool?.listed.annotations.readOnlyHint !== false) {
    return caller;
  }
  return { outcome: "insufficient_scope", grant_id: caller.grant_id!, organization: caller.organization };
}

/** The request id for reports, outside the text that a model reads. */
const nameRequest = (result: ToolResult, requestId: string): ToolResult =>
  result.isError ? { ...result, _meta: { request_id: requestId } } : result;

/** Ends a tool's work when its caller loses access halfway. The verdict contains the reason. */
class RefusedMeanwhile extends Error {}
