/** `list_documents`: every document in words. */
import * as z from "zod/mini";
import { presenter } from "../../../../shared/connector/tool.ts";
import { Document, presentDocument } from "../attach_document/answer.ts";

export const answer = presenter(
  z.object({ documents: z.optional(z.array(Document)) }),
  ({ documents, ...data }, words) => ({
    ...data,
    ...(documents && { documents: documents.map((document) => presentDocument(document, words)) }),
  }),
);
