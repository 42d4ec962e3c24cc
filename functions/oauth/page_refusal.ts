/** What is said on a page, because there is no client that could safely be told: each reason in words a person understands. */
import type { AppContext } from "../../shared/http/app.ts";
import { type Problem, renderProblem } from "../../shared/pages/error_page.tsx";
import type { AuthorizationServer } from "./server.ts";

export type PageRefusal =
  | "parameter_repeated"
  | "client_id_missing"
  | "unknown_client"
  | "client_url_not_allowed"
  | "client_document_unavailable"
  | "client_document_invalid"
  | "redirect_uri_missing"
  | "redirect_uri_not_allowed"
  | "redirect_uri_not_registered"
  | "no_organization"
  | "consent_not_ours"
  | "consent_expired"
  | "consent_of_another_person"
  | "decision_missing"
  | "organization_missing"
  | "not_a_member"
  | "feature_not_in_plan"
  | "already_decided";

const FAULTY_LINK = "The app did not ask in the way it should";
const BACK_TO_APP = "Go back to the app and start connecting again; if it happens again, the app needs fixing.";

const WORDS: Readonly<Record<PageRefusal, { status: 400 | 403; title: string; message: string }>> = {
  parameter_repeated: {
    status: 400,
    title: FAULTY_LINK,
    message: `Its link says the same thing twice. ${BACK_TO_APP}`,
  },
  client_id_missing: {
    status: 400,
    title: FAULTY_LINK,
    message: `Its link does not say which app it is. ${BACK_TO_APP}`,
  },
  unknown_client: {
    status: 400,
    title: "We do not know this app",
    message: "Its registration here does not exist any more. Remove this connector in the app and add it again.",
  },
  client_url_not_allowed: {
    status: 400,
    title: FAULTY_LINK,
    message: `It gives an address for itself that we do not look anything up at. ${BACK_TO_APP}`,
  },
  client_document_unavailable: {
    status: 400,
    title: "We could not look this app up",
    message: "The website where it describes itself does not answer us. That often passes within minutes; then start " +
      "connecting again from the app.",
  },
  client_document_invalid: {
    status: 400,
    title: "We could not look this app up",
    message:
      "What its website says about it is not complete or not correct. The makers of the app need to put it right.",
  },
  redirect_uri_missing: {
    status: 400,
    title: FAULTY_LINK,
    message: `Its link does not say where to send you afterwards. ${BACK_TO_APP}`,
  },
  redirect_uri_not_allowed: {
    status: 400,
    title: "We will not send you there",
    message: "The link asks us to send you to an address that is not safe to send anybody to, so we stopped here.",
  },
  redirect_uri_not_registered: {
    status: 400,
    title: "We will not send you there",
    message: "The link asks us to send you to an address that the app never registered, so we stopped here. " +
      "Remove this connector in the app and add it again.",
  },
  no_organization: {
    status: 403,
    title: "You are not in any organization",
    message: "Apps are connected to an organization. Ask the owner of one to add you, then start again from the app.",
  },
  consent_not_ours: {
    status: 400,
    title: "That page was not complete",
    message:
      "What was sent does not come from a page that we showed you. Go back to the app and start connecting again.",
  },
  consent_expired: {
    status: 400,
    title: "That page was open for too long",
    message: "For your safety a request to connect an app is good for ten minutes.",
  },
  consent_of_another_person: {
    status: 403,
    title: "Somebody else has signed in since",
    message: "The page was shown to another account than the one that is signed in now.",
  },
  decision_missing: { status: 400, title: "That page was not complete", message: "It did not say Allow or Deny." },
  organization_missing: {
    status: 400,
    title: "Which organization?",
    message: "Choose the one that the app may work in.",
  },
  not_a_member: {
    status: 403,
    title: "You are not a member of that organization",
    message: "Choose another one for the app to work in.",
  },
  feature_not_in_plan: {
    status: 403,
    title: "That organization needs the Pro plan",
    message: "AI apps can be connected to organizations on the Pro or Team plan.",
  },
  already_decided: {
    status: 400,
    title: "You have already answered",
    message: "This request was allowed before. If the app still is not connected, connect it again from the app.",
  },
};

const FINAL: ReadonlySet<PageRefusal> = new Set(["unknown_client", "already_decided"]);

/** @param options.retry path of the same request; offered unless the request itself can come to nothing. */
export function refuseWithPage(
  c: AppContext,
  { config, log }: Pick<AuthorizationServer, "config" | "log">,
  reason: PageRefusal,
  { retry, clientId }: { retry?: string; clientId?: string } = {},
): Promise<Response> {
  log.info("refused", { request_id: c.get("requestId"), reason, ...(clientId && { client_id: clientId }) });
  const { status, title, message } = WORDS[reason];
  const next: Problem["next"] = retry && !FINAL.has(reason)
    ? { label: "Start again", href: retry }
    : { label: "Go to your account", href: "/account" };
  return renderProblem(c, { config, status, problem: { title, message, changed: "Nothing was connected.", next } });
}
