/**
 * The members page of an organization and its changes. Each change is one form, one database call and a redirect back.
 */
import { takesNoChanges } from "../../../shared/db/answer.ts";
import type { Members } from "../../../shared/db/members_store.ts";
import { AppError } from "../../../shared/errors.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { isEmail } from "../profile/email.ts";
import { type Form, type Handler, type PageDeps, signedIn, signedInForm } from "../page_guards.ts";
import { membersPath } from "./addresses.ts";
import { isGivenRole, memberOf, noMember, notAllowed } from "./asked.ts";
import { isUuid, noPage, organizationOf } from "../page_params.ts";
import { claimMemberMail, mailInvitation, newInvitationToken } from "./mails.ts";
import { type Done, renderMembers } from "./members_page.tsx";

export const showMembers = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const members = await read(c, deps, user);
    return await renderMembers(c, deps, { user, members, done: c.req.query("done") });
  });

/**
 * Field `action`: `invite`, `resend` or `withdraw` an invitation, change a `role`, `open_private` or `close_private`,
 * and `accept_handover` or `end_handover` for a hand-over.
 */
export const postMembers = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user, form }) => {
    const asked: Asked = { user, form, organizationId: organizationOf(c) };
    switch (form.get("action")) {
      case "invite":
        return await invite(c, deps, asked);
      case "resend":
        return back(c, asked, await resend(c, deps, asked));
      case "withdraw":
        return back(c, asked, await withdraw(deps, asked));
      case "role":
        return back(c, asked, await changeRole(deps, asked));
      case "open_private":
        return back(c, asked, await openPrivate(deps, asked, true));
      case "close_private":
        return back(c, asked, await openPrivate(deps, asked, false));
      case "accept_handover":
        return back(c, asked, await settleHandover(deps, asked, "acceptHandover"));
      case "end_handover":
        return back(c, asked, await settleHandover(deps, asked, "endHandover"));
      default:
        throw new AppError("invalid_request", "unknown action", { says: ({ unknownChange }) => unknownChange });
    }
  });

interface Asked {
  user: SignedInUser;
  form: Form;
  organizationId: string;
}

const back = (c: AppContext, { organizationId }: Asked, done: Done) =>
  c.redirect(membersPath(organizationId, done), 303);

/** @throws {AppError} `not_found` when they aren't a member. */
async function read(c: AppContext, { members, clock }: PageDeps, user: SignedInUser): Promise<Members> {
  const found = await members.read({ userId: user.id, organizationId: organizationOf(c), at: clock() });
  if (!found) throw noPage();
  return found;
}

/** @throws {AppError} `forbidden` while the organization is being deleted, and the errors of `read`. */
async function readToChange(c: AppContext, deps: PageDeps, user: SignedInUser): Promise<Members> {
  const found = await read(c, deps, user);
  if (found.state.deletes_at) throw takesNoChanges(found);
  return found;
}

async function invite(c: AppContext, deps: PageDeps, asked: Asked): Promise<Response> {
  const { user, form, organizationId } = asked;
  const shown = await readToChange(c, deps, user);
  if (!shown.may_manage) throw notAllowed();
  const { problems: words } = c.get("reader").words.members;
  const address = (form.get("address") ?? "").toLowerCase();
  const role = form.get("role");
  const refuse = (problems: { address?: string; role?: string }) =>
    renderMembers(c, deps, { user, members: shown, done: undefined, invited: { address, role, problems } });
  if (!isEmail(address)) return await refuse({ address: words.address });
  if (!isGivenRole(role)) return await refuse({ role: words.role });
  await claimMemberMail(c, deps, { user, address });
  const { token, tokenHash } = newInvitationToken();
  const at = deps.clock();
  const answer = await deps.members.invite({ userId: user.id, organizationId, address, role, tokenHash, at });
  switch (answer.outcome) {
    case "not_allowed":
      throw notAllowed();
    case "plan":
    case "already_member":
      return await refuse({ address: words[answer.outcome] });
    case "too_many":
      return await refuse({ address: words.too_many(answer.most) });
    case "invited": {
      const organizationName = answer.organization_name;
      const sent = await mailInvitation(c, deps, { user, address, role, organizationName, token });
      return back(c, asked, sent ? "invited" : "not_sent");
    }
  }
}

async function resend(c: AppContext, deps: PageDeps, { user, form }: Asked): Promise<Done> {
  const invitation = (await readToChange(c, deps, user)).invitations.find(({ id }) => id === form.get("invitation_id"));
  if (!invitation) throw noInvitation();
  await claimMemberMail(c, deps, { user, address: invitation.address });
  const { token, tokenHash } = newInvitationToken();
  const at = deps.clock();
  const answer = await deps.members.resend({
    userId: user.id,
    invitationId: invitation.id,
    tokenHash,
    at,
  });
  switch (answer.outcome) {
    case "not_allowed":
      throw notAllowed();
    case "unknown":
      throw noInvitation();
    case "plan":
      throw new AppError("forbidden", "not in their plan", { says: ({ invitingNeedsPlan }) => invitingNeedsPlan });
    case "invited": {
      const { address, role, organization_name: organizationName } = answer;
      return await mailInvitation(c, deps, { user, address, role, organizationName, token }) ? "invited" : "not_sent";
    }
  }
}

async function withdraw({ members, clock }: PageDeps, { user, form }: Asked): Promise<Done> {
  const invitationId = form.get("invitation_id") ?? "";
  const { outcome } = await members.withdraw({ userId: user.id, invitationId, at: clock() });
  if (outcome === "not_allowed") throw notAllowed();
  if (outcome === "unknown") throw noInvitation();
  return "withdrawn";
}

async function changeRole({ members, clock }: PageDeps, { user, form, organizationId }: Asked): Promise<Done> {
  const role = form.get("role");
  if (!isGivenRole(role)) {
    throw new AppError("invalid_request", "unknown role", { says: ({ unknownChange }) => unknownChange });
  }
  const memberId = memberOf(form.get("member_id"));
  const { outcome } = await members.changeRole({ userId: user.id, organizationId, memberId, role, at: clock() });
  if (outcome === "not_allowed") throw notAllowed();
  if (outcome === "unknown") throw noMember();
  return "role_changed";
}

async function openPrivate(
  { members, clock }: PageDeps,
  { user, form, organizationId }: Asked,
  seesPrivate: boolean,
): Promise<Done> {
  const memberId = memberOf(form.get("member_id"));
  const { outcome } = await members.openPrivate({
    userId: user.id,
    organizationId,
    memberId,
    seesPrivate,
    at: clock(),
  });
  if (outcome === "unknown") throw noMember();
  return seesPrivate ? "private_opened" : "private_closed";
}

async function settleHandover(
  { members, clock }: PageDeps,
  { user, form, organizationId }: Asked,
  settle: "acceptHandover" | "endHandover",
): Promise<Done> {
  const handoverId = form.get("handover_id");
  const { outcome } = isUuid(handoverId)
    ? await members[settle]({ userId: user.id, organizationId, handoverId, at: clock() })
    : { outcome: "unknown" };
  if (outcome === "unknown") {
    throw new AppError("not_found", "no hand-over of theirs", { says: ({ handoverOver }) => handoverOver });
  }
  return outcome === "accepted" ? "handed_over" : "handover_ended";
}

const noInvitation = () =>
  new AppError("not_found", "no open invitation", { says: ({ invitationOver }) => invitationOver });
