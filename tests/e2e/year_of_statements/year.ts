/** A year of a household: reported purchases, the bank's rows, and their matches. Deterministic by seed. */
import { daysAfter } from "../../../shared/iso_day.ts";

/** A person's report, as an item of log_expenses. */
export interface Said {
  name: string;
  amount: string;
  currency?: string;
  date: string;
  is_refund?: boolean;
  split?: { amount?: string }[];
}

/** A row of the statement. */
export interface Booked {
  date: string;
  text: string;
  /** In cents; a minus is incoming money. */
  cents: number;
  /** The matching expenses; empty if nobody reported the row. */
  of: Said[];
  /** The bill that the row pays. */
  bill?: string;
}

export interface Month {
  /** YYYY-MM. */
  month: string;
  said: Said[];
  booked: Booked[];
}

/** Units of a currency that one euro buys. */
export const USD_RATE = 1.1;

const SHOPS: [name: string, descriptor: (n: number) => string][] = [
  ["Lidl", (n) => `LIDL SAGT DANKE ${n}`],
  ["Rewe", (n) => `REWE ${n} BERLIN`],
  ["Aldi", (n) => `ALDI SUED ${n}`],
  ["Starbucks", (n) => `STARBUCKS ${n} BERLIN`],
  ["Uber", () => "UBER *TRIP"],
  ["Bolt", (n) => `BOLT.EU/O/${n}`],
  ["Amazon", (n) => `AMZN Mktp DE*${n}K3`],
  ["Blue Bottle Coffee", () => "SQ *BLUE BOTTLE"],
  ["Shell", (n) => `SHELL ${n}`],
  ["dm", (n) => `DM-DROGERIE MARKT ${n}`],
  ["Vapiano", (n) => `SumUp *VAPIANO ${n}`],
  ["Bäckerei Kamps", (n) => `BAECKEREI KAMPS ${n}`],
  ["H&M", (n) => `H&M ${n} SAGT VIELEN DANK`],
  ["Burger King", (n) => `BURGERKING ${n}`],
];
const ABROAD: [string, string][] = [["GitHub", "GITHUB, INC."], ["Figma", "FIGMA MONTHLY"], ["Notion", "NOTION LABS"]];

/** Park and Miller's generator: the same numbers everywhere. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = state * 48271 % 2147483647;
    return state % below;
  };
}

const euros = (cents: number) => (cents / 100).toFixed(2);

export function makeYear(year: number, seed: number): Month[] {
  const random = numbersFrom(seed);
  const months = Array.from({ length: 12 }, (_, i): Month => ({
    month: `${year}-${String(i + 1).padStart(2, "0")}`,
    said: [],
    booked: [],
  }));
  const cash: Said[] = [];
  const book = (row: Booked) => months.find(({ month }) => row.date.startsWith(month))?.booked.push(row);
  /** Banks book on working days: the same day, the next one, or after the weekend. */
  const bookedOn = (day: string) => {
    const next = daysAfter(day, random(3) % 2 + random(2));
    const weekday = new Date(next).getUTCDay();
    return daysAfter(next, weekday === 6 ? 2 : weekday === 0 ? 1 : 0);
  };
  const last = daysAfter(`${year}-12-31`, -6);

  for (const { month, said } of months) {
    for (let day = `${month}-01`; day.startsWith(month) && day <= last; day = daysAfter(day, 1)) {
      for (let count = 1 + random(2); count > 0; count--) {
        const [name, descriptor] = SHOPS[random(SHOPS.length)]!;
        const cents = 150 + random(9000);
        const item: Said = { name, amount: euros(cents), date: day };
        const fate = random(100);
        if (fate >= 4) said.push(item);
        if (fate >= 4 && fate < 7) cash.push(item);
        else book({ date: bookedOn(day), text: descriptor(1000 + random(9000)), cents, of: fate < 4 ? [] : [item] });
      }
      // The coffee costs the same on each working day.
      if (![0, 6].includes(new Date(day).getUTCDay())) {
        const coffee: Said = { name: "Einstein Kaffee", amount: "3.80", date: day };
        said.push(coffee);
        book({ date: bookedOn(day), text: `EINSTEIN KAFFEE ${random(9000)}`, cents: 380, of: [coffee] });
      }
    }
    const on = (day: number) => `${month}-${String(day).padStart(2, "0")}`;
    const say = (item: Said) => (said.push(item), item);

    const [abroad, text] = ABROAD[random(ABROAD.length)]!;
    const dollars = 700 + random(4000);
    const foreign = say({ name: abroad, amount: euros(dollars), currency: "USD", date: on(9) });
    const took = Math.round(dollars / USD_RATE * (100 + random(4) - 1.5) / 100);
    book({ date: on(10), text, cents: took, of: [foreign] });

    const parts = [1100 + random(500), 2100 + random(900)];
    const two = parts.map((cents) => say({ name: "Kaufland", amount: euros(cents), date: on(12) }));
    book({ date: on(13), text: `KAUFLAND ${random(9000)}`, cents: parts[0]! + parts[1]!, of: two });

    const whole = 6000 + random(4000);
    const split = say({ name: "Ikea", amount: euros(whole), date: on(15), split: [{ amount: "20.00" }, {}] });
    book({ date: on(16), text: "IKEA DEUTSCHLAND 321", cents: whole, of: [split] });

    const tools = 8000 + random(4000);
    const once = say({ name: "Hornbach", amount: euros(tools), date: on(18) });
    book({ date: on(19), text: "HORNBACH 77", cents: 3100, of: [once] });
    book({ date: on(19), text: "HORNBACH 78", cents: tools - 3100, of: [once] });

    const clothes = 5000 + random(3000);
    const bought = say({ name: "Zalando", amount: euros(clothes), date: on(5) });
    book({ date: on(6), text: "PAYPAL *ZALANDO", cents: clothes, of: [bought] });
    const back = say({ name: "Zalando", amount: euros(clothes), date: on(20), is_refund: true });
    book({ date: on(22), text: "ZALANDO REFUND", cents: -clothes, of: [back] });

    // Reported without any name that the bank could know.
    if (random(2) === 0) {
      const lunch = say({ name: "Lunch", amount: euros(1111 + random(900)), date: on(21) });
      book({ date: on(21), text: "OSTERIA DA GINO", cents: Math.round(Number(lunch.amount) * 100), of: [lunch] });
    }
    book({ date: on(3), text: "RENT HAUSVERWALTUNG NORD", cents: 95000, of: [], bill: "Rent" });
    book({ date: on(11), text: "NETFLIX.COM", cents: 1299, of: [], bill: "Netflix" });
    book({ date: on(17), text: "VATTENFALL EUROPE SALES", cents: 7600 + random(900), of: [], bill: "Vattenfall" });
    book({ date: on(24), text: "FITX DEUTSCHLAND", cents: 2999, of: [], bill: "FitX" });
  }
  for (const { booked } of months) booked.sort((a, b) => a.date < b.date ? -1 : a.date > b.date ? 1 : 0);
  return Object.assign(months, { cash });
}

/** Entries that were paid in cash. */
export const cashOf = (months: Month[]): Said[] => (months as Month[] & { cash: Said[] }).cash;
