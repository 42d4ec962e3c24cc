/**
 * Composes the mails about a proposal. What is in it was written by other people and their apps, so no line of it may
 * look like words of ours, or become a link.
 */
import type { ClaimedMail, Proposal } from "../approvals/proposal.ts";
import { shownClientName } from "../oauth/client_name.ts";
import { tellAct, tellReason, tellWhole } from "../words/approvals.ts";
import { DATA_FORMAT, type EffectFormat } from "../words/effect_format.ts";
import { effectLines, tellEffects } from "../words/effects.ts";
import { localeOf } from "../words/locale.ts";
import { pageFormat } from "../words/page_format.ts";
import type { Words } from "../words/words.ts";
import type { Mail } from "./send_mail.ts";
import { oneLine } from "../reminders/names.ts";
import { strangersLine, strangersName } from "./strangers_name.ts";

/** The page has the others. */
const MOST_LINES = 20;
/** Of what becomes of one thing. */
const LONGEST_LINE = 480;

/** @param link the page of the proposal. */
export function composeProposalMail({ kind, to, hides_amounts, proposal }: ClaimedMail, { words, link }: {
  words: Words;
  link: string;
}): Mail {
  const format: EffectFormat = {
    ...DATA_FORMAT,
    ...(hides_amounts && { money: () => words.mails.proposal.hidden }),
    text: strangersLine,
  };
  const { effects, effects_count } = proposal;
  const told = tellEffects({ effects: effects.slice(0, MOST_LINES), effects_count }, words, format);
  const whole = tellWhole(proposal, words, format);
  const about = {
    proposer: proposal.proposer ?? words.mails.proposal.decided.somebody,
    app: proposal.client_name === null ? undefined : strangersName(shownClientName(proposal.client_name)),
    act: tellAct(proposal, words),
    organization: strangersName(proposal.organization.name),
    effects: whole === undefined ? effectLines(told, words).map((line) => oneLine(line, LONGEST_LINE)) : [whole],
    link,
  };
  if (kind === "asked") {
    const { asked } = words.mails.proposal;
    const { date } = pageFormat(localeOf({ language: words.language, country: proposal.country }));
    const reasons = proposal.reasons.map((reason) => tellReason(reason, words, format));
    return {
      to,
      subject: asked.subject(about),
      text: asked.text({ ...about, reasons, expires: date(proposal.expires_at) }),
    };
  }
  const { decided } = words.mails.proposal;
  const state = stateOf(proposal);
  const by = proposal.decided_by ?? decided.somebody;
  return {
    to,
    subject: decided.subjects[state](about),
    text: decided.text({ ...about, said: decided.said[state]({ by }) }),
  };
}

/** @throws {Error} for a state that nobody is told of. */
function stateOf({ state }: Proposal): "approved" | "refused" | "stale" | "expired" {
  if (state === "pending" || state === "withdrawn") throw new Error(`a ${state} proposal has no decision to tell`);
  return state;
}
