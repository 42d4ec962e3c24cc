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
    // ChatGPT requires these four fields: https://developers.openai.com/apps-sdk/reference
    file: object(
      { download_url: text(8192), file_id: text(300), mime_type: text(200), file_name: text(1000) },
      ["download_url", "file_id"],
      { additionalProperties: true },
    ),
  }),
  data: { upload: "object", document: "object", documents: "array" },
  // tools/list shows these arguments only to ChatGPT (functions/mcp/server.ts).
  meta: { "openai/fileParams": ["file"] },
  answer,
  refine,
  followUp: async (first, services, args) =>
    args.file === undefined ? undefined : await (await import("./take_file.ts")).takeFile(first, services, args),
});

function refine(value: Arguments): ParsedArguments {
  if (value.file !== undefined) {
    return value.document_id === undefined
      ? { ok: true, value: { ...value, step: "take" } }
      : { ok: false, error: { code: "invalid_argument.file_and_document_id", field: "file" } };
  }
  if (value.document_id !== undefined) return { ok: true, value };
  return value.to === undefined && value.due_on === undefined
    ? { ok: true, value: { step: "start" } }
    : { ok: false, error: { code: "invalid_argument.document_not_named", field: "document_id" } };
}
