/** `import_expenses`: assumptions, questions, left-out and unreadable rows with reasons, and missing categories. */
import type { Facts, Refusal, Said } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";
import { findWords } from "../../../shared/words/codes.ts";

export const presentImport = ({ preview, import: state, ...data }: Facts, words: Words): Facts =>
  state ? { written: 0, import: presentState(state, words) } : preview
    ? {
      ...data,
      written: 0,
      why: words.importing.onlyShown,
      preview: {
        ...preview,
        rows_bad: presentBadRows(preview.rows_bad, words),
        mapping: presentMapping(preview.mapping, words),
        ...(preview.left_out && { left_out: presentLeftOut(preview.left_out, words) }),
        ...(preview.questions && { questions: presentQuestions(preview.questions, words) }),
        sample: preview.sample.map((row: Facts) => ({ ...row, category: row.category ?? words.labels.uncategorized })),
      },
    }
    : data;

/** The progress of an import and the next step. */
const presentState = ({ import_id, state, done, total }: Facts, { importing }: Words): Facts => ({
  ...{ import_id, state, done, total },
  hint: importing.underWay,
});

/** Why the file reader or the database leaves each row out. */
export const presentBadRows = (rows: Facts[], { refusals, answer }: Words): Facts[] =>
  rows.map(({ error, ...row }) => ({
    ...row,
    reason: findWords<Refusal>(refusals, error.code, answer.unknownRefusal)(error.params ?? {}).message,
  }));

export const presentMapping = ({ assumed, ...mapping }: Facts, { assumptions, answer }: Words): Facts => ({
  ...mapping,
  assumed: assumed.map(({ code, params }: Said) => findWords(assumptions, code, answer.unknownText)(params ?? {})),
});

/** Each kind of left-out rows, with its count in words. */
export const presentLeftOut = (kinds: Facts[], { leftOut, answer }: Words): Facts[] =>
  kinds.map((kind) => ({ ...kind, message: findWords(leftOut, kind.kind, answer.unknownText)(kind.count) }));

export const presentQuestions = (open: Facts[], { questions, answer }: Words): Facts[] =>
  open.map((question) => ({
    ...question,
    message: findWords(questions, question.id.replace(/_\d+$/, ""), answer.unknownText)(question.about),
  }));
