/** @jsxImportSource hono/jsx */
/** The chart and the reminder mail with example figures, in the page's theme and without external files. */
import { Bar } from "../../../shared/pages/components.tsx";
import type { Catalog } from "../../../shared/words/page_words.ts";

export function Shown({ words: { pages: { frontPage: { shown } }, mails: { digest } } }: { words: Catalog }) {
  const { chart, digest: mail } = shown;
  const most = Math.max(...chart.rows.map(({ value }) => value));
  const none = { later: 0, until: "", trial: 0, cancelBy: 0, renewal: 0, priceRise: 0, awaited: 0, usedUp: 0 };
  const counts = { ...none, documents: 0, mails: 0, today: 1, week: mail.due.length - 1, overdue: mail.overdue.length };
  return (
    <section>
      <h2>{shown.title}</h2>
      <div class="shown">
        <figure>
          <figcaption>{chart.caption}</figcaption>
          <p>
            <span class="number">{chart.total}</span> <span class="muted">{chart.when}</span>
            <br />
            <span class="muted small">{chart.compared}</span>
          </p>
          <ol class="bars">
            {chart.rows.map(({ name, amount, value }) => (
              <li>
                <span>{name}</span>
                <span class="amount">{amount}</span>
                <Bar amount={value} most={most} />
              </li>
            ))}
          </ol>
        </figure>
        <figure>
          <figcaption>{mail.caption}</figcaption>
          <p class="title">
            {digest.subject([
              digest.counts({ ...counts, trialEnded: 0, trialCharged: 0, lowBalance: 0, almostUsedUp: 0, others: 0 }),
            ])}
          </p>
          <Dates heading={digest.headings.overdue} dates={mail.overdue} isBad />
          <Dates heading={digest.headings.due} dates={mail.due} />
          <p class="total">{digest.total({ amount: mail.total })}</p>
        </figure>
      </div>
    </section>
  );
}

function Dates({ heading, dates, isBad }: {
  heading: string;
  dates: readonly { name: string; when: string; amount: string }[];
  isBad?: boolean;
}) {
  return (
    <>
      <h3 class={isBad ? "group overdue" : "group"}>{heading}</h3>
      <ul class="rows">
        {dates.map(({ name, when, amount }) => (
          <li class="row entry">
            <div>
              <span class="title">{name}</span>
              <br />
              <span class="muted small">{when}</span>
            </div>
            <span class="amount">{amount}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
