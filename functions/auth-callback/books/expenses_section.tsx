/** @jsxImportSource hono/jsx */
/** The latest expenses with a link to earlier ones, or search results. */
import { type ExpenseRow, isNew } from "../../../shared/books/glance.ts";
import { DateText, Name, Paperclip, TextField } from "../../../shared/pages/components.tsx";
import { booksPath } from "../../../shared/urls.ts";
import type { Part } from "./part.ts";
import { SharedExpense } from "./shared_line.tsx";
import { tellSums } from "./sums.ts";

export function ExpensesSection(
  { query, cursor, ...part }: Part & { query: string | undefined; cursor: string | undefined },
) {
  const { glance, reader: { words: { books: words, firstSteps }, format } } = part;
  const { expenses, organization } = glance;
  const { data, total_count: count = 0, totals_by_currency: totals = {}, next_cursor: next } = expenses;
  const rows = data?.rows ?? [];
  const older = next &&
    `${booksPath(organization.id)}${query ? `&q=${encodeURIComponent(query)}` : ""}&cursor=${encodeURIComponent(next)}`;
  return (
    <section>
      <h2>
        {query !== undefined
          ? words.results(<Name>{query}</Name>)
          : cursor !== undefined
          ? words.earlier
          : words.latest}
      </h2>
      {(rows.length > 0 || query !== undefined) && (
        <form method="get" action="/books" class="asked">
          <input type="hidden" name="organization" value={organization.id} />
          <TextField name="q" label={words.search} reason={words.searchReason} value={query ?? ""} maxlength={100} />
          <button type="submit">{words.searchButton}</button>
        </form>
      )}
      {query !== undefined && count > 0 && (
        <p>
          {words.found(count, format.number(count))}. {words.foundTotal(tellSums(totals, format))}
        </p>
      )}
      {rows.length === 0
        ? (
          <p>
            {query !== undefined ? words.noneFound : words.noExpenses}{" "}
            {query === undefined && isNew(glance) && firstSteps.expenseLead}
          </p>
        )
        : <ul class="rows">{rows.map((row) => <Expense {...part} row={row} />)}</ul>}
      {older && (
        <p class="after-rows">
          <a href={older}>{words.older}</a>
        </p>
      )}
    </section>
  );
}

function Expense({ row, ...part }: Part & { row: ExpenseRow }) {
  const { reader: { words: { books: words }, format } } = part;
  const { name, payee, category, kind, is_estimate: isEstimate, has_document: hasDocument } = row;
  return (
    <li class="row entry">
      <div>
        <p>
          <Name>{name}</Name>
          {kind === "refund" && ` · ${words.refund}`}
          {isEstimate && ` · ${words.isEstimate}`}
          {hasDocument && <Paperclip label={words.hasDocument} />}
        </p>
        <p class="muted small">
          <DateText at={row.date} format={format} />
          {payee && payee !== name && (
            <>
              {" · "}
              <Name>{payee}</Name>
            </>
          )}
          {category && (
            <>
              {" · "}
              <Name>{category}</Name>
            </>
          )}
        </p>
        <SharedExpense {...part} row={row} />
      </div>
      <span class="amount">{format.money(kind === "refund" ? `-${row.amount}` : row.amount, row.currency)}</span>
    </li>
  );
}
