/**
 * A proposal's page and the button that decides it. The form sends the hash of the shown proposal. The link grants no
 * access: without access, a person gets the same response as for an unknown proposal.
 */
import type { Decision } from "../../../shared/approvals/proposal.ts";
import { AppError } from "../../../shared/errors.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { renderProblem } from "../../../shared/pages/error_page.tsx";
import { sendClaimedMails } from "../../../shared/mail/send_claimed_mails.ts";
import { proposalPath } from "../../../shared/urls.ts";
import { type Handler, type PageDeps, signedIn, signedInForm } from "../page_guards.ts";
import { booksBusy } from "./policy.ts";
import { type ProposalView, renderProposal } from "./proposal_page.tsx";

export const showProposal = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const found = await read(c, deps, user);
    if (!found) return await renderUnknown(c, deps, user);
    return await renderProposal(c, deps, { user, ...found, news: c.req.query("news") });
  });

/** Fields `decision` and `hash`. */
export const postProposal = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user, form }) => {
    const proposalId = idOf(c);
    const decision = form.get("decision");
    const hash = form.get("hash") ?? "";
    if (!isDecision(decision) || !/^[0-9a-f]{64}$/.test(hash)) {
      throw new AppError("invalid_request", "no decision or hash", { says: ({ unknownChange }) => unknownChange });
    }
    if (!proposalId) return await renderUnknown(c, deps, user);
    const at = deps.clock();
    const { outcome } = await deps.approvals.decide({ userId: user.id, proposalId, hash, decision, at });
    const here = proposalPath(proposalId);
    switch (outcome) {
      case "unknown":
        return await renderUnknown(c, deps, user);
      case "busy":
        throw booksBusy();
      case "already":
      case "changed":
      case "not_allowed":
        return c.redirect(`${here}?news=${outcome}`, 303);
      default:
        await sendClaimedMails(deps, { about: proposalId, requestId: c.get("requestId") });
        // The page of a decided proposal explains the outcome.
        return c.redirect(here, 303);
    }
  });

const isDecision = (value: string | undefined): value is Decision =>
  ["approve", "refuse", "withdraw"].includes(value ?? "");

/** Undefined for a malformed id. */
const idOf = (c: AppContext): string | undefined => {
  const id = c.req.param("id") ?? "";
  return /^prop_[0-9a-z]{1,32}$/.test(id) ? id : undefined;
};

type Found = Pick<ProposalView, "proposal" | "organizationState">;

async function read(c: AppContext, { approvals, clock }: PageDeps, user: SignedInUser): Promise<Found | undefined> {
  const proposalId = idOf(c);
  if (!proposalId) return undefined;
  const found = await approvals.read({ userId: user.id, proposalId, at: clock() });
  return found.outcome === "found" ? { proposal: found.proposal, organizationState: found.state } : undefined;
}

function renderUnknown(c: AppContext, { config }: PageDeps, user: SignedInUser): Promise<Response> {
  const { proposal: { unknown }, frame } = c.get("reader").words;
  const next = { label: frame.goToAccount, href: "/account", isQuiet: true };
  return renderProblem(c, { config, user, status: 404, problem: { ...unknown, next } });
}
