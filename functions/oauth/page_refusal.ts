/** Errors shown on a page, because no redirect to a client is safe. */
import type { AppContext } from "../../shared/http/app.ts";
import { type Problem, renderProblem } from "../../shared/pages/error_page.tsx";
import type { PageWords } from "../../shared/words/page_words.ts";
import type { AuthorizationServer } from "./server.ts";

export type PageRefusal = keyof PageWords["consentRefusals"]["reasons"];

/** Status by code; 400 for all others. */
const FORBIDDEN: ReadonlySet<PageRefusal> = new Set([
  "consent_of_another_person",
  "not_a_member",
  "feature_not_in_plan",
]);
const FINAL: ReadonlySet<PageRefusal> = new Set(["unknown_client", "already_decided"]);

/** @param options.retry path of the same request; the page offers it unless a retry cannot help. */
export function refuseWithPage(
  c: AppContext,
  { config, log }: Pick<AuthorizationServer, "config" | "log">,
  reason: PageRefusal,
  { retry, clientId }: { retry?: string; clientId?: string } = {},
): Promise<Response> {
  log.info("refused", { request_id: c.get("requestId"), reason, ...(clientId && { client_id: clientId }) });
  const { consentRefusals: words, frame } = c.get("reader").words;
  const next: Problem["next"] = retry && !FINAL.has(reason)
    ? { label: words.startAgain, href: retry }
    : { label: frame.goToAccount, href: "/account" };
  const status = FORBIDDEN.has(reason) ? 403 : 400;
  return renderProblem(c, { config, status, problem: { ...words.reasons[reason], changed: words.unchanged, next } });
}
