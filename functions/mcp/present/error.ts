/** Turns a refusal of the database into the error for the client. */
import type { ToolError } from "../../../shared/connector/result.ts";
import type { Subject, Told } from "../../../shared/words/facts.ts";
import type { Refusal, RefusalFacts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";
import { type Bill, presentBill } from "./bill.ts";
import { type ChangeFacts, presentChange } from "../../../shared/words/change.ts";
import {
  type ImportDetails,
  presentBadRows,
  presentLeftOut,
  presentMapping,
  presentQuestions,
} from "../tools/import_expenses/answer.ts";
import { findWords, publicCode } from "../../../shared/words/codes.ts";

/** Codes for which no retry, with other arguments or later, can succeed. */
const FINAL = new Set([
  "already_paid",
  "already_undone",
  "awaiting_approval",
  "feature_not_in_plan",
  "forbidden_role",
  "idempotency_conflict",
  "insufficient_scope",
  "not_decided",
  "undo_conflict",
  "undo_expired",
]);

/** The facts of a refusal besides its code, for its message and for the client. */
interface Params extends Told {
  of_items?: { failed: number; all: number; first: number; name: string; results: { error: RefusalFacts }[] };
  details?: Details;
  change?: ChangeFacts;
}

interface NamedChange {
  change_id: string;
  change: ChangeFacts;
}

interface Details extends Partial<ImportDetails> {
  current?: Bill | { category?: string };
  earlier?: NamedChange;
  later?: NamedChange;
  problems?: RefusalFacts[];
  rows?: { subject: Subject }[];
}

export function presentError(refusal: RefusalFacts, words: Words): ToolError {
  const code = publicCode(refusal.code);
  return { ...explain(refusal, words), retryable: !FINAL.has(code) };
}

function explain({ code, params = {}, field }: RefusalFacts, words: Words): Omit<ToolError, "retryable"> {
  const explainCode = findWords<Refusal>(words.refusals, code, words.answer.unknownRefusal);
  const { of_items: items, details: facts, change } = params as Params;
  const details = facts && presentDetails(facts, words);
  const { message, hint } = explainCode({
    ...params,
    ...(details && { details }),
    ...(change && { summary: presentChange(change, words) }),
  });
  const isOneOfMany = items !== undefined && items.all > 1;
  return {
    code: publicCode(code),
    message: isOneOfMany ? words.ofItems(items) + message : message,
    ...(field && { field }),
    ...(hint && { hint }),
    ...((details || items) && {
      details: {
        ...details,
        ...(items && {
          results: items.results.map(({ error, ...item }) => ({ ...item, error: explain(error, words) })),
        }),
      },
    }),
  };
}

/** One of several problems with the arguments, all with the same code. */
function presentProblem(problem: RefusalFacts, words: Words): Omit<ToolError, "retryable" | "code"> {
  const { code: _, ...told } = explain(problem, words);
  return told;
}

/** The details for the client besides the message: labels, and bills in the usual form. */
function presentDetails(details: Details, words: Words): Told {
  if (details.current) {
    const { current } = details;
    const named = { ...current, category: current.category ?? words.labels.uncategorized };
    return { ...details, current: "schedule" in current ? presentBill(current, words) : named };
  }
  if (details.earlier) return { ...details, earlier: presentNamed(details.earlier, words) };
  if (details.rows_bad) {
    const { rows_bad, mapping } = details as ImportDetails & Details;
    return { ...details, rows_bad: presentBadRows(rows_bad!, words), mapping: presentMapping(mapping, words) };
  }
  if (details.left_out || details.questions) {
    const { left_out, questions } = details;
    return {
      ...details,
      ...(left_out && { left_out: presentLeftOut(left_out, words) }),
      ...(questions && { questions: presentQuestions(questions, words) }),
    };
  }
  if (details.problems) {
    return { ...details, problems: details.problems.map((one) => presentProblem(one, words)) };
  }
  if (details.rows) {
    const rows = details.rows.map(({ subject, ...row }) => ({ ...row, what: words.subject(subject) }));
    return { ...details, rows, ...(details.later && { later: presentNamed(details.later, words) }) };
  }
  return { ...details };
}

const presentNamed = ({ change_id, change }: NamedChange, words: Words) => ({
  change_id,
  summary: presentChange(change, words),
});
