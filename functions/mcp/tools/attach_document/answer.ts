/** Puts the doubts about a document into words (`attach_document`, `list_documents`). */
import * as z from "zod/mini";
import { presenter } from "../../../../shared/connector/tool.ts";
import { findWords } from "../../../../shared/words/codes.ts";
import { Said } from "../../../../shared/words/message.ts";
import type { Words } from "../../../../shared/words/words.ts";

export const Document = z.object({
  state: z.enum(["filed", "question", "new", "unread"]),
  record: z.optional(z.looseObject({ status: z.optional(z.string()), differs: z.optional(z.boolean()) })),
  copy_of: z.optional(z.looseObject({ name: z.string() })),
  proposal: z.optional(z.unknown()),
  remembered: z.optional(z.record(z.string(), z.string())),
  doubts: z.optional(z.array(Said)),
  iban_was: z.optional(z.string()),
});

export const presentDocument = ({ doubts, remembered, ...document }: z.infer<typeof Document>, words: Words) => ({
  ...document,
  hint: hintOf(document, words),
  ...(remembered && { remembered: words.documents.remembered(remembered) }),
  ...(doubts && { doubts: presentDoubts(doubts, words) }),
  ...(document.iban_was && { alert: words.documents.ibanAlert }),
});

/** The next step, and anything else a person must know about an attached document. */
function hintOf({ state, record, copy_of, proposal }: z.infer<typeof Document>, { documents }: Words): string {
  const { hints } = documents;
  if (state === "new") return proposal === undefined ? hints.partial : hints.new;
  if (state !== "filed") return hints[state];
  if (record?.status === "deleted") return hints.deleted;
  return [copy_of ? hints.copy : hints.filed, ...(record?.differs ? [hints.differs] : [])].join(" ");
}

/** The amounts in a document that do not add up. */
export const presentDoubts = (doubts: readonly z.infer<typeof Said>[], { documents, answer }: Words): string[] =>
  doubts.map(({ code, params }) => findWords(documents.doubts, code, answer.unknownText)(params ?? {}));

export const answer = presenter(
  z.object({ document: z.optional(Document), documents: z.optional(z.array(Document)) }),
  ({ document, documents, ...data }, words) => ({
    ...data,
    ...(document && { document: presentDocument(document, words) }),
    ...(documents && { documents: documents.map((one) => presentDocument(one, words)) }),
  }),
);
