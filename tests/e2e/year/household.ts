/** Ben and Anna in Berlin: their bills and their actions through the year. */
import type { Plan } from "./bills.ts";
import { dayOfMonth, plus, weekdayOf } from "./days.ts";
import type { Organization } from "./organization.ts";
import { everyDays, lastWeekday, monthly, nthWeekday, once, yearly } from "./schedule.ts";
import { type Habits, Spending } from "./spending.ts";

export const HABITS: Habits = {
  goods: [
    { name: "Weekly shop", payee: "Rewe", category: "Groceries" },
    { name: "Milk and bread", payee: "Edeka", category: "Groceries" },
    { name: "Lunch", payee: "Canteen", category: "Food" },
    { name: "Dinner out", category: "Food" },
    { name: "Taxi home", category: "Transport" },
    { name: "Cinema", payee: "Odeon", category: "Entertainment" },
    { name: "Winter shoes", payee: "Zalando", category: "Shopping" },
    { name: "Flowers", category: "Gifts" },
  ],
  currencies: ["EUR", "EUR", "USD", "GBP", "JPY", "AED", "CHF"],
  tags: ["holiday", "children", "garden"],
};

const BILLS: Plan[] = [
  {
    name: "Rent",
    currency: "EUR",
    category: "Housing",
    payee: "Landlord",
    schedule: monthly(1),
    minor: 131_000,
    said: { month_days: [1] },
  },
  {
    name: "Netflix",
    currency: "EUR",
    category: "Subscriptions",
    schedule: monthly(5),
    minor: 1_599,
    autopay: true,
    lead: 2,
    said: { month_days: [5] },
  },
  {
    name: "Electricity",
    currency: "EUR",
    category: "Utilities",
    schedule: monthly(31),
    minor: null,
    said: { month_days: [31] },
  },
  {
    name: "Gym",
    currency: "EUR",
    category: "Health",
    schedule: monthly(29),
    minor: 2_990,
    autopay: true,
    contract: { renewsOn: "2026-10-31", noticeDays: 30, termMinor: 12 * 2_990 },
    said: { month_days: [29] },
  },
  {
    name: "Spotify",
    currency: "USD",
    category: "Subscriptions",
    schedule: monthly(1),
    from: "2026-04-01",
    minor: 1_099,
    autopay: true,
    trialEnds: "2026-03-31",
    said: { first_due: "2026-04-01" },
  },
  {
    name: "Cleaner",
    currency: "EUR",
    category: "Housing",
    schedule: lastWeekday(5),
    minor: 8_000,
    lead: 1,
    said: { month_weekdays: ["-1FR"] },
  },
  {
    name: "Nanny",
    currency: "CHF",
    category: "Education",
    schedule: nthWeekday(2, 2),
    minor: 25_050,
    autopay: true,
    said: { month_weekdays: ["2TU"] },
  },
  {
    name: "Insurance",
    currency: "EUR",
    category: "Insurance",
    schedule: yearly("02-29"),
    minor: 48_000,
    lead: 14,
    again: [7, 0],
    comesAgain: true,
    said: { frequency: "yearly", first_due: "2024-02-29" },
  },
  {
    name: "Swimming",
    currency: "EUR",
    category: "Education",
    schedule: everyDays(14, "2026-03-04"),
    from: "2026-03-04",
    until: "2026-06-30",
    minor: 750,
    lead: 1,
    said: { frequency: "weekly", every: 2, first_due: "2026-03-04", ends_on: "2026-06-30" },
  },
  {
    name: "Yoga",
    currency: "EUR",
    category: "Health",
    schedule: monthly(12),
    minor: 4_500,
    said: { month_days: [12] },
  },
  {
    name: "Class trip",
    currency: "EUR",
    category: "Education",
    schedule: once("2026-06-10"),
    until: "2026-06-10",
    minor: 18_000,
    said: { frequency: "once", first_due: "2026-06-10" },
  },
];

/** Its amount comes from the provider on the 2nd, a day after the charge. */
export const HEATING: Plan = {
  name: "Heating",
  currency: "EUR",
  category: "Utilities",
  schedule: monthly(1),
  minor: null,
  autopay: true,
  said: { month_days: [1] },
};

export async function moveIn(home: Organization): Promise<Spending> {
  for (const plan of [...BILLS, HEATING]) await home.addBill(plan);
  return new Spending(home, HABITS);
}

/** The day of the month on which the rent was paid. */
const RENT_PAID = [1, 1, 2, 1, 1, 5, 1, 1, 1, 30, 1, 0];

/** One evening of the household. */
export async function livesIn(home: Organization, spending: Spending): Promise<void> {
  const [ben, anna] = home.options.people as [typeof home.owner, typeof home.owner];
  const { chance } = home.options;
  const today = home.today();
  const day = today.slice(5);
  const rentDay = RENT_PAID[Number(today.slice(5, 7)) - 1]!;

  if (dayOfMonth(today) === rentDay) {
    const change = await home.pay("Rent", chance.oneIn(2) ? ben : anna);
    // In May it was the wrong bill; in September it included a tip for the caretaker.
    if (day === "05-01") {
      await home.takeBack("Rent", ben, { dueOn: today, change });
      await home.pay("Rent", anna);
    }
    if (day === "09-01") await home.correct("Rent", anna, { dueOn: today, minor: 138_500 });
  }
  // The other person reports it again two days later.
  if (dayOfMonth(today) === rentDay + 2 && rentDay < 3) await home.payAgain("Rent", chance.oneIn(2) ? ben : anna);
  if (day === "06-20") await home.reprice("Rent", ben, 136_000);
  if (day === "04-12") await home.reprice("Netflix", anna, 1_799);

  // The electricity bill of 1 March was forgotten for weeks. On the first days of a month, a payment would have another
  // meaning.
  const electricity = home.bill("Electricity").overdue(today)[0];
  const late = electricity?.on === "2026-03-31" ? 40 : 4;
  if (electricity && plus(electricity.on, late) <= today) {
    await home.pay("Electricity", anna, { minor: chance.int(6_000, 11_000) });
  }
  const cleaner = home.bill("Cleaner").next(today)!.on;
  if (cleaner === "2026-08-28" && day === "08-24") await home.skip("Cleaner", ben, cleaner);
  else if (cleaner === today) await home.pay("Cleaner", anna, { dueOn: today });

  const swimming = home.bill("Swimming").next(today)?.on;
  if (swimming === today && day === "04-15") await home.skip("Swimming", anna, today);
  else if (swimming === today) await home.pay("Swimming", anna);

  // February's was forgotten, and each later one is paid on its day. None is due in summer.
  if (dayOfMonth(today) === 12 && day !== "02-12" && !home.bill("Yoga").isPaused) await home.pay("Yoga", anna);
  if (day === "06-20") await home.pause("Yoga", ben);
  if (day === "08-03") await home.skip("Yoga", anna, "2026-02-12");
  if (day === "09-05") await home.resume("Yoga", ben);

  if (day === "02-27") await home.pay("Insurance", ben, { dueOn: "2026-02-28" });
  if (day === "06-09") await home.snooze("Class trip", anna, { dueOn: "2026-06-10", days: 8 });
  if (day === "06-25") {
    await home.pay("Class trip", ben);
    await home.correct("Class trip", ben, { dueOn: "2026-06-10", minor: 18_250 });
  }
  // Paid early, before a journey.
  if (day === "11-20") await home.pay("Rent", ben, { dueOn: "2026-12-01", paidOn: today });

  if (weekdayOf(today) === 6) await spending.log(anna, chance.int(1, 3));
  await spending.evening();
}
