/** A refusal of the database as the error that a client gets. */
import type { ToolError } from "../../../shared/connector/result.ts";
import type { Facts, Refusal, RefusalFacts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";
import { presentBill } from "./bill.ts";
import { presentChange } from "./change.ts";
import { presentBadRows, presentMapping } from "./import_expenses.ts";
import { findWords } from "./find_words.ts";
import { publicCode } from "./present.ts";

/** Whether calling again, with other arguments or later, can reach what was meant. */
const FINAL = new Set([
  "already_paid",
  "feature_not_in_plan",
  "forbidden_role",
  "idempotency_conflict",
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

/** One of several things that are wrong with the arguments, all of one code. */
function presentProblem(problem: RefusalFacts, words: Words): Omit<ToolError, "retryable" | "code"> {
  const { code: _, ...told } = explain(problem, words);
  return told;
}

/** What a client is given beside the words, its own words included: things by their names, a bill as it is shown everywhere. */
function presentDetails(details: Facts, words: Words): Facts {
  if (details?.current) {
    const { current } = details;
    const named = { ...current, category: current.category ?? words.labels.uncategorized };
    return { ...details, current: current.schedule ? presentBill(current, words) : named };
  }
  if (details?.rows_bad) {
    const { rows_bad, mapping } = details;
    return { ...details, rows_bad: presentBadRows(rows_bad, words), mapping: presentMapping(mapping, words) };
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
