/** Adds the reason for refusing a source's rates to a run's problems. */
import type { Problems } from "../../shared/jobs/problems.ts";
import type { Refusal } from "../../shared/rates/refusal.ts";
import type { SourceName } from "../../shared/rates/rate_set.ts";

export type NotUsed = Refusal | "malformed" | "no_answer" | "out_of_time";

export const refuseRates = (problems: Problems, source: SourceName, code: NotUsed) =>
  problems.add({
    stage: "rates",
    code,
    message: `A source of exchange rates was skipped: ${REASONS[code]}.`,
    ref: source,
  });

const REASONS: Record<NotUsed, string> = {
  malformed: "its response is malformed",
  no_answer: "it did not answer",
  out_of_time: "no time was left",
  not_positive: "a rate is not positive",
  missing_currency: "a currency that is always published is missing",
  too_few: "it has too few currencies",
  in_the_future: "its rates are dated in the future",
  jump: "a rate moved by more than a fifth",
  too_old: "its rates are more than a week older than the day",
  disagrees: "its rates are not near those of the central bank",
};
