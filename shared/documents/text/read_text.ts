/** Reads an invoice from its text. It reads only values with a label or in an unambiguous place, and omits the rest. */
import type { DateOrder } from "../../import/date_text.ts";
import { readIban, readReference } from "../checksums.ts";
import type { DocumentFacts, ReadDocument } from "../facts.ts";
import { nameOf as shortName, only, present, unique } from "../fields.ts";
import { dayOf, findLabels, type Found, nameOf, numberOf } from "./find_labels.ts";
import { COMPANY, DEBIT, KINDS, type Label } from "./labels.ts";
import type { Line } from "./lines.ts";
import { placesOf, taxIdOf } from "./places.ts";
import { findTotals } from "./totals.ts";
import { dayAt, type FoundDay, isoOf, plainText } from "./values.ts";

/** The maximum number of lines of a document. A longer text is a list, whose last lines may contradict its first. */
const MOST_LINES = 5_000;

/** @param lines of all pages, from top to bottom. */
export function readText(lines: Line[], format: "pdf" | "mail"): DocumentFacts {
  return readLines(lines, format).facts;
}

/** @returns the facts; and if some are missing, the labeled values that may be them. */
export function readLines(lines: Line[], format: "pdf" | "mail"): Pick<ReadDocument, "layout"> & Read {
  if (lines.length > MOST_LINES) return { facts: { kind: "other", format, questions: [] } };
  const found = findLabels(lines);
  const by = (label: Label) => found.filter((one) => one.label === label);
  const order = orderOf(lines, found);
  const days = (label: Label) =>
    unique(by(label).flatMap((one) => dayOf(lines, one) ?? []).map((day) => isoOf(day, order) ?? ""));
  const isoDays = (found: FoundDay[]) => unique(found.map((day) => isoOf(day, order) ?? ""));
  const dated = isoDays(by("number").flatMap(({ rest }) => daysAfter(rest, DATED)));
  const placed = isoDays(lines.flat().flatMap(({ text }) => daysAfter(text, PLACED)));
  const issued = [days("issued"), dated, days("day"), placed].find((found) => found.length > 0) ?? [];
  const due = days("due");
  const totals = findTotals(lines, found);
  const text = lines.map((line) => line.map((cell) => cell.text).join(" "));
  const ibans = unique(text.flatMap(ibansIn));
  const isDebit = text.some((line) => DEBIT.test(plainText(line)));
  const kind = kindOf(lines);
  const facts: DocumentFacts = {
    kind,
    format,
    ...present({
      payee: shortName(payeeOf(lines, by("payee"))),
      number: only(unique(by("number").flatMap((one) => numberOf(lines, one) ?? []))),
      issued_on: only(issued) || undefined,
      due_on: only(due) || undefined,
      iban: isDebit ? undefined : only(ibans),
      creditor_reference: only(unique(text.flatMap(referencesIn))),
    }),
    ...totals.amounts,
    questions: [
      ...(totals.question ? [totals.question] : []),
      ...(due.length > 1 && !due.includes("") ? [{ code: "several_due_dates", params: { days: due.toSorted() } }] : []),
      ...(ibans.length > 1 && !isDebit ? [{ code: "several_ibans", params: { ibans: ibans.slice(0, 4) } }] : []),
    ],
  };
  const names = facts.payee ? [] : namesIn(lines);
  const isComplete = facts.number && facts.issued_on && facts.due_on && facts.gross;
  if (isComplete && names.length === 0) return { facts };
  const places = isComplete ? [] : placesOf(lines, order) ?? [];
  const taxId = taxIdOf(text);
  const isKnown = facts.iban || taxId || facts.payee;
  if (names.length === 0 && !(isKnown && places.length > 0)) return { facts };
  return {
    facts,
    layout: {
      ...(facts.iban && { iban: facts.iban }),
      ...(taxId && { tax_id: taxId }),
      places: isKnown ? places : [],
      ...(names.length > 0 && { names }),
    },
  };
}

const MOST_NAMES = 16;
const LETTERHEAD = 10;

/** Texts that may be or contain the payee's name, if the books know it: the letterhead, and companies. */
function namesIn(lines: Line[]): string[] {
  const texts = lines.flatMap((line, at) =>
    line.flatMap(({ text }) => text.split(/\s+[·•|]\s+/)).filter((text) => at < LETTERHEAD || isCompany(text))
  );
  return unique(texts.map((text) => shortName(text) ?? "").filter((name) => /\p{L}{3}/u.test(name)))
    .filter((name) => name.length <= 80 && !name.includes("\ufffd")).slice(0, MOST_NAMES);
}

const isCompany = (text: string): boolean => text.length <= 80 && COMPANY.test(text.replace(/,.*$/, ""));

interface Read {
  facts: DocumentFacts;
}

/** "Rechnung Nr. 4711 vom 31.08.2026" */
const DATED = /^.{1,60}?\s(?:vom|du|del|dated|van)\s+(?=\d)/i;
/** "Berlin, den 31.08.2026" */
const PLACED = /^\p{L}[\p{L} .()-]{1,30}, ?(?:den |le |il |li )?(?=\d{1,2}[. ])/iu;

function daysAfter(text: string, start: RegExp): FoundDay[] {
  const found = start.exec(text.slice(0, 120));
  const day = found && dayAt(text.slice(found[0].length));
  return day ? [day] : [];
}

/** The title: the first cell that begins with the name of a kind. */
function kindOf(lines: Line[]): DocumentFacts["kind"] {
  for (const line of lines) {
    for (const { text } of line) {
      const plain = plainText(text);
      const kind = plain.length < 60 && KINDS.find(([, pattern]) => pattern.test(plain))?.[0];
      if (kind) return kind;
    }
  }
  return "other";
}

const SLASHED = /(?<!\d)(\d{1,2})[/-](\d{1,2})[/-](?:\d{4}|\d{2})(?!\d)/g;

/** Whether dates such as 2/11/2026 put the day first: another date proves it, or the languages of all labels do so. */
function orderOf(lines: Line[], found: Found[]): DateOrder | undefined {
  const orders = new Set<DateOrder>();
  for (const { text } of lines.flat()) {
    for (const [, first, second] of text.matchAll(SLASHED)) {
      if (Number(first) > 12) orders.add("DMY");
      else if (Number(second) > 12) orders.add("MDY");
    }
  }
  if (orders.size > 0) return only([...orders]);
  return found.length > 0 && found.some(({ languages }) => !languages.includes("en")) &&
      found.every(({ languages }) => languages.some((one) => one !== "en"))
    ? "DMY"
    : undefined;
}

const ibansIn = (line: string): string[] =>
  [...line.matchAll(/(?<![A-Z\d])[A-Z]{2}\d\d(?: ?[A-Z\d]){11,30}/g)].flatMap(([text]) => {
    // A word in capitals may follow.
    for (let end = text.length; end >= 15; end--) {
      const iban = /[ A-Z\d]/.test(text[end] ?? " ") ? readIban(text.slice(0, end)) : undefined;
      if (iban) return iban;
    }
    return [];
  });

const referencesIn = (line: string): string[] =>
  [...line.matchAll(/(?<![A-Z\d])(?:RF\d\d(?: ?[A-Z\d]){1,24}|\d\d(?: ?\d){25})(?![A-Z\d])/g)]
    .flatMap(([text]) => readReference(text) ?? []);

/**
 * The payee: the name at a label, or the company in the small sender line above the customer's address, with dots or
 * bars between its parts. Two different payees count as none.
 */
function payeeOf(lines: Line[], found: Found[]): string | undefined {
  const named = found.flatMap((one) => nameOf(lines, one) ?? []).map((name) => name.trim());
  const senders = lines.flat().flatMap(({ text }) => {
    const [name, ...others] = text.split(/\s+[·•|]\s+/);
    return others.length > 0 && others.some((one) => /\d{4}/.test(one)) && COMPANY.test(name!) ? [name!.trim()] : [];
  });
  const names = [...new Map([...named, ...senders].map((name) => [plainText(name), name])).values()];
  return only(names.filter((name) => !name.includes("\ufffd")));
}
