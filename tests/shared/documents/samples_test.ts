/** Every sample of tests/fixtures/documents yields exactly the facts in its expected file. */
import { assertEquals } from "@std/assert";
import type { ReadDocument } from "../../../shared/documents/facts.ts";
import { readDocument } from "../../../shared/documents/read_document.ts";
import invoices from "../../fixtures/documents/invoices.json" with { type: "json" };
import { INVOICES } from "../../fixtures/documents/invoices.ts";
import mails from "../../fixtures/documents/mails.json" with { type: "json" };
import { MAILS } from "../../fixtures/documents/mails.ts";
import pdfs from "../../fixtures/documents/pdfs.json" with { type: "json" };
import { PDFS } from "../../fixtures/documents/pdfs.ts";

const bytes = (text: string) => new TextEncoder().encode(text);
const named = (ending: string, documents: Record<string, Uint8Array>) =>
  Object.fromEntries(Object.entries(documents).map(([name, file]) => [`${name}.${ending}`, file]));
const SAMPLES: [expected: Record<string, unknown>, documents: Record<string, Uint8Array>][] = [
  [invoices, named("xml", Object.fromEntries(Object.entries(INVOICES).map(([name, text]) => [name, bytes(text)])))],
  [pdfs, named("pdf", PDFS)],
  [mails, named("eml", MAILS)],
];

/** Omits the bytes, and for the file itself also its name. */
const told = (documents: ReadDocument[], own: string) =>
  documents.map(({ name, type, facts, refusal }) => ({
    ...(name !== own && { name }),
    type,
    ...(facts && { facts }),
    ...(refusal && { refusal }),
  }));

for (const [expected, documents] of SAMPLES) {
  for (const [name, file] of Object.entries(documents)) {
    Deno.test(`readDocument() reads ${name} like its expected file`, async () => {
      const read = await readDocument(file, { name, type: "application/octet-stream" });
      assertEquals(told(read, name), expected[name]);
    });
  }
  Deno.test(`every expected document of ${Object.keys(expected)[0]} and the others has a sample`, () => {
    assertEquals(Object.keys(expected).toSorted(), Object.keys(documents).toSorted());
  });
}
