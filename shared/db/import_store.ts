/** The upload page's database calls: steps of an import, run as the signed-in person (`public.run_page_tool`). */
import type { FactEnvelope } from "../connector/result.ts";
import type { Arguments } from "../connector/tool.ts";
import { expectAnswer, hasOutcome } from "./answer.ts";
import type { Database } from "./client.ts";

export interface ImportStep {
  userId: string;
  organizationId: string;
  /** `{step, import_id, …}`; the steps are those of `app.import_expenses`. */
  arguments: Arguments;
  at: Date;
}

/** `refused` when the membership has ended, or the plan does not include the connector. */
export type ImportStepRun = { outcome: "ok"; result: FactEnvelope } | { outcome: "refused" };

export interface ImportStore {
  /** Step `open`, by which the import's organization becomes known; `unknown` unless it is theirs. Throws the same. */
  open(upload: { userId: string; importId: string; at: Date }): Promise<ImportStepRun | { outcome: "unknown" }>;
  /** @throws what `Database.call` throws, and `unavailable` on a malformed answer. */
  runStep(step: ImportStep): Promise<ImportStepRun>;
}

/** Of one step: how long all of them may take, the page says. */
const STEP_MS = 10_000;

export const createImportStore = (database: Database): ImportStore => ({
  async open({ userId, importId, at }) {
    const answer = await database.call("open_upload", { user_id: userId, import_id: importId, at: at.toISOString() });
    return expectAnswer<ImportStepRun | { outcome: "unknown" }>(
      "open_upload",
      answer,
      hasOutcome("ok", "refused", "unknown"),
    );
  },
  async runStep({ userId, organizationId, arguments: args, at }) {
    const answer = await database.call("run_page_tool", {
      user_id: userId,
      organization_id: organizationId,
      tool: "import_expenses",
      arguments: args,
      at: at.toISOString(),
    }, { deadlineMs: STEP_MS });
    return expectAnswer<ImportStepRun>("run_page_tool", answer, hasOutcome("ok", "refused"));
  },
});
