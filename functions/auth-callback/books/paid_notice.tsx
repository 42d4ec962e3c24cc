/** @jsxImportSource hono/jsx */
/** The payment just made, with a button to undo it. */
import type { Paid } from "../../../shared/books/glance.ts";
import { Buttons, DateText, Name, Notice } from "../../../shared/pages/components.tsx";
import type { Part } from "./part.ts";

export function PaidNotice(
  { paid, glance, token, reader: { words: { books: words }, format } }: Part & { paid: Paid },
) {
  const { name, amount, currency, due_on: dueOn } = paid.facts;
  const day = <DateText at={dueOn} format={format} />;
  if (paid.is_undone) {
    return (
      <Notice>
        <p>{words.undone(<Name>{name}</Name>, day)}</p>
      </Notice>
    );
  }
  return (
    <Notice kind="done">
      <p>{words.paid(<Name>{name}</Name>, format.money(amount, currency), day)}</p>
      <form method="post" action="/books">
        <input type="hidden" name="form_token" value={token} />
        <input type="hidden" name="action" value="undo" />
        <input type="hidden" name="organization" value={glance.organization.id} />
        <input type="hidden" name="change" value={paid.change_id} />
        <Buttons>
          <button type="submit" aria-label={words.undoOf(name)}>{words.undo}</button>
        </Buttons>
      </form>
    </Notice>
  );
}
