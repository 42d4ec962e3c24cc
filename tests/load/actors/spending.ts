/** People log, read, correct, delete and undo expenses. Each client keeps its own copy of its writes. */
import { amountOf, type Fact, minorOf, type Row, totals } from "../model/books.ts";
import type { Client, Json } from "../model/client.ts";

const CURRENCIES = ["EUR", "EUR", "EUR", "USD"];
/** The purchases are from today or the weeks before. */
const DAYS_BACK = 20;
const DAY_MS = 86_400_000;
const dayBefore = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString().slice(0, 10);
/** The number of remembered changes, for undo. */
const CHANGES = 5;

/** A purchase abroad on each of these days, in books that nobody uses, for which the job fetches the days' rates. */
export async function askForRates(client: Client): Promise<void> {
  const items = Array.from({ length: DAYS_BACK }, (_, index) => ({
    name: client.newName("ticket"),
    amount: "1.00",
    currency: "USD",
    payee: "Abroad",
    date: dayBefore(index + 1),
  }));
  await client.ok("log_expenses", { items, on_duplicate: "allow" });
}

/** One call for a purchase; half of the calls with a lost answer are repeated with the same key. */
export async function logExpenses(client: Client): Promise<void> {
  const { chance, books } = client;
  const items = Array.from({ length: chance.int(1, 3) }, () => ({
    name: client.newName("lunch"),
    minor: chance.int(100, 90_000),
    currency: chance.pick(CURRENCIES),
    daysBack: chance.int(0, DAYS_BACK),
  }));
  const args = {
    on_duplicate: "allow",
    idempotency_key: crypto.randomUUID(),
    items: items.map(({ name, minor, currency, daysBack }) => ({
      name,
      amount: amountOf(minor),
      currency,
      payee: client.payee,
      ...(daysBack > 0 && { date: dayBefore(daysBack) }),
    })),
  };
  let envelope = await client.ok("log_expenses", args);
  if (!envelope && chance.oneIn(2)) envelope = await client.ok("log_expenses", args);
  const facts = new Map(items.map(({ name, minor, currency }) => [name, { minor, currency }]));
  if (!envelope) return books.doubt(facts);
  if (!envelope.ok) return;
  for (const [name, fact] of facts) books.set(name, fact);
  const { results, totals_by_currency } = envelope.data;
  results.forEach(({ id, name }: Json, index: number) => {
    if (name !== items[index]!.name) client.problem(`log_expenses answered ${name} for ${items[index]!.name}`);
    books.ids.set(name, id);
  });
  const expected = totals(items);
  if (JSON.stringify(sorted(totals_by_currency)) !== JSON.stringify(sorted(expected))) {
    client.problem(`log_expenses answered ${JSON.stringify(totals_by_currency)} for ${JSON.stringify(expected)}`);
  }
  client.changes.push({ id: envelope.change_id, names: items.map(({ name }) => name) });
  if (client.changes.length > CHANGES) client.changes.shift();
}

/** The newest rows and all totals; sometimes of the whole household, which must not contain other households' rows. */
export async function listExpenses(client: Client): Promise<void> {
  if (client.chance.oneIn(4)) return void await client.ok("list_expenses", { limit: 20 });
  const envelope = await client.ok("list_expenses", { payee: client.payee, limit: 20 });
  if (!envelope?.ok) return;
  const rows: Row[] = envelope.data.rows.map(({ name, amount, currency }: Json) => ({
    name,
    minor: minorOf(amount),
    currency,
  }));
  for (const row of rows) {
    if (!client.books.allows(row)) client.problem(`list_expenses answered ${JSON.stringify(row)}, which isn't so`);
  }
  if (client.books.isCertain) {
    expectTotals(client, "list_expenses", envelope.totals_by_currency ?? {});
    const { length } = client.books.certain;
    if (envelope.total_count !== length) {
      client.problem(`list_expenses counts ${envelope.total_count} instead of ${length}`);
    }
  }
}

export async function summarize(client: Client): Promise<void> {
  const envelope = await client.ok("summarize_spending", {
    payee: client.payee,
    currency: "EUR",
    period: "last_30_days",
  });
  if (!envelope?.ok || !client.books.isCertain) return;
  const expected = client.books.certain.filter(({ currency }) => currency === "EUR");
  const { amount, count } = envelope.data.total;
  const sum = totals(expected).EUR ?? "0.00";
  if (amount !== sum || count !== expected.length) {
    client.problem(`summarize_spending answered ${count} for ${amount} EUR instead of ${expected.length} for ${sum}`);
  }
}

function expectTotals(client: Client, tool: string, told: Record<string, string>): void {
  const expected = totals(client.books.certain);
  const [a, b] = [told, expected].map((sums) => JSON.stringify(sorted(sums)));
  if (a !== b) client.problem(`${tool} answered totals of ${a} instead of ${b}`);
}

const sorted = (sums: Record<string, string>) =>
  Object.entries(sums).filter(([, amount]) => amount !== "0.00").toSorted();

export async function updateExpense(client: Client): Promise<void> {
  const chosen = pick(client);
  if (!chosen) return await logExpenses(client);
  const { id, name, fact } = chosen;
  const changed = { ...fact, minor: client.chance.int(100, 90_000) };
  const envelope = await client.ok("update_expenses", { ids: [id], set: { amount: amountOf(changed.minor) } });
  if (!envelope) client.books.doubt(new Map([[name, changed]]));
  else if (envelope.ok) client.books.set(name, changed);
  // A change can't be undone as a whole after a later change.
  client.changes.splice(0, Infinity, ...client.changes.filter(({ names }) => !names.includes(name)));
}

export async function deleteExpense(client: Client): Promise<void> {
  const chosen = pick(client);
  if (!chosen) return await logExpenses(client);
  const { id, name } = chosen;
  const envelope = await client.ok("delete_records", { ids: [id] });
  if (!envelope) client.books.doubt(new Map([[name, null]]));
  else if (envelope.ok) client.books.remove(name);
  client.books.ids.delete(name);
  client.changes.splice(0, Infinity, ...client.changes.filter(({ names }) => !names.includes(name)));
}

/** Undoes a recent entry without later changes; a repeated call changes nothing. */
export async function undoChange(client: Client): Promise<void> {
  const change = client.changes.pop();
  if (!change) return await logExpenses(client);
  const args = { change_id: change.id, idempotency_key: crypto.randomUUID() };
  let envelope = await client.ok("undo_change", args);
  if (!envelope && client.chance.oneIn(2)) envelope = await client.ok("undo_change", args);
  if (!envelope) client.books.doubt(new Map(change.names.map((name) => [name, null])));
  else if (envelope.ok) { for (const name of change.names) client.books.remove(name); }
  for (const name of change.names) client.books.ids.delete(name);
}

function pick({ books, chance }: Client): { id: string; name: string; fact: Fact } | undefined {
  const known = [...books.ids].slice(-20);
  if (known.length === 0) return undefined;
  const [name, id] = chance.pick(known);
  const fact = books.get(name);
  return fact && { id, name, fact };
}
