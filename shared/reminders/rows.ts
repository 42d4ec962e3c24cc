/** A line of a digest in words: the facts that the text and the HTML of a mail both say. */
import {
  type DigestBill,
  type DigestContent,
  type DigestOrganization,
  isOverdue,
  type ProviderWord,
} from "./content.ts";
import { daysFromNow, difference, longDate, money, oneLine, plainDate, plainShortDate } from "./words.ts";

export interface Row {
  name: string;
  /** "Monday 5 October". */
  date: string;
  /** "in 3 days"; for what is overdue "since 3 days", or how many dates are. */
  distance: string;
  /** "€84.20"; null when unknown or hidden. */
  amount: string | null;
  /** Further facts, each a short phrase. */
  notes: string[];
  isOverdue: boolean;
}

export interface Section {
  /** Null when the owner has one organization only. */
  title: string | null;
  organizationId: string;
  overdue: Row[];
  due: Row[];
  /** "and 12 more", of lines that there would be. */
  moreOverdue: string | null;
  moreDue: string | null;
  /** "In all: €1,284.10 (exchange rates of 19 November)"; null when not known, hidden, or of a single line that says it. */
  total: string | null;
}

export function sectionsOf(content: DigestContent): Section[] {
  const { organizations, today } = content;
  return organizations.map((organization) => {
    const rows = organization.bills.map((bill) => rowOf(bill, { today, base: organization.base_currency, content }));
    return {
      title: organizations.length > 1 ? oneLine(organization.name) : null,
      organizationId: organization.id,
      overdue: rows.filter((row) => row.isOverdue),
      due: rows.filter((row) => !row.isOverdue),
      moreOverdue: more(organization.unlisted.overdue),
      moreDue: more(organization.unlisted.due),
      total: totalOf(organization, today),
    };
  });
}

const more = (count: number) => count > 0 ? `and ${count} more` : null;

function rowOf(
  bill: DigestBill,
  { today, base, content }: { today: string; base: string; content: DigestContent },
): Row {
  const several = isOverdue(bill) && bill.dates > 1;
  return {
    name: oneLine(bill.name),
    date: several ? `since ${plainDate(bill.due_on, today)}` : longDate(bill.due_on, today),
    distance: several ? `${bill.dates} due dates` : daysFromNow(bill.days),
    amount: bill.amount && money(bill.amount, bill.currency),
    notes: content.hides_amounts ? paymentNotes(bill) : [...amountNotes(bill, { base, today }), ...paymentNotes(bill)],
    isOverdue: isOverdue(bill),
  };
}

const paymentNotes = (bill: DigestBill) => bill.autopay ? ["paid automatically"] : [];

function amountNotes(bill: DigestBill, { base, today }: { base: string; today: string }): string[] {
  const earlier = bill.earlier_amount && money(bill.earlier_amount, bill.currency);
  const notTaken = bill.not_taken ? [notTakenNote(bill.not_taken, today)] : [];
  if (!bill.amount) {
    return [earlier ? `amount not known yet, last time ${earlier}` : "amount not known yet", ...notTaken];
  }
  const notes: string[] = [];
  if (bill.base_amount) notes.push(`about ${money(bill.base_amount, base)}`);
  if (bill.fetched) notes.push(fetchedNote(bill.fetched, today));
  notes.push(...notTaken);
  if (bill.is_estimate) notes.push("estimated");
  const isCompared = bill.is_estimate || bill.fetched?.usual;
  if (!isCompared && bill.dates === 1 && bill.earlier_amount && bill.earlier_amount !== bill.amount) {
    notes.push(changeSince(bill.amount, bill.earlier_amount, bill.currency));
  }
  return notes;
}

/** "fetched 1 Oct from DigitalOcean, 38 % above usual". */
const fetchedNote = (word: ProviderWord, today: string) =>
  `fetched ${plainShortDate(word.on, today)} from ${oneLine(word.provider)}${besideUsual(word)}`;

/** "DigitalOcean said $130.00 on 1 Oct, 63 % above usual: please check". */
function notTakenNote(word: ProviderWord, today: string): string {
  const amount = word.amount ? money(word.amount, word.currency) : "another amount";
  return `${oneLine(word.provider)} said ${amount} on ${plainShortDate(word.on, today)}${
    besideUsual(word)
  }: please check`;
}

function besideUsual({ amount, usual }: ProviderWord): string {
  if (!amount || !usual) return "";
  const change = difference(amount, usual);
  const percent = percentOf(change, usual);
  return percent === 0 ? ", as usual" : `, ${percent} % ${change.startsWith("-") ? "below" : "above"} usual`;
}

/** Without a sign. */
const percentOf = (change: string, of: string) => Math.round(Math.abs(Number(change) / Number(of)) * 100);

/** "€1.00 more than last time, up 6 %". */
function changeSince(amount: string, earlier: string, currency: string): string {
  const change = difference(amount, earlier);
  const isLess = change.startsWith("-");
  const percent = percentOf(change, earlier);
  const share = percent > 0 ? `, ${isLess ? "down" : "up"} ${percent} %` : "";
  return `${money(change.replace("-", ""), currency)} ${isLess ? "less" : "more"} than last time${share}`;
}

function totalOf({ total, bills, base_currency, rates_on }: DigestOrganization, today: string): string | null {
  if (!total || bills.length < 2) return null;
  const rates = rates_on ? ` (exchange rates of ${plainDate(rates_on, today)})` : "";
  return `In all ${money(total, base_currency)}${rates}`;
}
