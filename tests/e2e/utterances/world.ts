/** The household of the utterances: three people, half a year of books, on Friday, 27 November 2026. */
import { addRate } from "../../_support/books.ts";
import type { TestDatabase } from "../../_support/database.ts";
import { joinMember, type Member, newMember } from "../connector_harness.ts";

export interface World {
  database: TestDatabase;
  anna: Member;
  ben: Member;
  /** She sees only her own records, and no private ones. */
  eve: Member;
}

const BILLS = [
  { name: "Rent", payee: "Hausverwaltung Lang", amount: "1150.00", first_due: "2026-07-01", paid: 5 },
  { name: "Netflix", payee: "Netflix", amount: "13.99", first_due: "2026-09-05", paid: 3, tags: ["subscription"] },
  { name: "Spotify", payee: "Spotify", amount: "10.99", first_due: "2026-09-12", paid: 3, tags: ["subscription"] },
  { name: "Gym", payee: "FitX", amount: "29.90", first_due: "2026-09-15", paid: 3 },
  { name: "Internet", payee: "Telekom", amount: "44.95", first_due: "2026-10-01", paid: 2 },
  {
    name: "Electricity",
    payee: "Stadtwerke",
    amount: "84.00",
    amount_mode: "estimated",
    first_due: "2026-09-20",
    paid: 2,
  },
  { name: "iCloud", payee: "Apple", amount: "2.99", first_due: "2026-07-08", paid: 5 },
  {
    name: "Car insurance",
    payee: "HUK",
    amount: "480.00",
    frequency: "yearly",
    first_due: "2027-01-01",
    renews_on: "2027-01-01",
    notice_days: 30,
  },
  { name: "Plumber", payee: "Rohr & Co", amount: "380.00", frequency: "once", first_due: "2026-12-11" },
];

const SPENT = [
  { name: "Hotel Lisbon", payee: "Hotel Mundial", amount: "640.40", date: "2026-05-12", category: "Travel" },
  { name: "Train to Lisbon", amount: "100.00", date: "2026-05-14", category: "Travel" },
  { name: "Shell", payee: "Shell", amount: "61.20", date: "2026-10-20", category: "Transport" },
  { name: "Shell", payee: "Shell", amount: "58.10", date: "2026-11-08", category: "Transport" },
  { name: "Groceries", payee: "REWE", amount: "84.30", date: "2026-10-09", category: "Groceries", shared: {} },
  { name: "Groceries", payee: "REWE", amount: "76.15", date: "2026-11-06", category: "Groceries", shared: {} },
  { name: "Dinner", payee: "Trattoria Sole", amount: "58.00", date: "2026-11-14", category: "Food", shared: {} },
  { name: "Headphones", payee: "Thomann", amount: "79.99", currency: "USD", date: "2026-11-10", category: "Shopping" },
  { name: "Toner", payee: "ACME", amount: "32.00", date: "2026-09-04" },
  { name: "Paper", payee: "ACME", amount: "12.50", date: "2026-09-18" },
  { name: "FitX", payee: "FitX", amount: "29.90", date: "2026-11-25", note: "Gym" },
  { name: "Concert", payee: "Eventim", amount: "96.00", date: "2026-11-20", category: "Entertainment" },
  {
    name: "Fuel for the client",
    payee: "Aral",
    amount: "45.00",
    date: "2026-11-19",
    category: "Transport",
    reimbursement: "open",
    reimbursed_by: "Work",
  },
  { name: "Laptop stand", payee: "IKEA", amount: "119.00", date: "2026-11-12", tax: "19.00", category: "Shopping" },
];

export async function moveIn(database: TestDatabase): Promise<World> {
  let now = "2026-05-10";
  const clock = () => new Date(`${now}T09:00:00Z`);
  const anna = await newMember(database, { email: "anna@home.example", organization: "Lindenweg 5", clock });
  const { organizationId } = anna;
  await database.query("update identity.organizations set plan = 'team', trial_ends_at = null where id = $1", [
    organizationId,
  ]);
  const ben = await joinMember(database, { email: "ben@home.example", organizationId, clock });
  const eve = await joinMember(database, { email: "eve@home.example", organizationId, clock });
  for (const [quote, rate] of [["USD", "1.14"], ["JPY", "171"]]) await addRate(database, quote!, "2026-11-09", rate!);
  now = "2026-07-01";
  for (const { paid: _, ...bill } of BILLS) await anna.ok("add_bill", bill);
  now = "2026-11-25";
  for (const { paid = 0, name, first_due } of BILLS) {
    for (let n = 0; n < paid; n++) {
      const due = new Date(`${first_due}T00:00:00Z`);
      due.setUTCMonth(due.getUTCMonth() + n);
      const due_on = due.toISOString().slice(0, 10);
      await anna.ok("mark_bill_paid", { bill_name: name, due_on, paid_on: due_on });
    }
  }
  await anna.ok("log_expenses", { items: SPENT, on_duplicate: "allow", create_missing_categories: true });
  await ben.ok("log_expenses", {
    items: [{
      name: "Groceries",
      payee: "Edeka",
      amount: "64.00",
      date: "2026-11-21",
      category: "Groceries",
      shared: {},
    }],
  });
  await anna.ok("update_settings", { budget: { action: "set", category: "Groceries", amount: "300" } });
  now = "2026-11-27";
  return { database, anna, ben, eve };
}
