/** Stores a read document, and attaches it if its record is certain. */
import { Buffer } from "node:buffer";
import { cleanLine } from "../clean_text.ts";
import type { FactEnvelope } from "../connector/result.ts";
import type { RefusalFacts } from "../words/message.ts";
import type { ReadDocument } from "./facts.ts";
import { ShownDocument } from "./shown.ts";

export type Taken = { name: string } & ({ document: ShownDocument } | { refusal: RefusalFacts });

/** Calls `attach_document` as the person who adds the document. */
export type Attach = (args: Record<string, unknown>) => Promise<FactEnvelope>;

/** Repeated calls store a document once, because equal content means the same document. */
export async function keepRead(
  attach: Attach,
  { name, type, bytes, facts, layout, refusal }: ReadDocument,
): Promise<Taken> {
  if (!facts) return { name, refusal: refusal! };
  const kept = await attach({
    step: "keep",
    content: Buffer.from(bytes).toString("base64"),
    name: cleanLine(name).trim() || "document",
    type,
    facts,
    ...(layout && { layout }),
  });
  if (!kept.ok) return { name, refusal: kept.error! };
  const document = documentOf(kept);
  // Setting a bill's amount may need approval. The document is stored either way.
  const attached = await attach({ document_id: document.id });
  return { name, document: attached.ok ? documentOf(attached) : document };
}

const documentOf = ({ data }: FactEnvelope): ShownDocument => ShownDocument.parse(data?.document);
