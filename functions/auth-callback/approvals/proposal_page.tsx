/** @jsxImportSource hono/jsx */
/** A proposal: its proposer, its exact effects, the rule that requires approval, and the buttons that decide. */
import type { Child } from "hono/jsx";
import type { Proposal } from "../../../shared/approvals/proposal.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { shownClientName } from "../../../shared/oauth/client_name.ts";
import { Buttons, Facts, Name, Notice, TimeText } from "../../../shared/pages/components.tsx";
import { EffectList } from "../../../shared/pages/effects.tsx";
import type { OrganizationState } from "../../../shared/organization_state.ts";
import { StateNotice } from "../../../shared/pages/organization_state.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { tabsOf } from "../../../shared/pages/tabs.tsx";
import { livingIn } from "../../../shared/pages/reader.ts";
import { organizationPath, proposalPath } from "../../../shared/urls.ts";
import { tellAct, tellReason, tellWhole } from "../../../shared/words/approvals.ts";
import { tellEffects } from "../../../shared/words/effects.ts";
import type { Reader } from "../../../shared/words/reader.ts";
import { changePath } from "../activity/change_path.ts";
import type { PageDeps } from "../page_guards.ts";

/** Why a click had no effect (`?news=` after a redirect). */
const NEWS = ["already", "changed", "not_allowed"] as const;

export interface ProposalView {
  user: SignedInUser;
  proposal: Proposal;
  organizationState: OrganizationState;
  news: string | undefined;
}

export async function renderProposal(
  c: AppContext,
  { config, clock }: PageDeps,
  { user, proposal, organizationState, news: asked }: ProposalView,
): Promise<Response> {
  const reader = livingIn(c, proposal.country);
  const { words: { proposal: words }, catalog } = reader;
  const { state, organization } = proposal;
  // Another person may have decided in the meantime; the page's state then explains it.
  const news = NEWS.find((one) => one === asked && (one === "already") === (state !== "pending"));
  const effects = tellEffects(proposal, catalog, reader.format);
  const whole = tellWhole(proposal, catalog, reader.format);
  const token = await createFormToken(config, { userId: user.id, at: clock() });
  const name = <Name>{organization.name}</Name>;
  return await renderPage(c, {
    title: words.title,
    config,
    user,
    tabs: tabsOf(organization.id, organizationState, "approvals"),
    children: (
      <>
        {news && (
          <Notice kind="warning">
            <p>{words.news[news]}</p>
          </Notice>
        )}
        <h1>
          {words[state === "pending" ? "wants" : "wanted"]({
            who: proposal.proposer && <Name>{proposal.proposer}</Name>,
            isMine: proposal.is_mine,
            app: proposal.client_name && <Name>{shownClientName(proposal.client_name)}</Name>,
            act: tellAct(proposal, catalog),
          })}
        </h1>
        <p class="lead">{state === "pending" ? words.in(name) : words.inDone(name)}</p>
        <StateNotice id={organization.id} state={organizationState} reader={reader} />
        <ProposalState proposal={proposal} reader={reader} />
        <section>
          <h2>{state === "pending" ? words.what : words.whatOf[state === "approved" ? "approved" : "over"]}</h2>
          {whole && <p>{whole}</p>}
          {effects.effects.length > 0
            ? <EffectList {...effects} said={catalog.effects} format={reader.format} />
            : !whole && <p>{words.nothing}</p>}
        </section>
        <section>
          <h2>{words.why}</h2>
          <ul>
            {proposal.reasons.map((reason) => <li>{tellReason(reason, catalog, reader.format)}</li>)}
          </ul>
          <About proposal={proposal} reader={reader} />
        </section>
        {state === "pending" && !organizationState.deletes_at && (
          <section>
            <Decide proposal={proposal} token={token} reader={reader} />
          </section>
        )}
        <section>
          <p>
            <a href={organizationPath(organization.id, "approvals")}>{words.all}</a>
          </p>
        </section>
      </>
    ),
  });
}

function ProposalState({ proposal, reader: { words: { proposal: words }, format } }: Part) {
  const { state, timezone, decided_by: decidedBy, decided_at: decidedAt } = proposal;
  const time = (at: string) => <TimeText at={at} timezone={timezone} format={format} />;
  const by = decidedBy ? <Name>{decidedBy}</Name> : words.formerMember;
  const on = time(decidedAt ?? proposal.expires_at);
  switch (state) {
    case "pending":
      return (
        <Notice>
          <p>{words.states.pending(time(proposal.expires_at))}</p>
        </Notice>
      );
    case "approved":
      return (
        <Notice kind="done">
          <p>
            {proposal.decided_through === "assistant"
              ? words.states.approvedByAssistant(by, on)
              : words.states.approved(by, on)}{" "}
            {proposal.change_id && words.undo(changePath(proposal.organization.id, proposal.change_id))}
          </p>
        </Notice>
      );
    case "refused":
      return (
        <Notice>
          <p>{words.states.refused(by, on)}</p>
        </Notice>
      );
    case "withdrawn":
      return (
        <Notice>
          <p>{withdrawnOf(proposal, { words, on, by })}</p>
        </Notice>
      );
    case "expired":
      return (
        <Notice>
          <p>{words.states.expired(time(proposal.expires_at))}</p>
        </Notice>
      );
    case "stale":
      return (
        <Notice kind="warning">
          <p>{words.states.stale} {problemOf(proposal, words)}</p>
        </Notice>
      );
  }
}

function withdrawnOf(
  { problem, proposer, decided_by: decidedBy, decided_through: through }: Proposal,
  { words: { states, formerMember }, on, by }: { words: Reader["words"]["proposal"]; on: Child; by: Child },
): Child {
  if (problem === "proposer_gone") {
    const who = proposer === null ? formerMember : <Name>{proposer}</Name>;
    return proposer === decidedBy ? states.left(who, on) : states.removed(who, by, on);
  }
  return through ? states.withdrawn(on) : states.disconnected(on);
}

function problemOf({ problem }: Proposal, { problems }: Reader["words"]["proposal"]): string {
  switch (problem) {
    case "not_decided.stale":
    case "expectation_mismatch.books_changed":
      return problems.changed;
    case "proposer_gone":
    case "forbidden_role.read_only":
      return problems.proposer;
    default:
      return problems.failed;
  }
}

interface Part {
  proposal: Proposal;
  reader: Reader;
}

function About({ proposal, reader: { words: { proposal: words }, format } }: Part) {
  const { proposer, client_name: app, timezone, asked } = proposal;
  const facts: [Child, Child][] = [
    [words.facts.by, proposer ? <Name>{proposer}</Name> : words.formerMember],
    [words.facts.app, app ? <Name>{shownClientName(app)}</Name> : words.aPage],
    [words.facts.at, <TimeText at={proposal.created_at} timezone={timezone} format={format} />],
  ];
  if (proposal.state === "pending" && asked.length > 0) {
    facts.push([
      words.facts.approver,
      <>
        {asked.map((address, index) => (
          <>
            {index > 0 && ", "}
            <Name>{address}</Name>
          </>
        ))}
      </>,
    ]);
  }
  return <Facts facts={facts} />;
}

/** The reader's buttons, or the reason why there are none. */
function Decide({ proposal, token, reader: { words: { proposal: words } } }: Part & { token: string }) {
  const { may_decide: mayDecide, may_withdraw: mayWithdraw, is_mine: isMine } = proposal;
  const hidden = (
    <>
      <input type="hidden" name="form_token" value={token} />
      <input type="hidden" name="hash" value={proposal.hash} />
    </>
  );
  if (mayDecide) {
    return (
      <>
        <p>{isMine ? words.own : words.then}</p>
        <form method="post" action={proposalPath(proposal.id)}>
          {hidden}
          <Buttons even>
            <button class="primary" type="submit" name="decision" value="approve">{words.approve}</button>
            <button type="submit" name="decision" value={isMine ? "withdraw" : "refuse"}>
              {isMine ? words.withdraw : words.refuse}
            </button>
          </Buttons>
        </form>
      </>
    );
  }
  if (!mayWithdraw) return <p>{words.othersDecide}</p>;
  return (
    <>
      <p>{words.ownWaits}</p>
      <form method="post" action={proposalPath(proposal.id)}>
        {hidden}
        <Buttons>
          <button type="submit" name="decision" value="withdraw">{words.withdraw}</button>
        </Buttons>
      </form>
    </>
  );
}
