/** `import_expenses`: assumptions, questions, omitted and unreadable rows with reasons, and missing categories. */
import * as z from "zod/mini";
import { presenter } from "../../../../shared/connector/tool.ts";
import { findWords } from "../../../../shared/words/codes.ts";
import { Told } from "../../../../shared/words/facts.ts";
import { type Refusal, RefusalFacts, Said } from "../../../../shared/words/message.ts";
import type { Words } from "../../../../shared/words/words.ts";

const BadRow = z.object({ error: RefusalFacts });
const Mapping = z.object({ assumed: z.array(Said) });
const LeftOut = z.object({ kind: z.string(), count: z.number() });
const Asked = z.object({ id: z.string(), about: z.optional(Told) });
const State = z.object({ import_id: z.string(), state: z.string(), done: z.number(), total: z.number() });

const Import = z.object({
  import: z.optional(State),
  preview: z.optional(z.object({
    rows_bad: z.array(BadRow),
    mapping: Mapping,
    left_out: z.optional(z.array(LeftOut)),
    questions: z.optional(z.array(Asked)),
    sample: z.array(z.object({ category: z.optional(z.string()) })),
  })),
});

/** The facts of a refused import besides its code. */
export interface ImportDetails {
  rows_bad?: z.infer<typeof BadRow>[];
  mapping: z.infer<typeof Mapping>;
  left_out?: z.infer<typeof LeftOut>[];
  questions?: z.infer<typeof Asked>[];
}

const presentImport = ({ preview, import: state, ...data }: z.infer<typeof Import>, words: Words) =>
  state ? { written: 0, import: presentState(state, words) } : preview
    ? {
      ...data,
      written: 0,
      why: words.importing.onlyShown(!!preview.questions?.length),
      preview: {
        ...preview,
        rows_bad: presentBadRows(preview.rows_bad, words),
        mapping: presentMapping(preview.mapping, words),
        ...(preview.left_out && { left_out: presentLeftOut(preview.left_out, words) }),
        ...(preview.questions && { questions: presentQuestions(preview.questions, words) }),
        sample: preview.sample.map((row) => ({ ...row, category: row.category ?? words.labels.uncategorized })),
      },
    }
    : data;

/** The progress of an import and the next step. */
const presentState = ({ import_id, state, done, total }: z.infer<typeof State>, { importing }: Words) => ({
  ...{ import_id, state, done, total },
  hint: importing.underWay,
});

/** Why the file reader or the database omits each row. */
export const presentBadRows = <Row extends z.infer<typeof BadRow>>(rows: readonly Row[], { refusals, answer }: Words) =>
  rows.map(({ error, ...row }) => ({
    ...row,
    reason: findWords<Refusal>(refusals, error.code, answer.unknownRefusal)(error.params ?? {}).message,
  }));

export const presentMapping = <Known extends z.infer<typeof Mapping>>(
  { assumed, ...mapping }: Known,
  { assumptions, answer }: Words,
) => ({
  ...mapping,
  assumed: assumed.map(({ code, params }) => findWords(assumptions, code, answer.unknownText)(params ?? {})),
});

/** Each kind of omitted rows, with its count in words. */
export const presentLeftOut = <Kind extends z.infer<typeof LeftOut>>(
  kinds: readonly Kind[],
  { leftOut, answer }: Words,
) =>
  kinds.map((kind) => ({
    ...kind,
    message: (leftOut as Record<string, (count: number) => string>)[kind.kind]?.(kind.count) ??
      answer.unknownText(kind.kind),
  }));

export const presentQuestions = <Question extends z.infer<typeof Asked>>(
  open: readonly Question[],
  { questions, answer }: Words,
) =>
  open.map((question) => ({
    ...question,
    message: findWords(questions, question.id.replace(/_\d+$/, ""), answer.unknownText)(question.about ?? {}),
  }));

export const answer = presenter(Import, presentImport);
