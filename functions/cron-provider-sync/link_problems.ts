/** Messages for links without an amount, by code. */
import type { Problem } from "../../shared/jobs/problems.ts";

export const STAGE = "sync";

const MESSAGES: Record<string, string> = {
  auth: "A provider no longer accepts the credential; the owner has to reconnect the bill.",
  rate_limited: "A provider's rate limit was reached.",
  not_ready: "A provider has no statement for the month yet; retried daily until the 10th.",
  upstream: "A provider is down or unreachable.",
  bad_shape: "A provider's response does not match its documentation.",
  timeout: "A provider did not respond in time.",
  no_adapter: "This provider is not supported.",
  unreadable_credential: "A credential cannot be opened: check CREDENTIALS_KEY.",
  defect: "Querying a provider failed on our side.",
  not_kept: "An answer could not be stored; it will be fetched again.",
  lease_lost: "Fetching took so long that another run took over, or the connection ended meanwhile.",
  left_for_next_run: "Some links are left for the next run or are being fetched by another one.",
};

export const linkProblem = (code: string): Omit<Problem, "count" | "ref"> => ({
  stage: STAGE,
  code,
  message: MESSAGES[code] ?? "A provider gave no amount.",
});
