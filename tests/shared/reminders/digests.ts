/** Sample digests: short, long, right-to-left and hostile. */
import type {
  DigestBill,
  DigestBudget,
  DigestContent,
  DigestLinks,
  DigestNotice,
  PlanEnd,
  ProviderWord,
  Reconnect,
  Unlisted,
} from "../../../shared/reminders/content.ts";
import { daysAfter } from "../../../shared/iso_day.ts";

export const TODAY = "2026-10-02"; // a Friday
export const LINKS: DigestLinks = {
  account: "https://expenses.example.com/account",
  books: (organizationId) => `https://expenses.example.com/books?organization=${organizationId}`,
  connect: ({ bill_id, provider_key }) =>
    `https://expenses.example.com/account/providers/connect?bill=${bill_id}&provider=${provider_key}`,
  mails: (organizationId) => `https://expenses.example.com/organizations/${organizationId}/mail`,
  plan: (organizationId) => `https://expenses.example.com/organizations/${organizationId}/plan`,
  unsubscribe: "https://expenses.example.com/email/unsubscribe?t=abc.def",
};

const NONE: Unlisted = { overdue: 0, due: 0, due_until: null };

export const bill = (name: string, days: number, more: Partial<DigestBill> = {}): DigestBill => ({
  bill_id: "bill_00000000",
  name,
  days,
  due_on: daysAfter(TODAY, days),
  dates: 1,
  autopay: false,
  is_daily: false,
  assignee: null,
  currency: "EUR",
  amount: "10.00",
  is_estimate: false,
  fetched: null,
  not_taken: null,
  earlier_amount: null,
  base_amount: null,
  ...more,
});

export const digest = (bills: DigestBill[], more: Partial<DigestContent> = {}): DigestContent => ({
  address: "mira@example.com",
  country: "US",
  today: TODAY,
  hides_amounts: false,
  organizations: [{
    id: "org_00000000",
    name: "Garden Street household",
    hears: "owner",
    base_currency: "EUR",
    bills,
    unlisted: NONE,
    total: null,
    rates_on: null,
    notices: [],
    unlisted_notices: 0,
    budgets: [],
    unlisted_budgets: 0,
    balances: [],
  }],
  reconnect: [],
  ...more,
});

export const notice = (
  kind: DigestNotice["kind"],
  name: string,
  days: number,
  more: Partial<DigestNotice> = {},
): DigestNotice => ({
  kind,
  name,
  days,
  on: daysAfter(TODAY, days),
  assignee: null,
  currency: "EUR",
  frequency: "monthly",
  every: 1,
  term_years: 1,
  is_contract: true,
  renews_on: kind === "cancel_by" ? "2027-01-10" : null,
  amount: "15.99",
  earlier_amount: kind === "price_rise" ? "13.99" : null,
  ...more,
});

/** The same digest with these notices. */
export const withNotices = (content: DigestContent, notices: DigestNotice[]): DigestContent => ({
  ...content,
  organizations: content.organizations.map((organization) => ({ ...organization, notices })),
});

export const budget = (category: string | null, used_percent: number | null, more: Partial<DigestBudget> = {}) => ({
  category,
  per: "month" as const,
  is_over: false,
  used_percent,
  currency: "EUR",
  spent: "412.00",
  available: "500.00",
  is_partial: false,
  ...more,
});

/** The same digest with these budgets. */
export const withBudgets = (content: DigestContent, budgets: DigestBudget[]): DigestContent => ({
  ...content,
  organizations: content.organizations.map((organization) => ({ ...organization, budgets })),
});

/** DigitalOcean's statement of 1 October. */
export const word = (more: Partial<ProviderWord> = {}): ProviderWord => ({
  on: "2026-10-01",
  provider: "DigitalOcean",
  currency: "EUR",
  amount: "10.00",
  usual: null,
  ...more,
});

export const reconnect = (name: string, more: Partial<Reconnect> = {}): Reconnect => ({
  bill_id: "bill_00000009",
  name,
  organization_id: "org_00000000",
  organization: "Garden Street household",
  provider_key: "digitalocean",
  provider: "DigitalOcean",
  ...more,
});

const household: DigestBill[] = [
  bill("Electricity", -12, { dates: 2, amount: "168.00", is_estimate: true }),
  bill("Water", -2, { amount: "96.40" }),
  bill("Broadband", 0, { autopay: true, amount: "44.99", earlier_amount: "42.99" }),
  bill("Netflix", 2, {
    amount: "17.99",
    currency: "USD",
    base_amount: "15.85",
    earlier_amount: "17.99",
    autopay: true,
  }),
  bill("Rent", 3, { amount: "1450.00", earlier_amount: "1450.00" }),
  bill("Cloud hosting", 3, { amount: null, earlier_amount: "84.20", currency: "USD" }),
];

const withTotal = (content: DigestContent, total: string): DigestContent => ({
  ...content,
  organizations: content.organizations.map((organization) => ({ ...organization, total, rates_on: "2026-10-01" })),
});

/** The same digest, at the end of its plan. */
export function withEnd(content: DigestContent, more: Partial<PlanEnd>): DigestContent {
  const due = {
    bills: [
      { name: "VAT", due_on: "2026-10-07", currency: "EUR", amount: "4000.00" },
      { name: "Gas", due_on: "2026-10-09", currency: "EUR", amount: null },
    ],
    unlisted: 2,
  };
  const end: PlanEnd = {
    reason: "trial",
    on: "2026-10-05",
    days: 3,
    has_ended: false,
    is_day: false,
    stops: ["reminders", "calendar", "amounts", "assistants"],
    may_change: true,
    owner: "anna@example.com",
    due,
    ...more,
  };
  return { ...content, organizations: content.organizations.map((one) => ({ ...one, plan_end: end })) };
}

export const EXAMPLES: Record<string, DigestContent> = {
  short: digest([bill("Rent", 3, { amount: "1450.00" })]),
  long: withTotal(digest(household), "1863.24"),
  fetched: digest([
    bill("Cloud hosting", 3, {
      currency: "USD",
      amount: "59.34",
      base_amount: "51.60",
      fetched: word({ currency: "USD", amount: "59.34", usual: "43.00" }),
    }),
    bill("Model usage", 5, {
      amount: null,
      currency: "USD",
      earlier_amount: "84.20",
      not_taken: word({ provider: "OpenAI", currency: "USD", amount: "212.40", usual: "84.20" }),
    }),
  ], { reconnect: [reconnect("Build minutes", { provider: "GitHub", provider_key: "github" })] }),
  several_organizations: {
    ...digest(household),
    organizations: [
      digest(household).organizations[0]!,
      {
        id: "org_00000001",
        hears: "owner",
        name: "Banyan Studio",
        base_currency: "INR",
        bills: [bill("Studio rent", 1, { currency: "INR", amount: "65000.00" })],
        unlisted: NONE,
        total: null,
        rates_on: null,
        notices: [],
        unlisted_notices: 0,
        budgets: [],
        unlisted_budgets: 0,
        balances: [],
      },
    ],
  },
  notices: withNotices(digest(household.slice(1, 5)), [
    notice("trial", "Video calls", 1),
    notice("price_rise", "Music", 4),
    notice("renewal", "Domain names", 9, { frequency: "yearly", is_contract: false, amount: "48.00" }),
    notice("cancel_by", "Gym", 14, { amount: "240.00" }),
  ]),
  documents: {
    ...digest([]),
    organizations: [{ ...digest([bill("Rent", 1)]).organizations[0]!, documents: { came: 12, waiting: 3 } }],
  },
  only_documents: {
    ...digest([]),
    organizations: [{
      ...digest([]).organizations[0]!,
      documents: { came: 2, waiting: 1 },
      mails: { count: 2, until: "2026-10-12" },
    }],
  },
  only_notices: withNotices(digest([]), [notice("cancel_by", "Gym", 3, { amount: "240.00" })]),
  budgets: withBudgets(digest([]), [
    budget("Groceries", 82),
    budget(null, 104, { per: "year", spent: "12480.00", available: "12000.00", is_partial: true }),
    budget(`<b>\u202eevil</b>\r\nBcc: ${"long-name-without-a-break-".repeat(4)}`, 100, { is_over: true }),
    budget("مصاريف البيت", null, { available: "-20.00" }),
    budget("Groceries", 112, {
      spent: "76.81",
      available: "68.58",
      limit: "400.00",
      carried: "-331.42",
      carried_from: "2026-09-01",
    }),
  ]),
  plan_ends: withEnd(digest([bill("Rent", 1)]), {}),
  plan_ended: withEnd(digest([]), { is_day: true, has_ended: true, days: 0, on: TODAY, may_change: false }),
  hidden_amounts: digest(household.map((one) => ({ ...one, amount: null, base_amount: null, earlier_amount: null })), {
    hides_amounts: true,
  }),
  right_to_left: digest([
    bill("حساب الكهرباء", -3, { currency: "AED", amount: "412.50", base_amount: "98.97" }),
    bill("שכר דירה", 1, { currency: "ILS", amount: "5400.00", base_amount: "1398.96" }),
    bill("Rent", 3),
  ]),
  hostile: digest([
    bill(`<script>alert(1)</script><img src="https://evil.example/x.png">`, -1),
    bill(`Rent\r\nBcc: victim@example.com\u202e gnp.exe`, 2, { amount: "0.01" }),
    bill(`"Quotes" & 'marks' &amp; ${"very-long-name-without-a-break-".repeat(3)}`, 3, {
      amount: "9999999999999.99",
      currency: "KRW",
      base_amount: "8888888888888.88",
    }),
  ]),
};
