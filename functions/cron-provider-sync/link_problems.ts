/** What can be said of links that gave no amount, by code. */
import type { Problem } from "../../shared/jobs/problems.ts";

export const STAGE = "sync";

const MESSAGES: Record<string, string> = {
  auth: "A provider no longer accepts the credential; its owner has to connect the bill again.",
  rate_limited: "A provider asked for a pause.",
  not_ready: "A provider has no statement for the month yet; it is asked again daily until the 10th.",
  upstream: "A provider is down or out of reach.",
  bad_shape: "A provider answers in another form than its documentation says.",
  timeout: "A provider took too long.",
  no_adapter: "Nobody here can ask this provider.",
  unreadable_credential: "A credential cannot be opened: check CREDENTIALS_KEY.",
  defect: "Asking a provider failed on our side.",
  not_kept: "An answer could not be kept; the provider is asked again.",
  lease_lost: "Asking took so long that another run took over, or the connection ended meanwhile.",
  left_for_next_run: "Links are left for the next run, or another one is asking them.",
};

export const linkProblem = (code: string): Omit<Problem, "count" | "ref"> => ({
  stage: STAGE,
  code,
  message: MESSAGES[code] ?? "A provider gave no amount.",
});
