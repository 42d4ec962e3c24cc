/** @jsxImportSource hono/jsx */
/** Renders an organization's mail address, the waiting mail, the senders and the newest mail. */
import type { Child } from "hono/jsx";
import type { Inbound, InboundAction, ListedMail } from "../../../shared/db/inbound_page_store.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import { inboundAddress } from "../../../shared/inbound/address.ts";
import { DateText, Name, Notice, Row } from "../../../shared/pages/components.tsx";
import { COPY_SCRIPT, CopyText } from "../../../shared/pages/copy_button.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { StateNotice } from "../../../shared/pages/organization_state.tsx";
import { livingIn } from "../../../shared/pages/reader.ts";
import { tabsOf } from "../../../shared/pages/tabs.tsx";
import { documentPath, organizationPath } from "../../../shared/urls.ts";
import { findWords } from "../../../shared/words/codes.ts";
import type { Reader } from "../../../shared/words/reader.ts";
import type { PageDeps } from "../page_guards.ts";

const DONE = { rotate: "done", accept: "done", block: "done", forget: "done", gone: "warning" } as const;

interface InboundView {
  user: SignedInUser;
  inbound: Inbound;
  domain: string;
  done: string | undefined;
}

interface Parts {
  inbound: Inbound;
  token: Child;
  reader: Reader;
}

export async function renderInbound(
  c: AppContext,
  { config, clock }: PageDeps,
  { user, inbound, domain, done }: InboundView,
): Promise<Response> {
  const reader = livingIn(c, inbound.country);
  const { inbound: words } = reader.words;
  const value = await createFormToken(config, { userId: user.id, at: clock() });
  const parts: Parts = { inbound, token: <input type="hidden" name="form_token" value={value} />, reader };
  const news = Object.hasOwn(DONE, done ?? "") ? done as keyof typeof DONE : undefined;
  return await renderPage(c, {
    title: words.title,
    config,
    user,
    tabs: tabsOf(inbound.id, inbound.state, "books"),
    script: COPY_SCRIPT,
    children: (
      <>
        {news && (
          <Notice kind={DONE[news]}>
            <p>{words.done[news]}</p>
          </Notice>
        )}
        <h1>{words.heading(<Name>{inbound.state.name}</Name>)}</h1>
        <StateNotice id={inbound.id} state={inbound.state} reader={reader} />
        <p class="lead">{inbound.token ? words.lead : words.noAddress}</p>
        {inbound.token && <CopyText text={inboundAddress(inbound.token, domain)} words={words} />}
        <Action {...parts} action="rotate">
          <button class={inbound.token ? "" : "primary"} type="submit">
            {inbound.token ? words.rotate : words.makeAddress}
          </button>
        </Action>
        {inbound.token && <p class="muted small">{words.rotateReason}</p>}
        <Waiting {...parts} />
        <Senders {...parts} />
        <Newest {...parts} />
      </>
    ),
  });
}

function Action({ inbound: { id }, token, action, target, children }: Parts & {
  action: InboundAction;
  target?: string;
  children: Child;
}) {
  return (
    <form method="post" action={organizationPath(id, "mail")}>
      {token}
      <input type="hidden" name="action" value={action} />
      {target && <input type="hidden" name="target" value={target} />}
      {children}
    </form>
  );
}

function Waiting(parts: Parts) {
  const { inbound, reader: { words: { inbound: words } } } = parts;
  const waiting = inbound.mails.filter(({ state }) => state === "waiting");
  return (
    <section>
      <h2>{words.waiting}</h2>
      <p class="muted small">{words.waitingReason}</p>
      {waiting.length === 0 && <p>{words.nothingWaits}</p>}
      <ul class="rows">{waiting.map((mail) => <WaitingRow mail={mail} {...parts} />)}</ul>
    </section>
  );
}

function WaitingRow({ mail, ...parts }: Parts & { mail: ListedMail }) {
  const { inbound: words } = parts.reader.words;
  const { sender, is_members: isMembers, is_proven: isProven, verdicts } = mail;
  const checks = Object.entries(verdicts).map(([check, verdict]) => `${check.toUpperCase()} ${verdict}`).join(", ");
  const accept = isMembers ? words.acceptOne : words.accept;
  const block = isMembers ? words.discard : words.block;
  return (
    <Row
      action={
        <div class="actions">
          <Action {...parts} action="accept" target={mail.id}>
            <button class="link" type="submit" aria-label={words.labelOf(accept, sender)}>
              {accept}
            </button>
          </Action>
          <Action {...parts} action="block" target={mail.id}>
            <button class="link danger" type="submit" aria-label={words.labelOf(block, sender)}>
              {block}
            </button>
          </Action>
        </div>
      }
    >
      <MailText mail={mail} reader={parts.reader} />
      <p class="muted small">
        {isProven ? words.proven : isMembers ? words.posesAsMember : words.unproven}
        {checks && <>{" · "}{words.verdicts(<Name>{checks}</Name>)}</>}
      </p>
    </Row>
  );
}

function MailText({ mail, reader: { words: { inbound: words }, format } }: { mail: ListedMail; reader: Reader }) {
  const day = <DateText at={mail.received_at} format={format} />;
  if (!mail.sender) {
    return (
      <>
        <h3>{words.notFetched}</h3>
        <p class="muted small">{day}</p>
      </>
    );
  }
  return (
    <>
      <h3>
        <Name>{mail.subject || words.noSubject}</Name>
      </h3>
      <p>
        <Name>{mail.sender}</Name>
      </p>
      <p class="muted small">
        {words.received(day, format.number(Math.ceil(mail.size / 1024)))}
      </p>
    </>
  );
}

function Senders(parts: Parts) {
  const { inbound: { senders }, reader: { words: { inbound: words } } } = parts;
  if (senders.length === 0) return null;
  return (
    <section>
      <h2>{words.senders}</h2>
      <ul class="rows">
        {senders.map(({ address, is_accepted: isAccepted, decided_by: by }) => (
          <Row
            action={
              <Action {...parts} action="forget" target={address}>
                <button class="link" type="submit" aria-label={words.forgetSender(address)}>{words.forget}</button>
              </Action>
            }
          >
            <h3>
              <Name>{address}</Name>
            </h3>
            <p class="muted small">{words[isAccepted ? "accepted" : "blocked"](by && <Name>{by}</Name>)}</p>
          </Row>
        ))}
      </ul>
    </section>
  );
}

function Newest({ inbound: { mails }, reader }: Parts) {
  const { inbound: words } = reader.words;
  const others = mails.filter(({ state }) => state !== "waiting");
  if (others.length === 0) return null;
  return (
    <section>
      <h2>{words.newest}</h2>
      <ul class="rows">
        {others.map((mail) => (
          <Row>
            <MailText mail={mail} reader={reader} />
            <p class="muted small">
              {words.states[mail.state]}
              {mail.documents.map((id, place) => (
                <>
                  {" · "}
                  <a href={documentPath(id)}>{words.openDocument(place + 1)}</a>
                </>
              ))}
            </p>
            {mail.refusals.map((code) => <p>{findWords(words.refusals, code, () => words.notKept)({})}</p>)}
          </Row>
        ))}
      </ul>
    </section>
  );
}
