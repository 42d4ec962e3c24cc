/** The contract of `list_documents`; `app.list_documents` does the work. */
import { id, object, text } from "../../../../shared/connector/schema.ts";
import { defineTool, READ } from "../../../../shared/connector/tool.ts";
import { answer } from "./answer.ts";

export const listDocuments = defineTool({
  name: "list_documents",
  annotations: READ,
  inputSchema: object({
    document_id: id("doc"),
    is_filed: { type: "boolean" },
    query: text(120),
  }),
  data: { documents: "array", count: "integer" },
  answer,
});
