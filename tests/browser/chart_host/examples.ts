/** Sample answers of show_spending_chart: usual, short, long and hostile. */

const days = (n: number) => Array.from({ length: n }, (_, i) => `2026-10-${String(i + 1).padStart(2, "0")}`);
const months = [
  "2025-11",
  "2025-12",
  ...Array.from({ length: 10 }, (_, i) => `2026-${String(i + 1).padStart(2, "0")}`),
];
const money = (value: number) => value.toFixed(2);
const wave = (keys: string[], size: number, phase = 0) =>
  keys.map((x, i) => ({ x, y: money(Math.max(0, size * (1 + Math.sin(i * 1.7 + phase)) * (i % 5 === 3 ? 0 : 0.6))) }));
/** Twelve months back from a mid-month day: the first and last are partial. */
const withParts = (points: ReturnType<typeof wave>) =>
  points.map((point, i) => i === 0 || i === points.length - 1 ? { ...point, partial: true } : point);
const month = { from: "2026-10-01", to: "2026-10-31", words: "this month" };
const compared = {
  from: "2026-09-01",
  to: "2026-09-20",
  words: "at this point last month",
  amount: "1395.76",
  change_percent: -8,
};
const total = { amount: "1284.10", currency: "EUR", count: 41 };
const base = { period: month, currency: "EUR", total, unconverted: [] };

const HOSTILE = [
  "<img src=x onerror=alert(1)>",
  "</script><script>alert(2)</script>",
  "مصاريف البيت والمدرسة \u202eevil",
  `${"Donaudampfschifffahrtsgesellschaftskapitaen".repeat(3)}`,
  "javascript:alert(3) 💸💸💸 & \"quotes\" 'single' `back`",
  "z̸̢̛a̷͎l̵g̶o ".repeat(6),
];

export const EXAMPLES: Record<string, Record<string, unknown>> = {
  categories: {
    ...base,
    chart: "by_category",
    compared,
    series: [{
      label: "Spending",
      points: [
        ["Housing", "620.00"],
        ["Groceries", "214.35"],
        ["Internet and phone", "132.80"],
        ["Transport", "98.40"],
        ["Food", "86.15"],
        ["Subscriptions", "61.97"],
        ["Health", "42.50"],
        ["Other", "27.93"],
      ].map(([x, y]) => ({ x, y })),
    }],
  },
  budgets: {
    ...base,
    chart: "by_category",
    compared,
    budget: { amount: "1500.00", used_percent: 85 },
    series: [{
      label: "Spending",
      points: [
        { x: "Housing", y: "620.00", budget: { amount: "620.00", used_percent: 100 } },
        { x: "Groceries", y: "414.35", budget: { amount: "500.00", used_percent: 82 } },
        { x: "Transport", y: "98.40" },
        { x: "Subscriptions", y: "61.97", budget: { amount: "50.00", used_percent: 123 } },
        { x: "Food", y: "30.00", budget: { amount: "-12.50" } },
        { x: "Gifts", y: "-10.00", budget: { amount: "40.00", used_percent: -25 } },
        { x: "Holidays", y: "0.00", budget: { amount: "700.00", used_percent: 0 } },
      ],
    }],
  },
  days: {
    ...base,
    chart: "over_time",
    unit: "day",
    compared,
    series: [{ label: "Spending", points: wave(days(20), 60) }],
  },
  months: {
    ...base,
    chart: "over_time",
    unit: "month",
    period: { from: "2025-11-01", to: "2026-10-31", words: "in the last 12 months" },
    total: { amount: "15412.10", currency: "EUR", count: 480 },
    series: [{ label: "Spending", points: withParts(wave(months, 1100)) }],
  },
  "categories-over-time": {
    ...base,
    chart: "category_over_time",
    unit: "month",
    period: { from: "2025-11-01", to: "2026-10-31", words: "in the last 12 months" },
    series: ["Housing", "Groceries", "Internet and phone", "Transport", "Food", "Other"]
      .map((label, i) => ({ label, points: withParts(wave(months, 600 / (i + 1), i)) })),
  },
  bills: {
    ...base,
    chart: "upcoming_bills",
    unit: "day",
    period: { from: "2026-10-01", to: "2026-11-05", words: "due by 2026-11-05" },
    total: { amount: "1929.60", currency: "EUR", count: 37, overdue: 3, estimated: "84.20" },
    series: [
      {
        label: "Rent office",
        points: [{ x: "2026-10-01", y: "900.00", overdue: true }, { x: "2026-11-01", y: "900.00" }],
      },
      {
        label: "Breakfast rolls",
        points: [
          { x: "2026-10-04", y: "7.60", overdue: true, dates: 2, to: "2026-10-05" },
          { x: "2026-10-06", y: "114.00", dates: 30, to: "2026-11-04" },
        ],
      },
      { label: "Netflix", points: [{ x: "2026-10-12", y: "15.99" }] },
      { label: "Electricity", points: [{ x: "2026-10-15", y: "84.20", estimate: true }] },
      {
        label: "Liability insurance of the association, yearly premium with supplementary cover",
        points: [{ x: "2026-10-28", y: "312.00" }],
      },
    ],
  },
  single: {
    ...base,
    chart: "by_category",
    total: { amount: "3", count: 1 },
    currency: "JPY",
    series: [{ label: "Spending", points: [{ x: "A", y: "3" }] }],
  },
  empty: { ...base, chart: "over_time", unit: "day", total: { amount: "0.00", count: 0 }, series: [] },
  "no-rates": {
    ...base,
    chart: "by_category",
    total: { amount: "0.00", count: 0 },
    unconverted: [{ currency: "JPY", amount: "48000", count: 2 }, { currency: "USD", amount: "5.00", count: 1 }],
    series: [{ label: "Spending", points: [] }],
  },
  "bills-no-rates": {
    ...base,
    chart: "upcoming_bills",
    unit: "day",
    period: { from: "2026-10-01", to: "2026-11-05", words: "due by 2026-11-05" },
    total: { amount: "0.00", count: 0, overdue: 0 },
    unconverted: [{ currency: "JPY", amount: "48000", count: 1 }],
    series: [],
  },
  "bills-of-unknown-amounts": {
    ...base,
    chart: "upcoming_bills",
    unit: "day",
    period: { from: "2026-10-01", to: "2026-11-05", words: "due by 2026-11-05" },
    total: { amount: "0.00", count: 0, overdue: 0 },
    unknown_amounts: "Water and Power",
    series: [],
  },
  huge: {
    ...base,
    chart: "over_time",
    unit: "day",
    currency: "INR",
    total: { amount: "999999999999.99", count: 9 },
    unconverted: [{ currency: "KWD", amount: "12.500", count: 2 }],
    unknown_amounts: `${HOSTILE.slice(0, 3).join(", ")} and 7 more`,
    series: [{
      label: "Spending",
      points: days(31).map((x, i) => ({ x, y: i === 4 ? "-500000000.00" : `${(i + 1) * 32000000000}.99` })),
    }],
  },
  hostile: {
    ...base,
    chart: "by_category",
    compared,
    series: [{
      label: "Spending",
      points: HOSTILE.map((x, i) => ({
        x,
        y: money(900 / (i + 1)),
        budget: { amount: i === 1 ? "1234.56" : "300.00", used_percent: 999999 },
      })),
    }],
  },
  "hostile-over-time": {
    ...base,
    chart: "category_over_time",
    unit: "day",
    series: HOSTILE.slice(0, 5).map((label, i) => ({ label, points: wave(days(31), 90 / (i + 1), i) })),
  },
};
