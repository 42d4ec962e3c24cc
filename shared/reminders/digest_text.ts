/** The plain-text part of a digest: the same facts as the HTML in the same order. */
import type { DigestContent, DigestLinks } from "./content.ts";
import { advice, reason, reconnectSentences } from "./phrases.ts";
import { type Row, type Section, sectionsOf } from "./rows.ts";
import { sentenceOf } from "./subject.ts";

export function digestText(content: DigestContent, links: DigestLinks): string {
  return [
    sentenceOf(content),
    ...sectionsOf(content).map(sectionText),
    ...reconnectSentences(content).map(({ link, sentence }) => `${sentence}\nReconnect: ${links.connect(link)}`),
    advice(content),
    "-- ",
    [
      reason(content),
      `Settings: ${links.settings}`,
      `Unsubscribe: ${links.unsubscribe}`,
    ].join("\n"),
  ].join("\n\n") + "\n";
}

function sectionText({ title, overdue, due, moreOverdue, moreDue, total }: Section): string {
  return [
    ...(title ? [title.toUpperCase()] : []),
    ...group("Overdue", overdue, moreOverdue),
    ...group("Due", due, moreDue),
    ...(total ? [`${total}.`] : []),
  ].join("\n");
}

const group = (heading: string, rows: Row[], more: string | null) =>
  rows.length === 0 ? [] : [`${heading}:`, ...rows.map(rowText), ...(more ? [`  ${more}`] : [])];

function rowText({ name, date, distance, amount, notes }: Row): string {
  const amounts = amount ? `: ${amount}` : "";
  const detail = notes.length > 0 ? ` (${notes.join("; ")})` : "";
  return `  ${name}, ${date}, ${distance}${amounts}${detail}`;
}
