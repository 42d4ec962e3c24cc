/** @jsxImportSource hono/jsx */
/** An organization's pending proposals, recent decisions and approval rules. */
import type { Child } from "hono/jsx";
import type { ApprovalPolicy, ApprovalRule, ListedProposal, Proposals } from "../../../shared/approvals/proposal.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { shownClientName } from "../../../shared/oauth/client_name.ts";
import { Buttons, DateText, Name, Notice, Row } from "../../../shared/pages/components.tsx";
import { StateNotice } from "../../../shared/pages/organization_state.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { tabsOf } from "../../../shared/pages/tabs.tsx";
import { livingIn } from "../../../shared/pages/reader.ts";
import { organizationPath, proposalPath } from "../../../shared/urls.ts";
import { tellAct, tellRule, tellWhole } from "../../../shared/words/approvals.ts";
import { tellEffects } from "../../../shared/words/effects.ts";
import type { Reader } from "../../../shared/words/reader.ts";
import type { PageDeps } from "../page_guards.ts";
import { emptyRule, keyOf, suggestedRule, type TypedRule } from "./policy_form.ts";
import { RuleForm } from "./rule_form.tsx";

/** The action just finished (`?done=` after a redirect). */
const DONE = ["added", "removed", "assistants_on", "assistants_off"] as const;
export type PolicyDone = typeof DONE[number];

interface ApprovalsView {
  user: SignedInUser;
  waiting: Proposals;
  /** Null unless the reader may see it. */
  policy: ApprovalPolicy | null;
  done: string | undefined;
  /** A rule that could not be added. */
  typed: TypedRule | undefined;
}

export async function renderApprovals(
  c: AppContext,
  { config, clock }: PageDeps,
  { user, waiting, policy, done, typed }: ApprovalsView,
): Promise<Response> {
  const reader = livingIn(c, waiting.country);
  const { approvalPolicy: words } = reader.words;
  const value = await createFormToken(config, { userId: user.id, at: clock() });
  const token = <input type="hidden" name="form_token" value={value} />;
  const news = DONE.find((one) => one === done);
  const open = waiting.proposals.filter(({ state }) => state === "pending");
  const over = waiting.proposals.filter(({ state }) => state !== "pending");
  return await renderPage(c, {
    title: words.title,
    config,
    user,
    tabs: tabsOf(waiting.id, waiting.state, "approvals"),
    status: typed ? 400 : 200,
    children: (
      <>
        {news && (
          <Notice kind="done">
            <p>{words.done[news]}</p>
          </Notice>
        )}
        {typed && (
          <Notice kind="failure">
            <p>{words.problems.intro}</p>
          </Notice>
        )}
        <h1>{words.heading(<Name>{waiting.name}</Name>)}</h1>
        <StateNotice id={waiting.id} state={waiting.state} reader={reader} />
        <p class="lead">{policy ? words.lead : words.leadOfMember}</p>
        <section>
          <h2>{words.waiting}</h2>
          {open.length === 0 ? <p>{words.nothingWaits}</p> : <ProposalList proposals={open} reader={reader} />}
        </section>
        {over.length > 0 && (
          <section>
            <h2>{words.decided}</h2>
            <ProposalList proposals={over} reader={reader} />
          </section>
        )}
        {policy && <Policy policy={policy} typed={typed} token={token} reader={reader} />}
      </>
    ),
  });
}

/** Proposals with links to their pages. Other pages use this list too. */
export function ProposalList({ proposals, reader }: { proposals: readonly ListedProposal[]; reader: Reader }) {
  const { words: { approvalPolicy: words }, format } = reader;
  return (
    <ul class="rows">
      {proposals.map((proposal) => (
        <Row>
          <h3>
            <a href={proposalPath(proposal.id)}>
              {words[proposal.state === "pending" ? "wants" : "wanted"]({
                who: proposal.proposer && <Name>{proposal.proposer}</Name>,
                isMine: proposal.is_mine,
                app: proposal.client_name && <Name>{shownClientName(proposal.client_name)}</Name>,
                act: tellAct({ ...proposal, effects: isAll(proposal) ? proposal.effects : [] }, reader.catalog),
              })}
            </a>
          </h3>
          <p>{tellBriefly(proposal, reader)}</p>
          <p class="muted small">
            {proposal.state === "pending"
              ? words.until(<DateText at={proposal.expires_at} format={format} />)
              : words.states[proposal.state]}
            {proposal.decided_at && (
              <>
                {" · "}
                <DateText at={proposal.decided_at} format={format} />
              </>
            )}
          </p>
        </Row>
      ))}
    </ul>
  );
}

const isAll = ({ effects, effects_count: count }: ListedProposal) => effects.length === count;

/** "Sofa €450.00, Rent €900.00 → €950.00 and 3 more" */
function tellBriefly(proposal: ListedProposal, { catalog, format }: Reader): Child {
  const whole = tellWhole(proposal, catalog, format);
  if (whole) return whole;
  const { effects, more } = tellEffects(proposal, catalog, format);
  const amount = catalog.fieldName("amount_minor");
  return (
    <>
      {effects.map(({ what, fields }, index) => (
        <>
          {index > 0 && ", "}
          <Name>{what}</Name>
          {fields.filter(({ label }) => label === amount).map(({ before, after }) =>
            ` ${before && after ? `${before} → ${after}` : after ?? before}`
          )}
        </>
      ))}
      {more > 0 && ` ${catalog.effects.more(more, format.number(more))}`}
    </>
  );
}

interface PolicyView {
  policy: ApprovalPolicy;
  typed: TypedRule | undefined;
  token: Child;
  reader: Reader;
}

function Policy({ policy, typed, token, reader }: PolicyView) {
  const { approvalPolicy: words } = reader.words;
  const { rules, may_change: mayChange, assistants_may_approve: mayApprove } = policy;
  const here = organizationPath(policy.id, "approvals");
  return (
    <>
      <section>
        <h2>{words.rules}</h2>
        {rules.length === 0 ? <p>{words.none}</p> : (
          <>
            <ul class="rows">
              {rules.map((rule) => (
                <RuleRow rule={rule} here={here} mayChange={mayChange} token={token} reader={reader} />
              ))}
            </ul>
            <p class="muted small after-rows">{words.limits}</p>
          </>
        )}
        {!mayChange && <p>{words.ownerChanges}</p>}
      </section>
      {mayChange && (
        <section>
          <h2>{words.add}</h2>
          {rules.length === 0 && !typed && <p>{words.suggested}</p>}
          <RuleForm
            typed={typed ?? (rules.length === 0 ? suggestedRule(policy.base_currency) : emptyRule)}
            here={here}
            currency={policy.base_currency}
            token={token}
            reader={reader}
          />
        </section>
      )}
      {rules.length > 0 && (
        <section>
          <h2>{words.assistants}</h2>
          <p>{words.assistantsAbout[mayApprove ? "on" : "off"]}</p>
          {mayChange && (
            <form method="post" action={here}>
              {token}
              <input type="hidden" name="action" value="assistants" />
              <input type="hidden" name="may_approve" value={mayApprove ? "off" : "on"} />
              <Buttons>
                <button type="submit">{words.turn[mayApprove ? "off" : "on"]}</button>
              </Buttons>
            </form>
          )}
        </section>
      )}
    </>
  );
}

function RuleRow({ rule, here, mayChange, token, reader }: Omit<PolicyView, "policy" | "typed"> & {
  rule: ApprovalRule;
  /** The page's address. */
  here: string;
  mayChange: boolean;
}) {
  const { approvalPolicy: words } = reader.words;
  const said = tellRule(rule, reader.catalog, reader.format);
  return (
    <Row
      action={mayChange && (
        <form method="post" action={here}>
          {token}
          <input type="hidden" name="action" value="remove" />
          <input type="hidden" name="rule" value={keyOf(rule)} />
          <button class="link danger" type="submit" aria-label={words.removeRule(said)}>{words.remove}</button>
        </form>
      )}
    >
      <p>{said}</p>
    </Row>
  );
}
