/** Turns a refusal of the database into the error that a client gets. */
import type { ToolError } from "../../../shared/connector/result.ts";
import type { Facts, Refusal, RefusalFacts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";
import { presentBill } from "./bill.ts";
import { presentChange } from "../../../shared/words/change.ts";
import { presentBadRows, presentLeftOut, presentMapping, presentQuestions } from "./import_expenses.ts";
import { findWords, publicCode } from "../../../shared/words/codes.ts";

/** Codes for which no retry, with other arguments or later, can succeed. */
const FINAL = new Set([
  "already_paid",
  "already_undone",
  "awaiting_approval",
  "feature_not_in_plan",
  "forbidden_role",
  "idempotency_conflict",
  "not_decided",
  "undo_conflict",
  "undo_expired",
]);

export function presentError(refusal: RefusalFacts, words: Words): ToolError {
  const code = publicCode(refusal.code);
  return { ...explain(refusal, words), retryable: !FINAL.has(code) };
}

function explain({ code, params = {}, field }: RefusalFacts, words: Words): Omit<ToolError, "retryable"> {
  const explainCode = findWords<Refusal>(words.refusals, code, words.answer.unknownRefusal);
  const { of_items: items } = params;
  const details = presentDetails(params.details, words);
  const { message, hint } = explainCode({
    ...params,
    ...(details && { details }),
    ...(params.change && { summary: presentChange(params.change, words) }),
  });
  const isOneOfMany = items?.all > 1;
  return {
    code: publicCode(code),
    message: isOneOfMany ? words.ofItems(items) + message : message,
    ...(field && { field }),
    ...(hint && { hint }),
    ...((details || items) && {
      details: {
        ...details,
        ...(items && {
          results: items.results.map(({ error, ...item }: Facts) => ({ ...item, error: explain(error, words) })),
        }),
      },
    }),
  };
}

/** One of several problems with the arguments, all of the same code. */
function presentProblem(problem: RefusalFacts, words: Words): Omit<ToolError, "retryable" | "code"> {
  const { code: _, ...told } = explain(problem, words);
  return told;
}

/** The details a client gets beside the message, put into words: labels, and bills in the usual form. */
function presentDetails(details: Facts, words: Words): Facts {
  if (details?.current) {
    const { current } = details;
    const named = { ...current, category: current.category ?? words.labels.uncategorized };
    return { ...details, current: current.schedule ? presentBill(current, words) : named };
  }
  if (details?.earlier) {
    const { change_id, change } = details.earlier;
    return { ...details, earlier: { change_id, summary: presentChange(change, words) } };
  }
  if (details?.rows_bad) {
    const { rows_bad, mapping } = details;
    return { ...details, rows_bad: presentBadRows(rows_bad, words), mapping: presentMapping(mapping, words) };
  }
  if (details?.left_out || details?.questions) {
    const { left_out, questions } = details;
    return {
      ...details,
      ...(left_out && { left_out: presentLeftOut(left_out, words) }),
      ...(questions && { questions: presentQuestions(questions, words) }),
    };
  }
  if (details?.problems) {
    return { ...details, problems: details.problems.map((one: RefusalFacts) => presentProblem(one, words)) };
  }
  if (details?.rows) {
    const rows = details.rows.map(({ subject, ...row }: Facts) => ({ ...row, what: words.subject(subject) }));
    return { ...details, rows };
  }
  return details;
}
