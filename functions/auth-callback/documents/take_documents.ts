/** Reads uploaded documents, stores each once, and attaches it if the match is certain. */
import { Buffer } from "node:buffer";
import { cleanLine } from "../../../shared/clean_text.ts";
import type { FactEnvelope } from "../../../shared/connector/result.ts";
import type { ReadDocument } from "../../../shared/documents/facts.ts";
import { readDocument } from "../../../shared/documents/read_document.ts";
import { ShownDocument } from "../../../shared/documents/shown.ts";
import { AppError } from "../../../shared/errors.ts";
import type { SentFile } from "../../../shared/http/file_form.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import type { RefusalFacts } from "../../../shared/words/message.ts";
import type { PageDeps } from "../page_guards.ts";

/** The file is not a document at all, as opposed to an unreadable one. */
const OTHER_KINDS = [
  "invalid_argument.document_empty",
  "invalid_argument.document_unknown_kind",
  "invalid_argument.document_unknown_xml",
];

export interface ReadFile {
  isDocument: boolean;
  documents: readonly ReadDocument[];
}

export type Taken = { name: string } & ({ document: ShownDocument } | { refusal: RefusalFacts });

/** One at a time: reading takes memory. */
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

/** A mail may hold several documents. @throws {AppError} `forbidden` when the person may no longer add any. */
export async function takeDocuments(
  deps: PageDeps,
  { user, organizationId, read }: { user: SignedInUser; organizationId: string; read: readonly ReadFile[] },
): Promise<Taken[]> {
  const attach = async (args: Record<string, unknown>): Promise<FactEnvelope> => {
    const answer = await deps.documents.attach({ userId: user.id, organizationId, arguments: args, at: deps.clock() });
    if (answer.outcome === "ok") return answer.result;
    throw new AppError("forbidden", "refused meanwhile", { says: ({ uploadRefused }) => uploadRefused });
  };
  const taken: Taken[] = [];
  for (const document of read.flatMap(({ documents }) => documents)) taken.push(await take(attach, document));
  return taken;
}

async function take(
  attach: (args: Record<string, unknown>) => Promise<FactEnvelope>,
  { name, type, bytes, facts, refusal }: ReadDocument,
): Promise<Taken> {
  if (!facts) return { name, refusal: refusal! };
  const kept = await attach({
    step: "keep",
    content: Buffer.from(bytes).toString("base64"),
    name: cleanLine(name).trim() || "document",
    type,
    facts,
  });
  if (!kept.ok) return { name, refusal: kept.error! };
  const document = documentOf(kept);
  // Setting a bill's amount may need approval; the document is kept either way.
  const attached = await attach({ document_id: document.id });
  return { name, document: attached.ok ? documentOf(attached) : document };
}

export const documentOf = ({ data }: FactEnvelope): ShownDocument => ShownDocument.parse(data?.document);
