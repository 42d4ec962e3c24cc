/** The database calls of the pages about documents, run as the signed-in person. */
import { either, outcome } from "../outcome.ts";
import type { Arguments } from "../connector/tool.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";
import { createPageToolStore, PageToolRun } from "./page_tool_store.ts";

/** One call carries up to ten megabytes. */
const FILE_MS = 20_000;

export const ANSWERS = { open_document: either(PageToolRun, outcome(["unknown"])) };

export interface OpenedDocument {
  userId: string;
  documentId: string;
  at: Date;
}

export interface AttachStep {
  userId: string;
  organizationId: string;
  /** Arguments of `app.attach_document`. */
  arguments: Arguments;
  at: Date;
}

export type DocumentStore = ReturnType<typeof createDocumentStore>;

/** Every method throws what `Database.call` throws. */
export const createDocumentStore = (database: Database) => ({
  /** @param content whether to return the bytes */
  open: ({ userId, documentId, at }: OpenedDocument, content = false) =>
    asking(database, ANSWERS)("open_document", {
      user_id: userId,
      document_id: documentId,
      content,
      at: at.toISOString(),
    }, content ? { deadlineMs: FILE_MS } : {}),

  attach: (step: AttachStep) => createPageToolStore(database).run({ ...step, tool: "attach_document" }, FILE_MS),
});
