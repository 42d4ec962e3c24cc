/** `import_expenses`: the assumptions, the reasons of unreadable rows, and the label for a missing category. */
import type { Facts, Refusal, Said } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";
import { findWords } from "./codes.ts";

export const presentImport = ({ preview, ...data }: Facts, words: Words): Facts =>
  preview
    ? {
      ...data,
      preview: {
        ...preview,
        rows_bad: presentBadRows(preview.rows_bad, words),
        mapping: presentMapping(preview.mapping, words),
        sample: preview.sample.map((row: Facts) => ({ ...row, category: row.category ?? words.labels.uncategorized })),
      },
    }
    : data;

/** Why each row is left out, by the file reader or the database. */
export const presentBadRows = (rows: Facts[], { refusals, answer }: Words): Facts[] =>
  rows.map(({ error, ...row }) => ({
    ...row,
    reason: findWords<Refusal>(refusals, error.code, answer.unknownRefusal)(error.params ?? {}).message,
  }));

export const presentMapping = ({ assumed, ...mapping }: Facts, { assumptions, answer }: Words): Facts => ({
  ...mapping,
  assumed: assumed.map(({ code, params }: Said) => findWords(assumptions, code, answer.unknownText)(params ?? {})),
});
