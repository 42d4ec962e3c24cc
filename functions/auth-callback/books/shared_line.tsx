/** @jsxImportSource hono/jsx */
/** The line below a shared expense or bill: its payer and shares. */
import type { Child } from "hono/jsx";
import type { DueBill, ExpenseRow } from "../../../shared/books/glance.ts";
import { Name } from "../../../shared/pages/components.tsx";
import { tellSharing } from "../../../shared/words/effects.ts";
import type { Part } from "./part.ts";

/** The shares of an expense. */
export function SharedExpense({ row: { shared, currency }, ...part }: Part & { row: ExpenseRow }) {
  const { reader: { words: { books: words }, format } } = part;
  if (!shared) return null;
  const shares = shared.shares.map(({ member, amount }, index) => (
    <>
      {index > 0 && ", "}
      {words.share(nameOf(member, part), format.money(amount, currency))}
    </>
  ));
  return <p class="muted small">{words.paidBy(nameOf(shared.paid_by, part), <>{shares}</>)}</p>;
}

/** The future shares of a bill. */
export function SharedBill({ bill: { shared, paid_by: paidBy }, ...part }: Part & { bill: DueBill }) {
  const { me, reader: { words: { books: words }, catalog } } = part;
  if (!shared) return null;
  const between = shared.between.map((share) => share.member === me ? { ...share, member: words.you } : share);
  const split = tellSharing({ ...shared, between }, catalog.effects);
  return (
    <p class="muted small">
      {paidBy === undefined
        ? words.splits(split)
        : paidBy === me
        ? words.youPay(split)
        : words.pays(<Name>{paidBy}</Name>, split)}
    </p>
  );
}

function nameOf(who: string | undefined, { me, reader: { words: { books: words } } }: Part): Child {
  return who === undefined ? words.formerMember : who === me ? words.you : <Name>{who}</Name>;
}
