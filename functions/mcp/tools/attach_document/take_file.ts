/**
 * Downloads and reads a file that the host passes, and stores each of its documents as an upload would. Repeated calls
 * store and attach nothing twice.
 */
import { cleanLine } from "../../../../shared/clean_text.ts";
import type { FactEnvelope } from "../../../../shared/connector/result.ts";
import type { FollowUp } from "../../../../shared/connector/tool.ts";
import { type Attach, keepRead } from "../../../../shared/documents/keep_read.ts";
import { readDocument } from "../../../../shared/documents/read_document.ts";
import { ShownDocument } from "../../../../shared/documents/shown.ts";
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
  const read = await readDocument(fetched.bytes, { name, type });
  const place = { ...(to !== undefined && { to }), ...(due_on !== undefined && { due_on }) };
  const fields = Object.keys(place);
  // The record chosen for one document is wrong for the others, and the last one would set its amount.
  const hasPlace = read.filter(({ facts }) => facts).length === 1;
  let failure: FactEnvelope | undefined;
  let proposalId: string | undefined;
  let kept: FactEnvelope;
  const answers: FactEnvelope[] = [];
  const warnings: Said[] = [];
  const attach: Attach = async (args) => {
    if (args.step !== undefined) {
      kept = await callTool("attach_document", args, { isLong: true });
      if (!kept.ok) failure = kept;
      return kept;
    }
    const answer = await callTool("attach_document", hasPlace ? { ...args, ...place } : args);
    proposalId ??= answer.proposal_id;
    if (answer.ok) answers.push(answer);
    // The client can repeat the whole call.
    else if (answer.error!.code === "busy") failure = answer;
    else answers.push({ ...kept, warnings: keptWarnings(kept, answer.error!.code) });
    return answer;
  };
  for (const document of read) {
    if (document.refusal) {
      warnings.push({
        code: "document_left_out",
        params: { ...told(document.refusal), name: cleanLine(document.name).slice(0, 120) },
      });
      continue;
    }
    await keepRead(attach, document);
    if (failure) return { ...failure, ...(proposalId && { proposal_id: proposalId }) };
  }
  const last = answers.at(-1);
  if (!last) {
    return {
      ok: false,
      error: { code: "invalid_argument.document_refused", params: warnings[0]!.params!, field: "file" },
    };
  }
  if (!hasPlace && fields.length > 0) warnings.push({ code: "document_place_unused", params: { fields } });
  const { change_id: _, ...envelope } = last;
  return {
    ...(answers.length === 1 ? last : envelope),
    data: answers.length === 1 ? { document: last.data?.document } : { documents: answers.map(withChange) },
    warnings: [...answers.flatMap(({ warnings = [] }) => warnings), ...warnings],
    ...(proposalId && { proposal_id: proposalId }),
  };
};

/** The warnings for a document that was stored but not attached. */
function keptWarnings({ data }: FactEnvelope, reason: string): Said[] {
  const { id, name, read: { payee, iban }, iban_was: was } = ShownDocument.parse(data?.document);
  return [
    ...(was ? [{ code: "iban_changed", params: { payee, iban, was } }] : []),
    { code: "document_not_attached", params: { name, document_id: id, reason } },
  ];
}

const withChange = ({ data, change_id }: FactEnvelope) => ({
  ...(data?.document as Record<string, unknown>),
  ...(change_id && { change_id }),
});
