/** `undo_change`: describes what it reverted and what it could not revert. */
import type { Facts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";
import { presentChange } from "../../../shared/words/change.ts";

export function presentUndo({ undone, reversed, not_reversible, ...data }: Facts, words: Words): Facts {
  const { change, ...rest } = undone;
  return {
    ...data,
    undone: { ...rest, by: rest.by ?? words.labels.formerMember, summary: presentChange(change, words) },
    reversed: reversed.map(({ id, subject, ...row }: Facts) => ({
      id,
      what: words.reversal({ ...row, what: words.subject(subject) }),
    })),
    not_reversible: not_reversible.map(({ id, why, subject }: Facts) => ({
      id,
      what: words.kept[why as keyof Words["kept"]](words.subject(subject)),
    })),
  };
}
