/**
 * Letters in the recipient's language: the recorded facts, and a visible blank for each missing one. They are plain
 * text: names are single lines, and a person's own words remain unchanged.
 */
import { oneLine } from "./one_line.ts";

export interface LetterFacts {
  today: string;
  /** The bill's name. */
  name: string;
  payee?: string;
  /** The requested last day. */
  ends_on?: string;
  /** Whether the recorded notice allows that day. */
  is_in_time?: boolean;
  form?: "letter" | "email" | "online" | "any";
  /** Postal lines or a mail address. */
  address?: string;
  customer_number?: string;
  /** Name and address lines. */
  sender?: string;
  words?: string;
}

export type MissingInLetter = "payee" | "address" | "customer_number" | "sender" | "ends_on";

export interface Letter {
  subject: string;
  body: string;
}

interface Template {
  locale: string;
  blanks: Record<Exclude<MissingInLetter, "ends_on">, string>;
  /** The contract after "my contract": with its company, or with the name from the books. */
  with(payee: string): string;
  called(name: string): string;
  subject(contract: string): string;
  number(customerNumber: string): string;
  greeting: string;
  request(contract: string, day?: string, isInTime?: boolean): string;
  confirm: string;
  closing: string;
}

const blank = (what: string) => `[${what}: ________]`;

const DE: Template = {
  locale: "de-DE",
  blanks: {
    payee: blank("Name des Vertragspartners"),
    address: blank("Anschrift des Vertragspartners"),
    customer_number: blank("Kundennummer"),
    sender: blank("Ihr Name und Ihre Anschrift"),
  },
  with: (payee) => `bei ${payee}`,
  called: (name) => `„${name}“`,
  subject: (contract) => `Kündigung meines Vertrags ${contract}`,
  number: (number) => `Kundennummer ${number}`,
  greeting: "Sehr geehrte Damen und Herren,",
  request: (contract, day, isInTime) =>
    day
      ? `hiermit kündige ich meinen Vertrag ${contract} ${
        isInTime ? "fristgerecht " : ""
      }zum ${day}, hilfsweise zum nächstmöglichen Zeitpunkt.`
      : `hiermit kündige ich meinen Vertrag ${contract} zum nächstmöglichen Zeitpunkt.`,
  confirm: "Bitte bestätigen Sie mir den Eingang dieser Kündigung und den Tag, an dem der Vertrag endet, in Textform.",
  closing: "Mit freundlichen Grüßen",
};

const EN: Template = {
  locale: "en-GB",
  blanks: {
    payee: blank("name of the company"),
    address: blank("address of the company"),
    customer_number: blank("customer number"),
    sender: blank("your name and address"),
  },
  with: (payee) => `with ${payee}`,
  called: (name) => `“${name}”`,
  subject: (contract) => `Cancellation of my contract ${contract}`,
  number: (number) => `customer number ${number}`,
  greeting: "Dear Sir or Madam,",
  request: (contract, day, isInTime) =>
    day
      ? `I hereby cancel my contract ${contract}${
        isInTime ? ", giving the required notice," : ""
      } with effect from the end of ${day}, or otherwise on the earliest possible date.`
      : `I hereby cancel my contract ${contract} on the earliest possible date.`,
  confirm: "Please confirm in writing that you received this cancellation, and the day on which the contract ends.",
  closing: "Yours faithfully",
};

/** Several lines without empty ones, each safe to show. */
const lines = (text: string): string[] => text.split(/\r\n|[\r\n]/).map((line) => oneLine(line, 300)).filter(Boolean);

/** The blanks in the letter. An online form needs neither a name nor an address. */
export const missingIn = (facts: LetterFacts): MissingInLetter[] => {
  const { form } = facts;
  const needed: MissingInLetter[] = [
    ...(form === "online" ? [] : form === "email" ? ["address"] as const : ["payee", "address"] as const),
    "customer_number",
    "sender",
    "ends_on",
  ];
  return needed.filter((one) => !facts[one]);
};

const write = (template: Template) => (facts: LetterFacts): Letter => {
  const { form, address, customer_number, sender, words, ends_on, payee, is_in_time } = facts;
  const { blanks } = template;
  const day = (date: string) =>
    new Intl.DateTimeFormat(template.locale, { dateStyle: "long", timeZone: "UTC" }).format(new Date(`${date}T00:00Z`));
  const company = payee && oneLine(payee);
  // The company doesn't know the bill's name in the books.
  const contract = company ? template.with(company) : template.called(oneLine(facts.name));
  const from = sender ? lines(sender) : [blanks.sender];
  const place = address ? lines(address) : [blanks.address];
  // People often write the company's name in its address too.
  const isNamed = company && place.some((line) => line.toLowerCase().includes(company.toLowerCase()));
  const to = isNamed ? place : [company ?? blanks.payee, ...place];
  const number = customer_number ? template.number(oneLine(customer_number)) : blanks.customer_number;
  const subject = `${template.subject(contract)}, ${number}`;
  const letter = [
    template.greeting,
    template.request(contract, ends_on && day(ends_on), is_in_time),
    ...(words?.trim() ? [words.trim()] : []),
    template.confirm,
    template.closing,
  ];
  const paragraphs = form === "email" || form === "online"
    ? [...letter, from.join("\n")]
    : [from.join("\n"), to.join("\n"), day(facts.today), subject, ...letter, from[0]!];
  return { subject, body: paragraphs.join("\n\n") };
};

/** Cancellations of a contract, by language. */
export const LETTERS: Record<"de" | "en", (facts: LetterFacts) => Letter> = { de: write(DE), en: write(EN) };
