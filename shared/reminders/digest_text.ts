/** The plain-text part of a digest: the same facts as the HTML, in the same order. */
import type { DigestContent, DigestLinks } from "./content.ts";
import { advice, reason, reconnectSentences } from "./phrases.ts";
import { type Row, type Section, sectionsOf } from "./rows.ts";
import { headlineOf } from "./subject.ts";
import type { Wording } from "./wording.ts";

export function digestText(
  content: DigestContent,
  { links, wording }: { links: DigestLinks; wording: Wording },
): string {
  const { words } = wording;
  const said = advice(content, wording);
  return [
    words.product,
    headlineOf(content, wording),
    ...sectionsOf(content, wording).flatMap((section) => [
      sectionText(section, wording),
      ...planEndText(section, links),
    ]).filter((part) => part !== ""),
    ...reconnectSentences(content, wording).map(({ link, sentence }) =>
      `${sentence}\n${words.links.reconnect}: ${links.connect(link)}`
    ),
    ...(said ? [said] : []),
    `${said ? `${words.withoutAssistant} ` : ""}${
      sectionsOf(content, wording).map(({ title, organizationId }) =>
        `${words.links.books(title)}: ${links.books(organizationId)}`
      ).join("\n")
    }`,
    "-- ",
    [
      reason(content, wording),
      `${words.links.settings}: ${links.account}`,
      `${words.links.unsubscribe}: ${links.unsubscribe}`,
    ].join("\n"),
  ].join("\n\n") + "\n";
}

function sectionText(section: Section, { words: { headings } }: Wording): string {
  const {
    title,
    overdue,
    due,
    notices,
    awaited,
    budgets,
    moreOverdue,
    moreDue,
    moreNotices,
    moreBudgets,
    total,
    balances,
  } = section;
  return [
    ...(title ? [title] : []),
    ...group(headings.overdue, overdue, moreOverdue),
    ...group(headings.due, due, moreDue),
    ...(total ? [total] : []),
    ...group(headings.awaited, awaited, null),
    ...group(headings.notices, notices, moreNotices),
    ...lines(headings.budgets, budgets.map(({ name, used }) => `${name}: ${used}`), moreBudgets),
    ...lines(headings.balances, balances.map(({ name, used }) => `${name}: ${used}`), null),
  ].join("\n");
}

function planEndText({ planEnd, organizationId }: Section, links: DigestLinks): string[] {
  if (!planEnd) return [];
  const { heading, sentences, dueHeading, due, more, link } = planEnd;
  return [
    [
      `${heading}:`,
      ...sentences.map((sentence) => `  ${sentence}`),
      ...(link ? [`  ${link}: ${links.plan(organizationId)}`] : []),
      ...lines(dueHeading ?? "", due.map(({ name, used }) => `${name}: ${used}`), more),
    ].join("\n"),
  ];
}

const group = (heading: string, rows: Row[], more: string | null) => lines(heading, rows.map(rowText), more);

const lines = (heading: string, texts: string[], more: string | null) =>
  texts.length === 0 ? [] : [`${heading}:`, ...[...texts, ...(more ? [more] : [])].map((text) => `  ${text}`)];

function rowText({ name, date, distance, amount, notes }: Row): string {
  const amounts = amount ? `: ${amount}` : "";
  const detail = notes.length > 0 ? ` (${notes.join("; ")})` : "";
  return `${[name, date, distance].join(" · ")}${amounts}${detail}`;
}
