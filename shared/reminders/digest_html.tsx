/** @jsxImportSource hono/jsx */
/**
 * The HTML part of a digest: one column, a table, no external resources. Essential styles are inline; dark theme and
 * narrow screens use the style sheet, which some mail programs drop.
 */
import type { DigestContent, DigestLinks } from "./content.ts";
import { advice, reason, reconnectSentences } from "./phrases.ts";
import { type BudgetRow, type PlanEndText, type Row, type Section, sectionsOf } from "./rows.ts";
import { headlineOf, subjectOf } from "./subject.ts";
import type { Wording } from "./wording.ts";

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";
const INK = "#17201d";
const MUTED = "#56625d";
const LINE = "#dde3e0";
const ACCENT = "#0b5f4c";
const DANGER = "#a12a1e";

const NUMBER = `border-top:1px solid ${LINE};vertical-align:top;white-space:nowrap;font-variant-numeric:tabular-nums`;
const TOTAL = `padding:10px 0;border-top:2px solid ${LINE};font-weight:600;font-variant-numeric:tabular-nums`;

const SHEET = `
:root { color-scheme: light dark; supported-color-schemes: light dark; }
td { overflow-wrap: anywhere; }
@media (prefers-color-scheme: dark) {
  .paper, .paper td, .paper th, .paper p, .paper h1, .paper h2 { color: #e7ece9 !important; }
  .paper { background: #121715 !important; }
  .paper .muted, .paper .muted td { color: #a0aca7 !important; }
  .paper .line { border-color: #2c3632 !important; }
  .paper a { color: #74d0b4 !important; }
  .paper .bad { color: #f2998e !important; }
}
@media (max-width: 30em) {
  .column { padding: 20px 16px !important; }
}`;

interface DigestView {
  links: DigestLinks;
  wording: Wording;
}

export async function digestHtml(
  content: DigestContent,
  { links, wording, language }: DigestView & { language: string },
): Promise<string> {
  const { words } = wording;
  const said = advice(content, wording);
  const html = await (
    <html lang={language}>
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="format-detection" content="telephone=no, date=no, address=no" />
        <title>{subjectOf(content, wording)}</title>
        <style dangerouslySetInnerHTML={{ __html: SHEET }} />
      </head>
      <body class="paper" style={`margin:0;padding:0;background:#ffffff;color:${INK};font-family:${FONT}`}>
        <table
          class="paper"
          role="presentation"
          width="100%"
          cellpadding="0"
          cellspacing="0"
          style="background:#ffffff"
        >
          <tr>
            <td class="column" align="center" style="padding:32px 24px">
              <table
                role="presentation"
                width="100%"
                cellpadding="0"
                cellspacing="0"
                style={`max-width:600px;text-align:start;color:${INK};font:16px/1.5 ${FONT}`}
              >
                <tr>
                  <td>
                    <p class="muted" style={`margin:0 0 8px;color:${MUTED};font-size:14px;font-weight:600`}>
                      {words.product}
                    </p>
                    <h1 style="margin:0 0 24px;font-size:21px;line-height:1.35;font-weight:600">
                      {headlineOf(content, wording)}
                    </h1>
                    {sectionsOf(content, wording).map((section) => (
                      <>
                        <Bills section={section} words={words} />
                        {section.mails && (
                          <p style="margin:16px 0 0">
                            {section.mails}{" "}
                            <a href={links.mails(section.organizationId)} style={`color:${ACCENT}`}>
                              {words.links.mails}
                            </a>
                          </p>
                        )}
                        {section.planEnd && <End end={section.planEnd} link={links.plan(section.organizationId)} />}
                      </>
                    ))}
                    {reconnectSentences(content, wording).map(({ link, sentence }) => (
                      <p style="margin:24px 0 0">
                        {sentence} <a href={links.connect(link)} style={`color:${ACCENT}`}>{words.links.reconnect}</a>
                      </p>
                    ))}
                    {said && <p style="margin:24px 0 0">{said}</p>}
                    <p style={said ? "margin:8px 0 0" : "margin:24px 0 0"}>
                      {said && words.withoutAssistant}
                      {sectionsOf(content, wording).map(({ title, organizationId }, place) => (
                        <>
                          {place > 0 ? " · " : said ? " " : ""}
                          <a href={links.books(organizationId)} style={`color:${ACCENT}`}>{words.links.books(title)}</a>
                        </>
                      ))}
                    </p>
                    <Footer content={content} links={links} wording={wording} />
                  </td>
                </tr>
              </table>
            </td>
          </tr>
        </table>
      </body>
    </html>
  ).toString();
  return `<!doctype html>${html}`;
}

function Bills({ section, words: { headings } }: { section: Section; words: Wording["words"] }) {
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
    documents,
  } = section;
  return (
    <>
      {title && <h2 dir="auto" style="margin:28px 0 4px;font-size:17px;line-height:1.35;font-weight:600">{title}</h2>}
      <table
        width="100%"
        cellpadding="0"
        cellspacing="0"
        style={`margin:0;font:16px/1.5 ${FONT};border-collapse:collapse`}
      >
        {overdue.length > 0 && <Group heading={headings.overdue} rows={overdue} more={moreOverdue} />}
        {due.length > 0 && <Group heading={headings.due} rows={due} more={moreDue} />}
        {total && (
          <tr>
            <td colspan={2} align="right" class="line" style={TOTAL}>{total}</td>
          </tr>
        )}
        {awaited.length > 0 && <Group heading={headings.awaited} rows={awaited} more={null} />}
        {notices.length > 0 && <Group heading={headings.notices} rows={notices} more={moreNotices} />}
        {budgets.length > 0 && <Budgets heading={headings.budgets} rows={budgets} more={moreBudgets} />}
        {balances.length > 0 && <Budgets heading={headings.balances} rows={balances} more={null} />}
        {documents && (
          <tr>
            <td colspan={2} class="line" style={`padding:10px 0;border-top:1px solid ${LINE}`}>{documents}</td>
          </tr>
        )}
      </table>
    </>
  );
}

function End({ end, link }: { end: PlanEndText; link: string }) {
  return (
    <table
      width="100%"
      cellpadding="0"
      cellspacing="0"
      style={`margin:24px 0 0;font:16px/1.5 ${FONT};border-collapse:collapse`}
    >
      <Heading heading={end.heading} isBad />
      <tr>
        <td colspan={2} class="line" style={`padding:10px 0;border-top:1px solid ${LINE}`}>
          {end.sentences.join(" ")}
          {end.link && (
            <>
              {" "}
              <a href={link} style={`color:${ACCENT}`}>{end.link}</a>
            </>
          )}
        </td>
      </tr>
      {end.dueHeading && <Budgets heading={end.dueHeading} rows={end.due} more={end.more} />}
    </table>
  );
}

function Group({ heading, rows, more }: { heading: string; rows: Row[]; more: string | null }) {
  return (
    <>
      <Heading heading={heading} isBad={rows[0]!.isOverdue} />
      {rows.map((row) => <Line row={row} />)}
      <More more={more} />
    </>
  );
}

function Budgets({ heading, rows, more }: { heading: string; rows: BudgetRow[]; more: string | null }) {
  return (
    <>
      <Heading heading={heading} isBad={false} />
      {rows.map(({ name, used, amount }) => (
        <tr>
          <td colspan={amount ? 1 : 2} class="line" style={`width:100%;padding:10px 0;border-top:1px solid ${LINE}`}>
            <bdi style="font-weight:600">{name}</bdi>: {used}
          </td>
          {amount && <Amount padding="10px 0 10px 16px">{amount}</Amount>}
        </tr>
      ))}
      <More more={more} />
    </>
  );
}

const Heading = ({ heading, isBad }: { heading: string; isBad: boolean }) => (
  <tr>
    <th
      colspan={2}
      align="left"
      scope="colgroup"
      class={isBad ? "bad" : "muted"}
      style={`padding:12px 0 4px;color:${isBad ? DANGER : MUTED};font-size:14px;font-weight:600;text-align:start`}
    >
      {heading}
    </th>
  </tr>
);

const More = ({ more }: { more: string | null }) =>
  more && (
    <tr>
      <td colspan={2} class="line muted" style={`padding:10px 0;border-top:1px solid ${LINE};color:${MUTED}`}>
        {more}
      </td>
    </tr>
  );

const Amount = ({ padding, children }: { padding: string; children?: string }) => (
  <td class="line" align="right" style={`padding:${padding};${NUMBER}`}>{children}</td>
);

/** The name and amount on one line, and the details below across the full width. */
function Line({ row: { name, date, distance, amount, notes } }: { row: Row }) {
  return (
    <>
      <tr>
        <td
          colspan={amount === null ? 2 : 1}
          class="line"
          width="100%"
          style={`padding:10px 16px 0 0;border-top:1px solid ${LINE};vertical-align:top`}
        >
          <bdi style="font-weight:600">{name}</bdi>
        </td>
        {amount !== null && <Amount padding="10px 0 0">{amount}</Amount>}
      </tr>
      <tr>
        <td colspan={2} class="muted" style={`padding:0 0 10px;color:${MUTED}`}>
          {date} · {distance}
          {notes.length > 0 && (
            <>
              <br />
              <span class="muted" style={`color:${MUTED};font-size:14px`}>{notes.join(" · ")}</span>
            </>
          )}
        </td>
      </tr>
    </>
  );
}

function Footer({ content, links, wording }: DigestView & { content: DigestContent }) {
  return (
    <table role="presentation" width="100%" cellpadding="0" cellspacing="0" style="margin-top:32px">
      <tr>
        <td
          class="muted line"
          style={`padding-top:12px;border-top:1px solid ${LINE};color:${MUTED};font:14px/1.5 ${FONT}`}
        >
          {reason(content, wording)}
          <br />
          <a href={links.account} style={`color:${ACCENT}`}>{wording.words.links.settings}</a>
          {" · "}
          <a href={links.unsubscribe} style={`color:${ACCENT}`}>{wording.words.links.unsubscribe}</a>
        </td>
      </tr>
    </table>
  );
}
