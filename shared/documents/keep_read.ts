/** Stores a document that was read, and attaches it where it certainly belongs. */
import { Buffer } from "node:buffer";
import { cleanLine } from "../clean_text.ts";
import type { FactEnvelope } from "../connector/result.ts";
import type { RefusalFacts } from "../words/message.ts";
import type { ReadDocument } from "./facts.ts";
import { ShownDocument } from "./shown.ts";

export type Taken = { name: string } & ({ document: ShownDocument } | { refusal: RefusalFacts });

/** Calls `attach_document` as the person who adds it. */
export type Attach = (args: Record<string, unknown>) => Promise<FactEnvelope>;

/** Twice is the same document: it is kept once by its content. */
export async function keepRead(
  attach: Attach,
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

const documentOf = ({ data }: FactEnvelope): ShownDocument => ShownDocument.parse(data?.document);
