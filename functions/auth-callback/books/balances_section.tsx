/** @jsxImportSource hono/jsx */
/** Debts from shared costs. Only the assistant can settle them. */
import type { Balance, Glance } from "../../../shared/books/glance.ts";
import { Name, Row } from "../../../shared/pages/components.tsx";
import type { Part } from "./part.ts";

export function BalancesSection({ balances: { data }, ...part }: Part & { balances: NonNullable<Glance["balances"]> }) {
  const { glance, reader: { words: { books: words } } } = part;
  if (data.balances.length === 0) return null;
  return (
    <section id="balances">
      <h2>{words.balances}</h2>
      <ul class="rows">
        {data.balances.map((balance) => (
          <Row>
            <p>{said(balance, part)}</p>
          </Row>
        ))}
      </ul>
      {glance.may_write && <p class="small after-rows">{words.settle}</p>}
    </section>
  );
}

function said({ from, to, amount, currency }: Balance, { me, reader }: Part) {
  const { words: { books: words }, format } = reader;
  const money = format.money(amount, currency);
  const name = (who?: string) => who === undefined ? undefined : <Name>{who}</Name>;
  if (from === me) return words.youOwe(name(to), money);
  if (to === me) return words.owesYou(name(from), money);
  return words.owes(name(from), name(to), money);
}
