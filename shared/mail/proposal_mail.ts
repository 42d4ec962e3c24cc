/**
 * Composes the mails about a proposal. Other people and their apps wrote the contents, so no part may look like our own
 * words or become a link.
 */
import type { Proposal } from "../approvals/proposal.ts";
import { shownClientName } from "../oauth/client_name.ts";
import { tellAct, tellReason, tellWhole } from "../words/approvals.ts";
import type { EffectFormat } from "../words/effect_format.ts";
import { effectLines, tellEffects } from "../words/effects.ts";
import { formatOf } from "../words/format.ts";
import { localeOf } from "../words/locale.ts";
import { pageFormat } from "../words/page_format.ts";
import type { Words } from "../words/words.ts";
import type { ProposalMail } from "./claimed_mail.ts";
import type { Mail } from "./send_mail.ts";
import { oneLine } from "../words/one_line.ts";
import { strangersLine, strangersName } from "../words/strangers_name.ts";

/** The maximum number of effects in a mail; the page shows the others. */
const MOST_LINES = 20;
/** The maximum length of the line about one effect. */
const LONGEST_LINE = 480;

/** @param link the page of the proposal */
export function composeProposalMail({ kind, to, hides_amounts, proposal }: ProposalMail, { words, link }: {
  words: Words;
  link: string;
}): Mail {
  const { proposal: said } = words.mails;
  const locale = localeOf({ language: words.language, country: proposal.country });
  const { date, money } = formatOf(locale);
  const { number, time } = pageFormat(locale);
  const format: EffectFormat = {
    date: (day) => date(day, { style: "day", today: proposal.created_at }),
    money: hides_amounts ? () => said.hidden : money,
    number,
    text: strangersLine,
  };
  const { effects, effects_count } = proposal;
  const told = tellEffects({ effects: effects.slice(0, MOST_LINES), effects_count }, words, format);
  const whole = tellWhole(proposal, words, format);
  const about = {
    proposer: proposal.proposer ?? said.somebody,
    app: proposal.client_name === null ? undefined : strangersName(shownClientName(proposal.client_name)),
    act: tellAct(proposal, words),
    organization: strangersName(proposal.organization.name),
    effects: whole === undefined ? effectLines(told, words).map((line) => oneLine(line, LONGEST_LINE)) : [whole],
    link,
  };
  switch (kind) {
    case "asked":
    case "reminded": {
      const reasons = proposal.reasons.map((reason) => tellReason(reason, words, format));
      const asked = { ...about, reasons, expires: time(proposal.expires_at, proposal.timezone) };
      return { to, subject: said[kind].subject(asked), text: said[kind].text(asked) };
    }
    case "decided":
    case "settled": {
      const { state } = proposal;
      if (state === "pending") throw new Error("a pending proposal has no outcome to tell");
      const outcome = tellOutcome(proposal, words);
      const isToAsk = kind === "decided" && state === "expired";
      const text = said[kind].text({ ...about, said: isToAsk ? `${outcome} ${said.decided.askAgain}` : outcome });
      return { to, subject: said.subjects[state](about), text };
    }
  }
}

function tellOutcome({ state, problem, proposer, decided_by, decided_through }: Proposal, words: Words): string {
  const { said, somebody } = words.mails.proposal;
  if (state === "withdrawn" && problem === "proposer_gone") return said.gone({ proposer });
  if (state === "withdrawn" && decided_through === null) return said.disconnected();
  return said[state as Exclude<Proposal["state"], "pending">]({ by: decided_by ?? somebody });
}
