/** @jsxImportSource hono/jsx */
/** The members page: members and their roles, invitations, and the changes that the reader can make. */
import type { Child } from "hono/jsx";
import type { Member, Members, OpenInvitation } from "../../../shared/db/members_store.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { Buttons, DateText, Name, Notice, Row } from "../../../shared/pages/components.tsx";
import { StateNotice } from "../../../shared/pages/organization_state.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { tabsOf } from "../../../shared/pages/tabs.tsx";
import { livingIn } from "../../../shared/pages/reader.ts";
import { createUrls } from "../../../shared/urls.ts";
import type { PageFormat } from "../../../shared/words/page_format.ts";
import type { PageWords } from "../../../shared/words/page_words.ts";
import type { PageDeps } from "../page_guards.ts";
import { handOverPath, membersPath, removeMemberPath } from "./addresses.ts";
import { type Invited, InviteForm } from "./invite_form.tsx";

/** Confirmations of finished actions (`?done=` after a redirect). */
const DONE = {
  invited: "done",
  not_sent: "warning",
  withdrawn: "done",
  role_changed: "done",
  private_opened: "done",
  private_closed: "done",
  removed: "done",
  proposed: "done",
  proposed_unsent: "warning",
  handover_ended: "done",
  handed_over: "done",
} as const;
export type Done = keyof typeof DONE;

interface MembersView {
  user: SignedInUser;
  members: Members;
  done: string | undefined;
  /** The input of the invitation form, with its errors. */
  invited?: Invited;
}

interface Parts {
  members: Members;
  user: SignedInUser;
  /** The hidden input that ties a form to the person. */
  token: Child;
  words: PageWords["members"];
  format: PageFormat;
}

export async function renderMembers(
  c: AppContext,
  deps: PageDeps,
  { user, members, done, invited }: MembersView,
): Promise<Response> {
  const { config } = deps;
  const value = await createFormToken(config, { userId: user.id, at: deps.clock() });
  const reader = livingIn(c, members.country);
  const { words: { members: words }, format } = reader;
  const parts: Parts = { members, user, token: <input type="hidden" name="form_token" value={value} />, words, format };
  const news = Object.hasOwn(DONE, done ?? "") ? done as Done : undefined;
  const mayOwn = members.role === "owner" && members.state.deletes_at === null;
  return await renderPage(c, {
    title: words.title,
    config,
    user,
    tabs: tabsOf(members.id, members.state, "members"),
    status: invited ? 400 : 200,
    children: (
      <>
        {news && (
          <Notice kind={DONE[news]}>
            <p>{words.done[news]}</p>
          </Notice>
        )}
        {invited && (
          <Notice kind="failure">
            <p>{words.problems.unsent}</p>
          </Notice>
        )}
        <h1>{words.heading(<Name>{members.name}</Name>)}</h1>
        <StateNotice id={members.id} state={members.state} reader={reader} />
        {members.state.deletes_at === null && <Handover {...parts} />}
        <ul class="rows">
          {members.members.map((member) => <MemberRow member={member} {...parts} />)}
        </ul>
        {members.invitations.length > 0 && (
          <section>
            <h2>{words.invitations}</h2>
            <ul class="rows">
              {members.invitations.map((invitation) => <InvitationRow invitation={invitation} {...parts} />)}
            </ul>
          </section>
        )}
        {members.may_manage && (
          <section>
            <h2>{words.invite}</h2>
            {members.may_grow ? <InviteForm {...parts} invited={invited} /> : (
              <Notice>
                <p>
                  {words.needsPlan}{" "}
                  {mayOwn
                    ? <a href={createUrls(config).plans(members.id)}>{words.seePlans}</a>
                    : words.ownerChangesPlan}
                </p>
              </Notice>
            )}
          </section>
        )}
        {mayOwn && (
          <section>
            <h2>{words.ownership}</h2>
            <p>{words.handOverReason}</p>
            <p>
              <a href={handOverPath(members.id)}>{words.handOver}</a>
            </p>
          </section>
        )}
      </>
    ),
  });
}

/** A hand-over that waits for the reader, or that the reader proposed. */
function Handover({ members: { id, handover }, token, words, format }: Parts) {
  if (!handover) return null;
  const day = <DateText at={handover.expires_at} format={format} />;
  return (
    <Notice kind={handover.to_me ? "warning" : "plain"}>
      <p>
        {handover.to_me
          ? words.becomeOwner(<Name>{handover.from}</Name>, day)
          : words.waitingFor(<Name>{handover.to}</Name>, day)}
      </p>
      <Buttons>
        {handover.to_me && (
          <form method="post" action={membersPath(id)}>
            {token}
            <input type="hidden" name="handover_id" value={handover.id} />
            <input type="hidden" name="action" value="accept_handover" />
            <button class="primary" type="submit">{words.accept}</button>
          </form>
        )}
        <form method="post" action={membersPath(id)}>
          {token}
          <input type="hidden" name="handover_id" value={handover.id} />
          <input type="hidden" name="action" value="end_handover" />
          <button type="submit">{handover.to_me ? words.decline : words.withdrawHandover}</button>
        </form>
      </Buttons>
    </Notice>
  );
}

function MemberRow({ member, members, user, token, words }: Parts & { member: Member }) {
  const isMe = member.user_id === user.id;
  const leaves = isMe && member.role !== "owner";
  return (
    <Row
      action={(member.may_change || leaves) && (
        <div class="actions">
          {member.may_change && <ChangeRole {...{ member, members, token, words }} />}
          {member.role === "viewer" && members.role === "owner" && (
            <form method="post" action={membersPath(members.id)}>
              {token}
              <input type="hidden" name="member_id" value={member.user_id} />
              <input type="hidden" name="action" value={member.sees_private ? "close_private" : "open_private"} />
              <button
                class="link"
                type="submit"
                aria-label={words[member.sees_private ? "closePrivateTo" : "openPrivateTo"](member.email)}
              >
                {words[member.sees_private ? "closePrivate" : "openPrivate"]}
              </button>
            </form>
          )}
          <a
            class="quiet danger"
            href={removeMemberPath(members.id, member.user_id)}
            {...(!isMe && { "aria-label": words.removeMember(member.email) })}
          >
            {isMe ? words.leave : words.remove}
          </a>
        </div>
      )}
    >
      <h2>
        <Name>{member.email}</Name>
      </h2>
      <p class="muted small">
        {words.roles[member.role]}
        {isMe && ` · ${words.you}`}
        {member.role === "viewer" && member.sees_private && ` · ${words.privateOpen}`}
      </p>
    </Row>
  );
}

function ChangeRole(
  { member, members, token, words }: Pick<Parts, "members" | "token" | "words"> & { member: Member },
) {
  const id = `role-${member.user_id}`;
  const roles = members.role === "owner" ? ["manager", "member", "viewer"] as const : ["member", "viewer"] as const;
  return (
    <details>
      <summary aria-label={words.changeRoleOf(member.email)}>{words.changeRole}</summary>
      <form method="post" action={membersPath(members.id)}>
        {token}
        <input type="hidden" name="action" value="role" />
        <input type="hidden" name="member_id" value={member.user_id} />
        <label class="hidden" for={id}>{words.role}</label>
        <select id={id} name="role">
          {roles.map((role) => <option value={role} selected={role === member.role}>{words.roles[role]}</option>)}
        </select>
        <button type="submit">{words.save}</button>
      </form>
    </details>
  );
}

function InvitationRow({ invitation, members, token, words, format }: Parts & { invitation: OpenInvitation }) {
  const role = words.roles[invitation.role];
  return (
    <Row
      action={invitation.may_change && (
        <div class="actions">
          {members.may_grow && (
            <form method="post" action={membersPath(members.id)}>
              {token}
              <input type="hidden" name="invitation_id" value={invitation.id} />
              <input type="hidden" name="action" value="resend" />
              <button class="link" type="submit" aria-label={words.resendTo(invitation.address)}>{words.resend}</button>
            </form>
          )}
          <form method="post" action={membersPath(members.id)}>
            {token}
            <input type="hidden" name="invitation_id" value={invitation.id} />
            <input type="hidden" name="action" value="withdraw" />
            <button class="link danger" type="submit" aria-label={words.withdrawFrom(invitation.address)}>
              {words.withdraw}
            </button>
          </form>
        </div>
      )}
    >
      <h3>
        <Name>{invitation.address}</Name>
      </h3>
      <p class="muted small">
        {invitation.is_expired
          ? words.expired(role)
          : words.until(role, <DateText at={invitation.expires_at} format={format} />)}
      </p>
    </Row>
  );
}
