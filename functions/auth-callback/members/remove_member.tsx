/** @jsxImportSource hono/jsx */
/** Removes a member, or lets the reader leave, after a summary of the consequences. */
import type { Removal } from "../../../shared/db/members_store.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import { Name, Submit, TimeText } from "../../../shared/pages/components.tsx";
import { sendClaimedMails } from "../../../shared/mail/send_claimed_mails.ts";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { tabsOf } from "../../../shared/pages/tabs.tsx";
import { livingIn } from "../../../shared/pages/reader.ts";
import { proposalPath } from "../../../shared/urls.ts";
import { tellAct } from "../../../shared/words/approvals.ts";
import type { Reader } from "../../../shared/words/reader.ts";
import { type Handler, type PageDeps, signedIn, signedInForm } from "../page_guards.ts";
import { membersPath, removeMemberPath } from "./addresses.ts";
import { memberOf, noMember } from "./asked.ts";
import { organizationOf } from "../page_params.ts";

/** `?member=` selects the member; the reader's own id means leaving. */
export const showRemoveMember = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const { config, members, clock } = deps;
    const organizationId = organizationOf(c);
    const memberId = memberOf(c.req.query("member"));
    const removal = await members.readRemoval({ userId: user.id, organizationId, memberId, at: clock() });
    if (!removal) throw noMember();
    const leaves = memberId === user.id;
    const reader = livingIn(c, removal.country);
    const { removal: words } = reader.words;
    const formToken = await createFormToken(config, { userId: user.id, at: clock() });
    return await renderPage(c, {
      title: words.title(leaves),
      config,
      user,
      tabs: tabsOf(organizationId, removal.state, "members"),
      children: (
        <>
          <h1>
            {words.question(leaves, <Name>{removal.email}</Name>, <Name>{removal.organization_name}</Name>)}
          </h1>
          <p class="lead">{words.lead(leaves)}</p>
          <h2>{words.ends}</h2>
          <ul>
            <li>{words.access(leaves, removal.apps, removal.has_calendar)}</li>
            {removal.assigned > 0 && <li>{words.assigned(leaves, removal.assigned)}</li>}
            {removal.imports > 0 && <li>{words.imports(leaves, removal.imports)}</li>}
            {removal.invitations > 0 && <li>{words.invitations(leaves, removal.invitations)}</li>}
            {removal.waiting.map((proposal) => (
              <li>
                {words.waiting(
                  leaves,
                  tellAct(proposal, reader.catalog),
                  <TimeText at={proposal.created_at} timezone={removal.timezone} format={reader.format} />,
                  proposalPath(proposal.id),
                )}
              </li>
            ))}
          </ul>
          <Balances removal={removal} leaves={leaves} reader={reader} />
          <h2>{words.stays}</h2>
          <ul>
            <li>{words.books}</li>
            {removal.links > 0 && <li>{words.links(removal.links)}</li>}
            {removal.proposals > 0 && <li>{words.proposals(removal.proposals)}</li>}
          </ul>
          <form method="post" action={removeMemberPath(organizationId, memberId)}>
            <input type="hidden" name="form_token" value={formToken} />
            <Submit kind="danger" even leave={{ href: membersPath(organizationId), words: words.no(leaves) }}>
              {words.yes(leaves)}
            </Submit>
          </form>
        </>
      ),
    });
  });

/** Open balances, which remain after leaving. */
function Balances({ removal: { balances }, leaves, reader }: { removal: Removal; leaves: boolean; reader: Reader }) {
  if (balances.length === 0) return null;
  const { words: { removal: words }, format } = reader;
  return (
    <>
      <h2>{words.open}</h2>
      <ul>
        {balances.map(({ owes, who, amount, currency }) => (
          <li>
            {words.balance({
              leaves,
              owes,
              who: who === null ? undefined : <Name>{who}</Name>,
              amount: format.money(amount, currency),
            })}
          </li>
        ))}
      </ul>
      <p>{words.openStays(leaves)}</p>
    </>
  );
}

export const postRemoveMember = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user }) => {
    const organizationId = organizationOf(c);
    const memberId = memberOf(c.req.query("member"));
    const { outcome } = await deps.members.remove({ userId: user.id, organizationId, memberId, at: deps.clock() });
    if (outcome === "unknown") throw noMember();
    await sendClaimedMails(deps, { about: organizationId, requestId: c.get("requestId") });
    return c.redirect(memberId === user.id ? "/account?done=left" : membersPath(organizationId, "removed"), 303);
  });
