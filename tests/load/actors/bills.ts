/** Bills are added, paid once for each date, and read. In some organizations members' bills need approval. */
import { amountOf } from "../model/books.ts";
import { type Client, isPayable, type Json } from "../model/client.ts";
import type { Proposals } from "../model/proposals.ts";
import { needsApproval } from "../world/seed.ts";

const MOST = 3;
/** The bills of an organization; approvers see the newest twenty. */
const MOST_PENDING = 10;
const DAY_MS = 86_400_000;
const day = (ahead: number) => new Date(Date.now() + ahead * DAY_MS).toISOString().slice(0, 10);

export const addBill = (proposals: Proposals) => async (client: Client): Promise<void> => {
  const { chance, person } = client;
  const asks = needsApproval(person.organization) && person.place > 1;
  if (asks && proposals.pending(person.organization).length >= MOST_PENDING) return;
  if (!asks && client.bills.filter(isPayable).length >= MOST) return await payBill(client);
  const name = client.newName("rent");
  const minor = chance.int(1_000, 99_000);
  const args = {
    name,
    amount: amountOf(minor),
    payee: client.landlord,
    frequency: "daily",
    first_due: day(chance.int(1, 20)),
    reminder_enabled: false,
    on_duplicate: "allow",
    idempotency_key: crypto.randomUUID(),
  };
  let envelope = await client.call("add_bill", args);
  if (!envelope && chance.oneIn(2)) envelope = await client.call("add_bill", args);
  if (!envelope) {
    client.possibleBills.add(name);
    if (asks) proposals.doubted.add(name);
    return;
  }
  if (envelope.error?.code === "busy") return;
  if (asks) {
    if (envelope.error?.code !== "awaiting_approval") {
      return client.problem(`add_bill did not wait for approval: ${JSON.stringify(envelope).slice(0, 300)}`);
    }
    client.possibleBills.add(name);
    return proposals.add(client, name, envelope.error.details);
  }
  if (!envelope.ok) return client.problem(`add_bill failed: ${JSON.stringify(envelope.error)}`);
  const { bill, next_dates } = envelope.data;
  client.bills.push({ id: bill.id, name, minor, next: next_dates[0], paid: [], isUnsure: false });
};

/** Pays the next date of each bill once: a call repeated with its key pays nothing twice. */
export async function payBill(client: Client): Promise<void> {
  const payable = client.bills.filter(isPayable);
  if (payable.length === 0) return;
  const bill = client.chance.pick(payable);
  const args = { bill_id: bill.id, due_on: bill.next, idempotency_key: crypto.randomUUID() };
  let envelope = await client.call("mark_bill_paid", args);
  if (!envelope && client.chance.oneIn(2)) envelope = await client.call("mark_bill_paid", args);
  if (!envelope) {
    bill.isUnsure = true;
    return;
  }
  if (!envelope.ok) {
    if (envelope.error.code !== "busy") {
      client.problem(`mark_bill_paid failed: ${JSON.stringify(envelope.error).slice(0, 300)}`);
    }
    return;
  }
  const { payment, occurrence, next_due } = envelope.data;
  bill.next = next_due;
  if (payment.amount !== amountOf(bill.minor)) client.problem(`${bill.name} was paid with ${payment.amount}`);
  if (bill.paid.includes(occurrence.due_on)) client.problem(`${bill.name} was paid twice for ${occurrence.due_on}`);
  bill.paid.push(occurrence.due_on);
}

export async function listBills(client: Client): Promise<void> {
  const envelope = await client.ok("list_bills", { query: client.label });
  if (!envelope?.ok) return;
  const told = new Map<string, Json>(envelope.data.bills.map((bill: Json) => [bill.name, bill]));
  for (const { name, minor } of client.bills) {
    const bill = told.get(name);
    if (!bill) client.problem(`list_bills lacks ${name}`);
    else if (bill.amount !== amountOf(minor)) client.problem(`list_bills says ${bill.amount} for ${name}`);
  }
  for (const name of told.keys()) {
    if (!name.startsWith(client.label)) continue;
    const isKnown = client.possibleBills.has(name) || client.bills.some((bill) => bill.name === name);
    if (!isKnown) client.problem(`list_bills has ${name}, which was never added`);
  }
}
