/** Adds a document as the upload page does. */
import type { Books, Json } from "../books.ts";

let files = 0;

/** @param facts with the reader's data for the database in `layout` @returns the document's description */
export async function keepDocument(
  books: Books,
  { layout, ...facts }: Json,
  content = `file ${++files}`,
): Promise<Json> {
  const { document } = await books.ok("attach_document", {
    step: "keep",
    content: btoa(content),
    name: "invoice.xml",
    type: "application/xml",
    facts: { kind: "invoice", format: "ubl", currency: "EUR", questions: [], ...facts },
    ...(layout && { layout }),
  });
  return (await books.ok("attach_document", { document_id: document.id })).document;
}
