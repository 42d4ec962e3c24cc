/** Messages for mails that were not sent or may have been lost, by code. */
import type { Problem } from "../../shared/jobs/problems.ts";

const MESSAGES: Record<string, string> = {
  address_refused: "An address was permanently refused; no reminders go there until its owner saves their settings.",
  mail_refused: "The mail service rejected a digest.",
  mail_put_off: "A mail server asked to try again later.",
  mail_rate_limited: "The mail service's rate limit was reached; the rest is sent by a later run.",
  mail_not_allowed: "The mail service does not allow us to send: check MAIL_URL and MAIL_FROM.",
  mail_unavailable: "The mail service failed; uncertain mails are sent again with the same key.",
  mail_no_answer: "The mail service did not answer; uncertain mails are sent again with the same key.",
  mail_in_flight: "The mail service is still working on an earlier call with the same key.",
  mail_known_key: "The mail service had already accepted these mails, with different content.",
  mail_given_up: "Digests were sent a day ago without an answer; whether they arrived is not known.",
  lease_lost: "A run took so long that another one took over its batch.",
  not_collected: "Not all due bills could be collected; the rest is left for the next run.",
  not_described: "A digest's contents could not be built in time; it waits an hour, the others go on.",
  not_settled: "The outcome of a batch could not be stored; it is sent again with the same key.",
  not_composed: "A digest could not be rendered.",
  left_for_next_run: "Some digests are left for the next run.",
};

export const mailProblem = (code: string): Omit<Problem, "count" | "ref"> => ({
  stage: "reminders",
  code,
  message: MESSAGES[code] ?? "A digest was not sent.",
});
