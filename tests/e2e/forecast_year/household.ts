/**
 * A year of a household in its banks' bookings: three accounts, two salaries, transfers, cash, a flat that changes in
 * June and a bank that changes in August. Deterministic by seed.
 */
import { daysAfter } from "../../../shared/iso_day.ts";

export interface Line {
  date: string;
  text: string;
  /** In cents; a minus is outgoing money. */
  cents: number;
  kind: "spending" | "charge" | "income" | "transfer";
}

export interface Account {
  name: string;
  opening: number;
  lines: Line[];
}

export const YEAR = 2026;
const pad = (n: number) => String(n).padStart(2, "0");
export const MONTHS = Array.from({ length: 12 }, (_, i) => `${YEAR}-${pad(i + 1)}`);
const MOVED = `${YEAR}-06`;
const NEW_BANK = `${YEAR}-08`;

/** Recurring charges: [text, day, cents, months between, from, before]. */
const CHARGES: [
  text: string,
  day: number,
  cents: number,
  every: number,
  from: string,
  before: string,
  spread: number,
][] = [
  ["HAUSVERWALTUNG BERGER MIETE", 1, 118000, 1, MONTHS[0]!, MOVED, 0],
  ["IMMO SUED WOHNEN MIETE", 1, 139000, 1, MOVED, "9999", 0],
  ["STADTWERKE STROM ABSCHLAG", 14, 8400, 1, MONTHS[0]!, "9999", 900],
  ["MOBILFUNK NORD", 22, 2999, 1, MONTHS[0]!, "9999", 0],
  ["RUNDFUNK ARD ZDF", 15, 5508, 3, MONTHS[0]!, "9999", 0],
  ["KITA SONNENSCHEIN", 5, 21000, 1, MONTHS[0]!, "9999", 0],
  ["URBAN SPORTS CLUB", 25, 3300, 1, MONTHS[1]!, "9999", 0],
];
export const CHARGED = CHARGES.map(([text]) => text);
const SHOPS = ["REWE MARKT", "EDEKA", "LIDL", "ROSSMANN", "SHELL TANKSTELLE"];
const CARD_SHOPS = ["AMAZON MARKETPLACE", "CAFE KOENIG", "DB VERTRIEB", "ZALANDO", "RISTORANTE ROMA"];

/** Park and Miller's generator: the same numbers everywhere. */
function numbersFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => (state = state * 48271 % 2147483647) % below;
}

/** Banks book on working days: the same day or after the weekend. */
function workday(day: string): string {
  const weekday = new Date(day).getUTCDay();
  return daysAfter(day, weekday === 6 ? 2 : weekday === 0 ? 1 : 0);
}
/** Salaries come before a weekend. */
function beforeWeekend(day: string): string {
  const weekday = new Date(day).getUTCDay();
  return daysAfter(day, weekday === 6 ? -1 : weekday === 0 ? -2 : 0);
}

export function makeHousehold(seed: number): Account[] {
  const random = numbersFrom(seed);
  const old: Account = { name: "Nordbank", opening: 240000, lines: [] };
  const fresh: Account = { name: "Suedbank", opening: 0, lines: [] };
  const card: Account = { name: "Visa", opening: -31000, lines: [] };
  const savings: Account = { name: "Tagesgeld", opening: 800000, lines: [] };
  const book = (account: Account, date: string, text: string, cents: number, kind: Line["kind"]) => {
    if (date < `${YEAR + 1}`) account.lines.push({ date, text, cents, kind });
  };
  for (const [number, month] of MONTHS.entries()) {
    const giro = month < NEW_BANK ? old : fresh;
    const on = (day: number) => `${month}-${pad(day)}`;
    for (const [text, day, cents, every, from, before, spread] of CHARGES) {
      if (month < from || month >= before || number % every !== 0) continue;
      const amount = cents + (spread ? random(2 * spread) - spread : 0);
      book(giro, workday(daysAfter(on(day), random(2))), text, -amount, "charge");
    }
    book(giro, beforeWeekend(on(28)), "ACME GMBH GEHALT", 285000 + (month >= MONTHS[8]! ? 9000 : 0), "income");
    book(giro, beforeWeekend(on(15)), "PRAXIS DR WEBER LOHN", 162000, "income");
    for (let day = 1; on(day) <= daysAfter(`${MONTHS[number + 1] ?? `${YEAR + 1}-01`}-01`, -1); day++) {
      if (random(10) < 4) {
        book(giro, workday(on(day)), SHOPS[random(SHOPS.length)]!, -(1500 + random(7000)), "spending");
      }
      if (random(10) < 3) {
        book(card, workday(on(day)), CARD_SHOPS[random(CARD_SHOPS.length)]!, -(900 + random(6000)), "spending");
      }
    }
    for (const day of [8, 21]) {
      book(giro, workday(on(day + random(3))), "GELDAUTOMAT ALTSTADT", -(10000 + 5000 * random(2)), "spending");
    }
    const saved = workday(on(2));
    book(giro, saved, "UMBUCHUNG AUF TAGESGELD", -30000, "transfer");
    book(savings, saved, "UMBUCHUNG VON GIRO", 30000, "transfer");
    book(savings, workday(on(20)), "KONTOFUEHRUNG TAGESGELD", -100, "spending");
    const debt = card.lines.filter(({ date }) => date < on(1)).reduce((sum, { cents }) => sum + cents, card.opening);
    const paid = workday(on(12));
    if (debt < 0) {
      book(giro, paid, "KREDITKARTENABRECHNUNG VISA", debt, "transfer");
      book(card, paid, "EINZUG KREDITKARTENABRECHNUNG", -debt, "transfer");
    }
  }
  book(old, `${YEAR}-03-17`, "AUTOHAUS KRUEGER REPARATUR", -64000, "spending");
  book(old, `${MOVED}-03`, "UMZUEGE MAIER", -89000, "spending");
  book(card, `${YEAR}-08-11`, "FERIENHAUS OSTSEE", -95000, "spending");
  // The old bank is closed in July.
  const left = old.lines.filter(({ date }) => date < `${YEAR}-07-31`).reduce(
    (sum, { cents }) => sum + cents,
    old.opening,
  );
  old.lines = old.lines.filter(({ date }) => date < `${YEAR}-07-31`);
  book(old, `${YEAR}-07-31`, "KONTOWECHSEL NEUE BANK", -left, "transfer");
  book(fresh, `${YEAR}-07-31`, "KONTOWECHSEL NEUE BANK", left, "transfer");
  book(fresh, `${YEAR}-07-31`, "KARTENGEBUEHR", -1000, "spending");
  const accounts = [old, fresh, card, savings];
  for (const account of accounts) account.lines.sort((a, b) => a.date < b.date ? -1 : a.date > b.date ? 1 : 0);
  return accounts;
}

/** The balance of an account at the end of a day, in cents. */
export const balanceOn = ({ opening, lines }: Account, day: string): number =>
  lines.reduce((sum, { date, cents }) => date <= day ? sum + cents : sum, opening);
