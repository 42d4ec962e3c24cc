/**
 * Takes a file that the host passes: downloads and reads it, and stores each of its documents as an upload would.
 * Repeated calls store and attach nothing twice.
 */
import { cleanLine } from "../../../../shared/clean_text.ts";
import type { FactEnvelope } from "../../../../shared/connector/result.ts";
import type { FollowUp } from "../../../../shared/connector/tool.ts";
import { type Attach, keepRead } from "../../../../shared/documents/keep_read.ts";
import { readDocument } from "../../../../shared/documents/read_document.ts";
import type { RefusalFacts, Said } from "../../../../shared/words/message.ts";

interface PassedFile {
  download_url: string;
  mime_type?: string;
  file_name?: string;
}

/** The refusal of one document, with the reason in its parameters. */
const told = ({ code, params }: RefusalFacts) => ({ ...params, reason: code });

export const takeFile: FollowUp = async (first, { callTool, fetchFile }, { file, to, due_on }) => {
  if (!first.ok) return undefined;
  const { download_url: url, file_name: name = "document", mime_type: type = "" } = file as PassedFile;
  const fetched = await fetchFile(url);
  if ("refusal" in fetched) return { ok: false, error: fetched.refusal };
  const place = { ...(to !== undefined && { to }), ...(due_on !== undefined && { due_on }) };
  let failure: FactEnvelope | undefined;
  const answers: FactEnvelope[] = [];
  const warnings: Said[] = [];
  const attach: Attach = async (args) => {
    const isKept = args.step === undefined;
    const answer = await callTool("attach_document", isKept ? { ...args, ...place } : args, { isLong: !isKept });
    if (!answer.ok) failure ??= answer;
    else if (isKept) answers.push(answer);
    return answer;
  };
  for (const document of await readDocument(fetched.bytes, { name, type })) {
    if (document.refusal) {
      warnings.push({
        code: "document_left_out",
        params: { ...told(document.refusal), name: cleanLine(document.name).slice(0, 120) },
      });
      continue;
    }
    await keepRead(attach, document);
    if (failure) return failure;
  }
  const last = answers.at(-1);
  if (!last) {
    return {
      ok: false,
      error: { code: "invalid_argument.document_refused", params: warnings[0]!.params!, field: "file" },
    };
  }
  const documents = answers.map(({ data }) => data?.document);
  return {
    ...last,
    data: documents.length === 1 ? { document: documents[0] } : { documents },
    warnings: [...answers.flatMap(({ warnings = [] }) => warnings), ...warnings],
  };
};
