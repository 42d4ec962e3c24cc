/** @jsxImportSource hono/jsx */
/** The result of reading the file, or its progress. The assistant continues from here. */
import type { Child } from "hono/jsx";
import type { AppContext } from "../../../shared/http/app.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import { DateText, Facts, Name, Notice, Submit } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import type { Reader } from "../../../shared/words/reader.ts";
import type { PageDeps } from "../page_guards.ts";
import { PROGRESS_SCRIPT } from "./progress_script.ts";
import { type Found, type Preview, previewOf } from "./steps.ts";

export async function renderUploaded(c: AppContext, deps: PageDeps, found: Found): Promise<Response> {
  const { state } = found.opened;
  const reader: Reader = c.get("reader");
  const { uploaded: words } = reader.words;
  const isUnderWay = state === "reading" || state === "matching";
  const title = state === "committed" ? words.committedTitle : isUnderWay ? words.underWayTitle : words.readTitle;
  const answer = state === "ready" ? await previewOf(found) : {};
  const preview = "rows_ok" in answer ? answer : undefined;
  const closed = "closed" in answer ? answer.closed : undefined;
  const month = (name: string) => reader.format.month(`${name}-01`);
  return await renderPage(c, {
    title,
    config: deps.config,
    user: found.user,
    tabs: found.tabs,
    ...(isUnderWay && { script: PROGRESS_SCRIPT, asks: true }),
    children: (
      <>
        <h1>{title}</h1>
        {state === "committed" ? <p class="lead">{words.another}</p> : (
          <Notice kind="done">
            <p>{words.say}</p>
          </Notice>
        )}
        {isUnderWay && await underWay(c, deps, found)}
        {state === "ready" && !preview && (
          <p>{closed ? words.allClosed(month(closed.month), month(closed.to)) : words.noneReadable}</p>
        )}
        {preview ? <WhatWasRead found={found} preview={preview} reader={reader} /> : (
          !isUnderWay && <Facts facts={whose(found, words)} />
        )}
      </>
    ),
  });
}

/** Isolates the name, because its direction must not affect the amount. */
const apart = <One extends { name: string }>(one: One): One => ({ ...one, name: `\u2068${one.name}\u2069` });

const EFFECTS = ["pays", "corrects", "removes"] as const;
/** The maximum number of listed lines. */
const MOST_EFFECTS = 20;

type Words = Reader["words"]["uploaded"];
type Fact = readonly [Child, Child];

const whose = ({ organization, opened: { name, account } }: Found, words: Words): Fact[] => [
  ...(name ? [[words.file, <Name>{name}</Name>] as const] : []),
  [words.organization, <Name>{organization.name}</Name>],
  ...(account ? [[words.account, <Name>{account.name}</Name>] as const] : []),
];

async function underWay(c: AppContext, { config, clock }: PageDeps, { user, opened }: Found): Promise<Child> {
  const { words, format } = c.get("reader");
  const { done, total } = opened;
  // A person must answer a question before any row can be read.
  if (total === 0) return <p>{words.uploaded.asksFirst}</p>;
  const formToken = await createFormToken(config, { userId: user.id, at: clock() });
  return (
    <>
      <p id="progress" role="status">
        {words.uploaded.progress(format.percent(Math.floor(100 * done / Math.max(total, 1))))}
      </p>
      <progress value={done} max={Math.max(total, 1)} aria-labelledby="progress" />
      <form method="post" action={c.req.path} data-goes-on>
        <input type="hidden" name="form_token" value={formToken} />
        <p>{words.uploaded.orHere}</p>
        <Submit>{words.uploaded.goOn}</Submit>
      </form>
    </>
  );
}

function WhatWasRead({ found, preview, reader: { words: { uploaded: words }, format } }: {
  found: Found;
  preview: Preview;
  reader: Reader;
}) {
  const { period, questions, sample } = preview;
  const money = Object.entries(preview.totals).map(([currency, amount]) => format.money(amount, currency));
  const leftOut = preview.left_out.map(({ kind, count }) => words.kinds[kind](count, format.number(count)));
  const day = (at: string) => <DateText at={at} format={format} />;
  const rows = (count: number): Child => count > 0 && words.rows(count, format.number(count));
  const effects = EFFECTS.flatMap((effect): Fact[] => {
    const all = preview[effect] ?? [];
    const lines = all.slice(0, MOST_EFFECTS).map((one) => words.effects[effect](apart(one), format.money));
    return all.length > 0
      ? [[words[effect](all.length), <Lines lines={[...lines, ...all.length > MOST_EFFECTS ? ["…"] : []]} />]]
      : [];
  });
  const asked = preview.questions_count ?? questions.length;
  const facts: readonly (readonly [Child, Child])[] = [
    ...whose(found, words),
    [words.expenses, format.number(preview.rows_ok)],
    [words.period, period.from && period.to && words.days(day(period.from), day(period.to))],
    ...effects,
    [words.total, money.length > 0 && <Lines lines={money} />],
    [words.known, rows(preview.duplicates_count)],
    [words.leftOut, leftOut.length > 0 && <Lines lines={leftOut} />],
    [words.unreadable, rows(preview.rows_bad_count)],
    [words.questions, asked > 0 && words.asks(asked, format.number(asked))],
  ];
  return (
    <>
      <Facts facts={facts.filter(([, value]) => value)} />
      {sample.length > 0 && (
        <section>
          <h2>{words.first}</h2>
          <ul class="rows">
            {sample.map(({ name, payee, date, amount, currency, is_refund }) => (
              <li class="row entry">
                <div>
                  <Name>{name}</Name>
                  <p class="muted small">
                    {payee && payee !== name && (
                      <>
                        <Name>{payee}</Name>
                        {" · "}
                      </>
                    )}
                    <DateText at={date} format={format} />
                    {is_refund && <>{" · "}{words.refund}</>}
                  </p>
                </div>
                <span class="amount">{format.money(is_refund ? `-${amount}` : amount, currency)}</span>
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

const Lines = ({ lines }: { lines: readonly string[] }) => <>{lines.map((line) => <div>{line}</div>)}</>;
