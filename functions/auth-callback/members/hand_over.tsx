/** @jsxImportSource hono/jsx */
/** The page where an owner asks a member to take over the organization. The member confirms on the members page. */
import { takesNoChanges } from "../../../shared/db/answer.ts";
import { AppError } from "../../../shared/errors.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import { Name, SelectField, Submit } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { tabsOf } from "../../../shared/pages/tabs.tsx";
import { type Handler, type PageDeps, signedIn, signedInForm } from "../page_guards.ts";
import { handOverPath, membersPath } from "./addresses.ts";
import { noMember } from "./asked.ts";
import { isUuid, noPage, organizationOf } from "../page_params.ts";
import { claimMemberMail, mailHandover } from "./mails.ts";

export const showHandOver = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const { config, members, clock } = deps;
    const organizationId = organizationOf(c);
    const shown = await members.read({ userId: user.id, organizationId, at: clock() });
    if (shown?.role !== "owner") throw noPage();
    if (shown.state.deletes_at) throw takesNoChanges(shown);
    const others = shown.members.filter(({ role }) => role !== "owner");
    const { handOver: words, frame } = c.get("reader").words;
    const formToken = await createFormToken(config, { userId: user.id, at: clock() });
    return await renderPage(c, {
      title: words.title,
      config,
      user,
      tabs: tabsOf(shown.id, shown.state, "members"),
      children: (
        <>
          <h1>{words.question(<Name>{shown.name}</Name>)}</h1>
          <p class="lead">{others.length > 0 ? words.lead : words.alone}</p>
          {others.length > 0 && (
            <form method="post" action={handOverPath(organizationId)} class="stack">
              <input type="hidden" name="form_token" value={formToken} />
              <SelectField
                name="member_id"
                label={words.who}
                reason={words.then}
                required
                unchosen={frame.choose}
                options={others.map(({ user_id, email }) => ({ value: user_id, label: email }))}
              />
              <Submit kind="danger" even leave={{ href: membersPath(organizationId), words: words.cancel }}>
                {words.ask}
              </Submit>
            </form>
          )}
          {others.length === 0 && (
            <p>
              <a href={membersPath(organizationId)}>{words.toMembers}</a>
            </p>
          )}
        </>
      ),
    });
  });

export const postHandOver = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user, form }) => {
    const organizationId = organizationOf(c);
    const memberId = form.get("member_id");
    if (!isUuid(memberId)) {
      throw new AppError("invalid_request", "no member chosen", { says: ({ chooseMember }) => chooseMember });
    }
    const at = deps.clock();
    const shown = await deps.members.read({ userId: user.id, organizationId, at });
    if (shown?.role !== "owner") throw noPage();
    if (shown.state.deletes_at) throw takesNoChanges(shown);
    const member = shown.members.find(({ user_id }) => user_id === memberId);
    if (!member) throw noMember();
    await claimMemberMail(c, deps, { user, address: member.email });
    const answer = await deps.members.proposeOwner({ userId: user.id, organizationId, memberId, at });
    if (answer.outcome === "unknown") throw noMember();
    const { address, organization_name: organizationName } = answer;
    const sent = await mailHandover(c, deps, { user, address, organizationId, organizationName });
    return c.redirect(membersPath(organizationId, sent ? "proposed" : "proposed_unsent"), 303);
  });
