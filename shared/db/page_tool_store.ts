/** Tools run for a page's signed-in person (`public.run_page_tool`): what an assistant of theirs could do. */
import type { FactEnvelope } from "../connector/result.ts";
import type { Arguments } from "../connector/tool.ts";
import { expectAnswer, hasOutcome } from "./answer.ts";
import type { Database } from "./client.ts";

export interface PageTool {
  userId: string;
  organizationId: string;
  tool: string;
  arguments: Arguments;
  at: Date;
}

/** `refused`: no member any more, or a write without a plan that includes it. */
export type PageToolRun =
  | { outcome: "ok"; result: FactEnvelope & { proposal_id?: string; change_id?: string } }
  | { outcome: "refused" };

export interface PageToolStore {
  /** @throws what `Database.call` throws, and `unavailable` on a malformed answer. */
  run(tool: PageTool): Promise<PageToolRun>;
}

export const createPageToolStore = (database: Database): PageToolStore => ({
  async run({ userId, organizationId, tool, arguments: args, at }) {
    const answer = await database.call("run_page_tool", {
      user_id: userId,
      organization_id: organizationId,
      tool,
      arguments: args,
      at: at.toISOString(),
    });
    return expectAnswer<PageToolRun>("run_page_tool", answer, hasOutcome("ok", "refused"));
  },
});
