/** What a person answered about a file, as the mapping that it is read with. */
import type { Question } from "./conventions.ts";
import type { Mapping } from "./find_columns.ts";

/** The questions about a whole file, with what may be answered. */
const OPTIONS: Record<Question["id"], readonly (string | boolean)[]> = {
  negative_is_expense: [true, false],
  date_format: ["YYYY-MM-DD", "DD/MM/YYYY", "MM/DD/YYYY", "DD.MM.YYYY"],
  decimal: [".", ","],
};

/** @param answers by the question's id; those about rows, and what is no answer, are passed over. */
export function mappingOf(answers: Readonly<Record<string, unknown>>): Mapping {
  const given = Object.entries(OPTIONS).flatMap(([id, options]) => {
    const answer = Object.hasOwn(answers, id) ? answers[id] : undefined;
    const said = answer === "true" ? true : answer === "false" ? false : answer;
    return options.some((option) => option === said) ? [[id, said]] : [];
  });
  return Object.fromEntries(given);
}
