/** The job over one database, with a provider whose answers a test sets. */
import type { MonthRequest } from "../../../shared/providers/provider.ts";
import { type Books, openBooks } from "../../_support/books.ts";
import { sharedDatabase } from "../../_support/database.ts";
import { asDatabase } from "../cron-reminders/harness.ts";
import { addLink, createSync, fakeProvider, registryOf, type SyncOptions } from "./harness.ts";

export const database = await sharedDatabase();

const NOW = new Date("2026-10-02T06:00:00Z");
export const later = (days: number) => new Date(NOW.getTime() + days * 86_400_000);

/** Returns a test's answers, and records the requests. */
export function scriptedProvider(key = "power") {
  const asked: { account: string; month: string }[] = [];
  const script = { amount: "84.20", currency: "EUR", error: undefined as Error | undefined };
  const provider = fakeProvider(key, ({ month, credential }: MonthRequest) => {
    asked.push({ account: credential.account!, month: month.start });
    if (script.error) throw script.error;
    return { amount: script.amount, currency: script.currency };
  });
  return { provider, asked, script };
}

export const job = (options: Partial<SyncOptions> = {}) =>
  createSync({ database: asDatabase(database), now: () => NOW, ...options });

export async function addBill(books: Books, name = "Power", firstDue = "2026-10-25"): Promise<string> {
  const { bill } = await books.ok("add_bill", { name, amount_mode: "variable", first_due: firstDue });
  return bill.id;
}

/** An organization with one connected bill. */
export async function setUp(key = "power", link: { credential?: Record<string, string> | null; key?: string } = {}) {
  await database.reset();
  const power = scriptedProvider(key);
  const books = await openBooks(database, { day: "2026-10-01" });
  const billId = await addBill(books);
  const linkId = await addLink(database, { organizationId: books.organizationId, billId, provider: key, ...link });
  return { ...power, registry: registryOf(power.provider), books, billId, linkId };
}
