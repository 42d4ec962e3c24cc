/** Runs tools for a page's signed-in person, with the rights that their assistant has (`public.run_page_tool`). */
import * as z from "zod/mini";
import { either, outcome } from "../outcome.ts";
import { FactEnvelope } from "../connector/result.ts";
import type { Arguments } from "../connector/tool.ts";
import { OrganizationState } from "../organization_state.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";

export interface PageTool {
  userId: string;
  organizationId: string;
  tool: string;
  arguments: Arguments;
  at: Date;
}

/**
 * `refused`: the person is no longer a member, or the plan does not include the write. `state`: for tabs, from calls
 * that open a page; absent in the previous version's database.
 */
export const PageToolRun = either(
  outcome(["ok"], { result: FactEnvelope, state: z.optional(OrganizationState) }),
  outcome(["refused"]),
);

export const ANSWERS = { run_page_tool: PageToolRun };

/** @throws what `Database.call` throws. */
export const createPageToolStore = (database: Database) => ({
  /** @param deadlineMs for this call only */
  run: ({ userId, organizationId, tool, arguments: args, at }: PageTool, deadlineMs?: number) =>
    asking(database, ANSWERS)("run_page_tool", {
      user_id: userId,
      organization_id: organizationId,
      tool,
      arguments: args,
      at: at.toISOString(),
    }, { deadlineMs }),
});
export type PageToolStore = ReturnType<typeof createPageToolStore>;
