/** The upload page's database calls: steps of an import that run as the signed-in person. */
import { either, outcome } from "../outcome.ts";
import type { Arguments } from "../connector/tool.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";
import { createPageToolStore, PageToolRun } from "./page_tool_store.ts";

export interface ImportStep {
  userId: string;
  organizationId: string;
  /** `{step, import_id, …}`; the steps are those of `app.import_expenses`. */
  arguments: Arguments;
  at: Date;
}

/** The limit for one step; the page sets the limit for all of them. */
const STEP_MS = 10_000;

export const ANSWERS = { open_upload: either(PageToolRun, outcome(["unknown"])) };

export type ImportStore = ReturnType<typeof createImportStore>;

/** Every method throws what `Database.call` throws. */
export const createImportStore = (database: Database) => ({
  /** Step `open`, which returns the import's organization; `unknown` unless the import is theirs. */
  open: ({ userId, importId, at }: { userId: string; importId: string; at: Date }) =>
    asking(database, ANSWERS)("open_upload", { user_id: userId, import_id: importId, at: at.toISOString() }),

  runStep: (step: ImportStep) => createPageToolStore(database).run({ ...step, tool: "import_expenses" }, STEP_MS),
});
