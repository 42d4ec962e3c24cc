/** The contract of `attach_document`; `app.attach_document` does the work. */
import { date, id, object, text } from "../../../../shared/connector/schema.ts";
import { type Arguments, defineTool, type ParsedArguments, UPDATE } from "../../../../shared/connector/tool.ts";
import { answer } from "./answer.ts";

export const attachDocument = defineTool({
  name: "attach_document",
  annotations: UPDATE,
  inputSchema: object({
    document_id: id("doc"),
    to: text(40, {
      pattern: "^((exp|bill|pay)_[0-9a-z]{8,32}|none)$",
      description: "Id, or none.",
    }),
    due_on: date(),
  }),
  data: { upload: "object", document: "object" },
  answer,
  refine,
});

function refine(value: Arguments): ParsedArguments {
  if (value.document_id !== undefined) return { ok: true, value };
  return value.to === undefined && value.due_on === undefined
    ? { ok: true, value: { step: "start" } }
    : { ok: false, error: { code: "invalid_argument.document_not_named", field: "document_id" } };
}
