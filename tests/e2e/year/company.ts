/**
 * A company in Honolulu with three members. It is half a day behind, so a mail of the 5th is sent on the 6th in
 * London.
 */
import type { Plan } from "./bills.ts";
import { dayOfMonth, plus, weekdayOf } from "./days.ts";
import { say } from "./money.ts";
import type { Organization } from "./organization.ts";
import { everyDays, lastWeekday, monthly, yearly } from "./schedule.ts";
import { type Habits, Spending } from "./spending.ts";

export const HABITS: Habits = {
  goods: [
    { name: "Team lunch", payee: "Mama's", category: "Food" },
    { name: "Flight", payee: "Hawaiian", category: "Travel" },
    { name: "Hotel", category: "Travel" },
    { name: "Keyboard", payee: "Amazon", category: "Shopping" },
    { name: "Monitor stand", category: "Shopping" },
    { name: "Ride to the airport", payee: "Lyft", category: "Transport" },
    { name: "Online course", category: "Education" },
    { name: "Bank fee", payee: "First Hawaiian", category: "Taxes and fees" },
  ],
  currencies: ["USD", "USD", "EUR", "GBP", "JPY", "KWD"],
  tags: ["client", "conference", "office"],
};

const BILLS: Plan[] = [
  {
    name: "Payroll",
    currency: "USD",
    category: "Uncategorized",
    schedule: monthly(28),
    weekend: "before",
    minor: 4_825_000,
    lead: 5,
    said: { month_days: [28], weekend_rule: "before" },
  },
  {
    name: "Office",
    currency: "USD",
    category: "Housing",
    payee: "Landlord",
    schedule: monthly(1),
    weekend: "after",
    minor: 340_000,
    said: { month_days: [1], weekend_rule: "after" },
  },
  {
    name: "Slack",
    currency: "EUR",
    category: "Software",
    schedule: monthly(6),
    minor: 10_500,
    autopay: true,
    said: { month_days: [6] },
  },
  {
    name: "Cloud",
    currency: "GBP",
    category: "Software",
    schedule: monthly(25),
    minor: 12_000,
    isEstimated: true,
    autopay: true,
    said: { month_days: [25] },
  },
  {
    name: "Bookkeeper",
    currency: "USD",
    category: "Taxes and fees",
    schedule: lastWeekday(5),
    minor: 40_000,
    said: { month_weekdays: ["-1FR"] },
  },
  {
    name: "Fruit box",
    currency: "USD",
    category: "Groceries",
    schedule: everyDays(42, "2026-01-12"),
    from: "2026-01-12",
    minor: 3_550,
    lead: 0,
    said: { frequency: "weekly", every: 6, first_due: "2026-01-12" },
  },
  {
    name: "Licence",
    currency: "USD",
    category: "Software",
    schedule: yearly("05-18"),
    minor: 120_000,
    comesAgain: true,
    said: { frequency: "yearly", first_due: "2025-05-18" },
  },
  {
    name: "Address book",
    currency: "USD",
    category: "Software",
    schedule: yearly("09-15"),
    minor: 6_000,
    autopay: true,
    contract: { renewsOn: "2026-09-15", noticeDays: 30, termMinor: 6_000 },
    said: { frequency: "yearly", first_due: "2026-09-15" },
  },
  {
    name: "Figma",
    currency: "USD",
    category: "Software",
    schedule: monthly(18),
    from: "2026-02-18",
    minor: 4_500,
    autopay: true,
    trialEnds: "2026-02-17",
    said: { first_due: "2026-02-18" },
  },
  {
    name: "Sales tax",
    currency: "USD",
    category: "Taxes and fees",
    schedule: monthly(20, 3, "2026-01"),
    minor: null,
    lead: 10,
    again: [3, 0],
    said: { every: 3, first_due: "2026-01-20" },
  },
];

/** Its amount comes from the provider on the 2nd, in time for the 20th. */
export const HOSTING: Plan = {
  name: "Hosting",
  currency: "USD",
  category: "Software",
  schedule: monthly(20),
  minor: null,
  autopay: true,
  said: { month_days: [20] },
};

export async function openOffice(company: Organization): Promise<Spending> {
  for (const plan of [...BILLS, HOSTING]) await company.addBill(plan);
  return new Spending(company, HABITS);
}

/** One working day of the company. */
export async function worksAt(company: Organization, spending: Spending): Promise<void> {
  const [mira, tom, lea] = company.options.people as [typeof company.owner, typeof company.owner, typeof company.owner];
  const { chance } = company.options;
  const today = company.today();
  const day = today.slice(5);
  const next = (name: string) => company.bill(name).next(today)?.on;

  if (next("Payroll") === today) await company.pay("Payroll", tom);
  if (next("Office") === plus(today, 1) || next("Office") === today && chance.oneIn(2)) {
    await company.pay("Office", mira);
  } else if (company.bill("Office").overdue(today).length > 0) await company.pay("Office", lea);
  const paid = company.bill("Payroll").dates.findLast(({ status }) => status === "paid");
  if (paid && plus(paid.on, 2) === today) await company.payAgain("Payroll", lea);

  // The bookkeeper asks for her pay each month, except in the summer, when she forgets.
  const asked = company.bill("Bookkeeper").overdue(today);
  if (asked.length > 0 && plus(asked[0]!.on, 5) <= today && !(day > "06-01" && day < "09-10")) {
    await company.pay("Bookkeeper", tom);
  }
  if (next("Fruit box") === today) await company.pay("Fruit box", lea, { paidOn: today });
  if (day === "05-17") await company.pay("Licence", mira);

  const tax = company.bill("Sales tax").open()[0]!.on;
  if (tax === "2026-04-20" && day === "04-18") await company.snooze("Sales tax", mira, { dueOn: tax, days: 6 });
  if (plus(tax, tax === "2026-04-20" ? 9 : 2) === today) {
    await company.pay("Sales tax", mira, { minor: chance.int(90_000, 250_000) });
  }
  // Every other statement of the cloud service is read and corrected.
  const cloud = company.bill("Cloud").dates.findLast(({ isEstimate, status }) => isEstimate && status === "paid");
  if (dayOfMonth(today) === 27 && Number(today.slice(5, 7)) % 2 === 0 && cloud) {
    await company.correct("Cloud", tom, { dueOn: cloud.on, minor: chance.int(11_000, 13_500) });
  }
  if (day === "10-07") await company.reprice("Slack", tom, 11_900);
  if (dayOfMonth(today) === 14) await importCard(company);
  if (weekdayOf(today) === 5) await spending.log(lea, chance.int(1, 3));
  await spending.evening();
}

/** The statement of the company's card: uploaded, committed, and uploaded again by mistake. */
async function importCard(company: Organization): Promise<void> {
  const { chance, people } = company.options;
  const who = chance.pick(people);
  const today = company.today();
  const rows = Array.from({ length: 4 }, (_, index) => ({
    date: plus(today, -1 - 2 * index),
    name: `Card ${today.slice(5, 7)}-${index}`,
    minor: chance.int(1_000, 60_000),
    currency: chance.pick(["USD", "USD", "EUR", "GBP"]),
    category: chance.pick(["Travel", "Food", "Software"]),
  }));
  const csv = [
    "Date,Name,Amount,Currency,Category",
    ...rows.map(({ date, name, minor, currency, category }) =>
      [date, name, say(minor, currency), currency, category].join(",")
    ),
  ].join("\n");
  const { data: { preview } } = await who.ok("import_expenses", { csv });
  await who.ok("import_expenses", preview.commit_with);
  for (const row of rows) company.ledger.add({ ...row, member: who.email });
  const again = await who.ok("import_expenses", { csv });
  if (again.data.preview.duplicates_count !== rows.length) throw new Error("a statement that was sent twice is new");
}
