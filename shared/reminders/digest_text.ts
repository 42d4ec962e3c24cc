/** The plain-text part of a digest: the same facts as the HTML, in the same order. */
import type { DigestContent, DigestLinks } from "./content.ts";
import { advice, reason, reconnectSentences } from "./phrases.ts";
import { type BudgetRow, type Row, type Section, sectionsOf } from "./rows.ts";
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
      ...(section.mails ? [`${section.mails}\n${words.links.mails}: ${links.mails(section.organizationId)}`] : []),
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
  const { title, overdue, due, notices, awaited, budgets, total, balances, documents } = section;
  const widths = widthsOf([...overdue, ...due, ...notices, ...awaited].map(cellsOf));
  const group = (heading: string, rows: Row[], more: string | null) =>
    lines(heading, rows.flatMap((row) => rowTexts(row, widths)), more);
  return [
    ...(title ? [title] : []),
    ...group(headings.overdue, overdue, section.moreOverdue),
    ...group(headings.due, due, section.moreDue),
    ...(total ? [total] : []),
    ...group(headings.awaited, awaited, null),
    ...group(headings.notices, notices, section.moreNotices),
    ...lines(headings.budgets, pairs(budgets), section.moreBudgets),
    ...lines(headings.balances, pairs(balances), null),
    ...(documents ? [documents] : []),
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
      ...lines(dueHeading ?? "", pairs(due), more),
    ].join("\n"),
  ];
}

const lines = (heading: string, texts: string[], more: string | null) =>
  texts.length === 0 ? [] : [`${heading}:`, ...[...texts, ...(more ? [more] : [])].map((text) => `  ${text}`)];

/** A longer name gets its own line, because it would widen the column. */
const LONGEST_NAME = 24;

const widthOf = (text: string): number => [...text].length;
const spaces = (width: number, text: string): string => " ".repeat(Math.max(0, width - widthOf(text)));

/** The width of each column. */
const widthsOf = (rows: string[][]): number[] =>
  (rows[0] ?? []).map((_, column) =>
    Math.max(0, ...rows.map((cells) => widthOf(cells[column]!)).filter((width) => column > 0 || width <= LONGEST_NAME))
  );

const cellsOf = ({ name, date, distance, amount }: Row): string[] => [name, date, distance, amount ?? ""];

/** Renders cells in columns, amounts aligned to the right, with notes below. */
function rowTexts(row: Row, widths: number[]): string[] {
  const [name, date, distance, amount] = cellsOf(row).map((text, column) =>
    column < 3 ? text + spaces(widths[column]!, text) : spaces(widths[column]!, text) + text
  );
  const isLong = widthOf(row.name) > LONGEST_NAME;
  return [
    ...(isLong ? [row.name] : []),
    [isLong ? spaces(widths[0]!, "") : name, date, distance, amount].join("  ").trimEnd(),
    ...(row.notes.length > 0 ? [`  ${row.notes.join("; ")}`] : []),
  ];
}

const pairs = (rows: BudgetRow[]): string[] =>
  rows.map(({ name, used, amount }) => `${name}: ${used}${amount ? ` · ${amount}` : ""}`);
