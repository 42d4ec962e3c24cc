/** What can be said of mails that did not go out as they should, by code. */
import type { Problem } from "../../shared/jobs/problems.ts";

const MESSAGES: Record<string, string> = {
  address_refused: "An address was refused for good; no more reminders go there until its owner saves their settings.",
  mail_refused: "The mail service did not take a digest.",
  mail_put_off: "A mail server asked to try again later.",
  mail_rate_limited: "The mail service asked for a pause; the rest goes out with a later run.",
  mail_not_allowed: "The mail service does not let us send: check MAIL_URL and MAIL_FROM.",
  mail_unavailable: "The mail service failed; what is unsure is sent again under the same key.",
  mail_no_answer: "The mail service did not answer; what is unsure is sent again under the same key.",
  mail_in_flight: "The mail service is still working on an earlier call with the same key.",
  mail_known_key: "The mail service had taken these mails before, in other words.",
  mail_given_up: "Digests were sent a day ago without an answer; whether they arrived is not known.",
  lease_lost: "A run took so long that another one took over its batch.",
  not_collected: "Not everything that is due could be collected; the rest is left for the next run.",
  not_described: "What a digest says could not be put together in time; it waits for an hour, the others do not.",
  not_settled: "What became of a batch could not be kept; it is sent again under the same key.",
  not_composed: "A digest could not be put into words.",
  left_for_next_run: "Digests are left for the next run.",
};

export const mailProblem = (code: string): Omit<Problem, "count" | "ref"> => ({
  stage: "reminders",
  code,
  message: MESSAGES[code] ?? "A digest did not go out.",
});
