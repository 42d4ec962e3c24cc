/** @jsxImportSource hono/jsx */
/** Documents without a record, attached ones that ask for another account, and the link to upload more. */
import type { Glance } from "../../../shared/books/glance.ts";
import { DateText, Name } from "../../../shared/pages/components.tsx";
import { documentPath } from "../../../shared/urls.ts";
import type { Part } from "./part.ts";

/** The maximum on this page; the assistant lists the others. */
const SHOWN = 5;

export function DocumentsSection(
  { documents: { data }, ...part }: Part & { documents: NonNullable<Glance["documents"]> },
) {
  const { glance, token, reader: { words: { books, documents: words }, format } } = part;
  if (data.count === 0 && !glance.may_write) return null;
  return (
    <section id="documents">
      <h2>{books.documents}</h2>
      {data.count === 0 ? <p>{books.noDocuments}</p> : (
        <ul class="rows">
          {data.documents.slice(0, SHOWN).map(({ id, name, read, state, iban_was: was, added_on: day }) => (
            <li class="row entry">
              <div>
                <p>
                  <a href={documentPath(id)}>
                    <Name>{read.payee ?? name}</Name>
                  </a>
                </p>
                <p class="muted small">
                  {books.cameIn(<DateText at={day} format={format} />)}
                  {" · "}
                  {was ? <strong class="overdue">{books.otherAccount}</strong> : words.short[state]}
                </p>
              </div>
              {read.gross && read.currency && (
                <span class="amount">{format.money(read.payable ?? read.gross, read.currency)}</span>
              )}
            </li>
          ))}
        </ul>
      )}
      {data.count > SHOWN && <p class="small after-rows">{books.moreDocuments}</p>}
      {glance.may_write && (
        <form method="post" action="/books">
          <input type="hidden" name="form_token" value={token} />
          <input type="hidden" name="organization" value={glance.organization.id} />
          <button type="submit" name="action" value="upload">{books.upload}</button>
        </form>
      )}
    </section>
  );
}
