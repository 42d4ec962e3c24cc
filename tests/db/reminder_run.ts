/** The database's part of a reminder run, and test books for it. */
import type { DigestBudget, DigestNotice } from "../../shared/reminders/content.ts";
import { type Books, openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";
import { rollAll } from "../_support/roll_bills.ts";

export const database = await sharedDatabase();

export interface Digest {
  id: string;
  recipient_id: string;
  content: {
    today: string;
    address: string;
    organizations: {
      name: string;
      bills: { name: string; days: number; dates: number; amount: string | null }[];
      unlisted: { overdue: number; due: number; due_until: string | null };
      notices: DigestNotice[];
      budgets: DigestBudget[];
    }[];
  };
}

/** Creates the digests, page by page. */
export async function collect(at: string, size = 2000): Promise<void> {
  for (let after: unknown = null, page = 0;; page++) {
    const { next } = await database.asService<{ next: unknown }>("collect_reminders", { at, after, size });
    if (next === null) return;
    if (page > 100) throw new Error("collecting does not end");
    after = next;
  }
}

/** The database's part of a run: rolls, collects, claims and marks everything as sent. Returns the digests. */
export async function run(at: string): Promise<Digest[]> {
  await rollAll(database, at);
  await collect(at);
  const sent: Digest[] = [];
  for (;;) {
    const batch = await database.asService<{ id: string; lease_token: string; digests: Digest[] } | null>(
      "claim_reminders",
      { size: 100, at },
    );
    if (!batch) return sent;
    sent.push(...batch.digests);
    const results = batch.digests.map(({ id }) => ({ id, outcome: "sent" }));
    await database.asService("settle_reminders", {
      batch_id: batch.id,
      lease_token: batch.lease_token,
      results,
      is_last: true,
      retry_at: at,
      at,
    });
  }
}

/** The digests of a run: names by days left, negative when overdue. */
export const said = (digests: Digest[]) =>
  digests.map(({ content }) =>
    content.organizations.flatMap(({ bills }) => bills.map(({ name, days }) => `${name} ${days}`)).join(", ")
  );

/** The notices of a run: kinds and names by days left. */
export const noticed = (digests: Digest[]) =>
  digests.map(({ content }) =>
    content.organizations.flatMap(({ notices }) => notices.map(({ kind, name, days }) => `${kind} ${name} ${days}`))
      .join(", ")
  ).filter((line) => line !== "");

export const addBill = async (books: Books, name: string, first_due: string, more: Record<string, unknown> = {}) =>
  (await books.ok("add_bill", { name, amount: "10", first_due, ...more })).bill.id as string;

export async function fresh(options: Parameters<typeof openBooks>[1] = {}): Promise<Books> {
  await database.reset();
  return await openBooks(database, { day: "2026-11-10", ...options });
}

export const at = (day: string, time = "08:00") => `${day}T${time}:00Z`;
