/** `undo_change`: lists the reverted records and those it could not revert. */
import * as z from "zod/mini";
import { presenter } from "../../../../shared/connector/tool.ts";
import { ChangeFacts, presentChange } from "../../../../shared/words/change.ts";
import { Subject } from "../../../../shared/words/facts.ts";
import type { Words } from "../../../../shared/words/words.ts";

const Undo = z.object({
  undone: z.object({ change: ChangeFacts, by: z.optional(z.nullable(z.string())) }),
  reversed: z.array(z.object({
    id: z.string(),
    subject: Subject,
    verb: z.optional(z.string()),
    fields: z.optional(z.array(z.string())),
  })),
  not_reversible: z.array(z.object({
    id: z.string(),
    why: z.enum(["connection_ended", "lines_gone", "in_use"]),
    subject: Subject,
  })),
});

function presentUndo({ undone, reversed, not_reversible, ...data }: z.infer<typeof Undo>, words: Words) {
  const { change, ...rest } = undone;
  return {
    ...data,
    undone: { ...rest, by: rest.by ?? words.labels.formerMember, summary: presentChange(change, words) },
    reversed: reversed.map(({ id, subject, ...row }) => ({
      id,
      what: words.reversal({ ...row, what: words.subject(subject) }),
    })),
    not_reversible: not_reversible.map(({ id, why, subject }) => ({
      id,
      what: words.kept[why](words.subject(subject)),
    })),
  };
}

export const answer = presenter(Undo, presentUndo);
