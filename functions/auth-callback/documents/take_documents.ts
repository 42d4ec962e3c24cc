/** Reads uploaded documents, stores each one once, and attaches it if the match is certain. */
import type { ReadDocument } from "../../../shared/documents/facts.ts";
import { type Attach, keepRead, type Taken } from "../../../shared/documents/keep_read.ts";
import { readDocument } from "../../../shared/documents/read_document.ts";
import { AppError } from "../../../shared/errors.ts";
import type { SentFile } from "../../../shared/http/file_form.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import type { PageDeps } from "../page_guards.ts";

/** Whether the file is not a document at all, as opposed to an unreadable one. */
const OTHER_KINDS = [
  "invalid_argument.document_empty",
  "invalid_argument.document_unknown_kind",
  "invalid_argument.document_unknown_xml",
];

export interface ReadFile {
  isDocument: boolean;
  documents: readonly ReadDocument[];
}

/** Reads one at a time to limit memory. */
export async function readDocuments(files: readonly SentFile[]): Promise<ReadFile[]> {
  const read: ReadFile[] = [];
  for (const { name, type, bytes } of files) {
    const documents = await readDocument(bytes, { name, type });
    read.push({
      documents,
      isDocument: documents.some(({ refusal }) => !OTHER_KINDS.includes(refusal?.code ?? "")),
    });
  }
  return read;
}

/** A mail may contain several documents. @throws {AppError} `forbidden` when the person may no longer add any. */
export async function takeDocuments(
  deps: PageDeps,
  { user, organizationId, read }: { user: SignedInUser; organizationId: string; read: readonly ReadFile[] },
): Promise<Taken[]> {
  const attach: Attach = async (args) => {
    const answer = await deps.documents.attach({ userId: user.id, organizationId, arguments: args, at: deps.clock() });
    if (answer.outcome === "ok") return answer.result;
    throw new AppError("forbidden", "refused meanwhile", { says: ({ uploadRefused }) => uploadRefused });
  };
  const taken: Taken[] = [];
  for (const document of read.flatMap(({ documents }) => documents)) taken.push(await keepRead(attach, document));
  return taken;
}
