/** A household's third quarter of 2026: payments, bank lines, and the document of each purchase and bill. */
import { writeCii } from "../../_support/documents/cii.ts";
import type { Invoice } from "../../_support/documents/invoice.ts";
import { type Layout, LAYOUTS, type Paper } from "../../_support/documents/layouts.ts";
import { writeMail } from "../../_support/documents/mail.ts";
import { writePdf } from "../../_support/documents/pdf.ts";
import { writeUbl } from "../../_support/documents/ubl.ts";

type Form = "ubl" | "cii" | "german" | "english" | "mailed pdf" | "mailed text";
type Mode = "fixed" | "variable" | "estimated";

export interface Bill {
  name: string;
  /** The amount on the invoice. */
  payee: string;
  bank: string;
  mode: Mode;
  months: number[];
  day: number;
  /** Grouped by month. */
  cents: number[];
  /** The month of the invoice. */
  invoiced: number;
  form: Form;
  /** The invoice arrives after the statement of its month. */
  isLate?: boolean;
}

export interface Purchase {
  name: string;
  payee: string;
  bank: string;
  day: string;
  cents: number;
  form: Form;
  /** The first source: the person's words, the document or the statement. */
  first: "said" | "document" | "statement";
  /** Only for an invoice that is paid later. */
  due?: string;
}

const EVERY = [7, 8, 9];
const bill = (
  name: string,
  payee: string,
  bank: string,
  mode: Mode,
  [months, day]: [number[], number],
  cents: number[],
  [invoiced, form]: [number, Form],
): Bill => ({ name, payee, bank, mode, months, day, cents, invoiced, form });

export const BILLS: Bill[] = [
  bill("Rent", "Hausbau Nord GmbH", "HAUSBAU NORD GMBH MIETE", "fixed", [EVERY, 3], [95000, 95000, 95000], [
    8,
    "german",
  ]),
  bill("Power", "Stadtwerke Neustadt GmbH", "STADTWERKE NEUSTADT GMBH", "variable", [EVERY, 15], [8420, 7915, 9033], [
    7,
    "ubl",
  ]),
  bill("Gas", "Gasversorgung Sued AG", "GASVERSORGUNG SUED AG", "variable", [EVERY, 20], [4110, 3890, 4230], [
    7,
    "cii",
  ]),
  bill("Water", "Wasserverband Ost GmbH", "WASSERVERBAND OST", "estimated", [[8], 12], [13250], [8, "german"]),
  bill("Internet", "Glasnetz Telekom GmbH", "GLASNETZ TELEKOM GMBH", "fixed", [EVERY, 18], [3995, 3995, 3995], [
    7,
    "mailed pdf",
  ]),
  bill("Phone", "Mobilfunk West GmbH", "MOBILFUNK WEST GMBH", "variable", [EVERY, 22], [1999, 2349, 1999], [
    7,
    "mailed text",
  ]),
  bill("Hosting", "Sample Hosting Ltd", "SAMPLE HOSTING LTD", "fixed", [EVERY, 9], [1200, 1200, 1200], [9, "english"]),
  bill("Gym", "Kraftwerk Fitness GmbH", "KRAFTWERK FITNESS GMBH", "fixed", [EVERY, 5], [2990, 2990, 2990], [9, "ubl"]),
  bill("Insurance", "Allgemeine Schutz AG", "ALLGEMEINE SCHUTZ AG", "fixed", [[7], 10], [18840], [7, "cii"]),
  bill("Broadcast fee", "Beitragsservice Funk GmbH", "BEITRAGSSERVICE FUNK", "fixed", [[9], 16], [5508], [9, "german"]),
  bill("Waste", "Abfallwirtschaft Mitte GmbH", "ABFALLWIRTSCHAFT MITTE", "estimated", [[7], 28], [7680], [7, "ubl"]),
  {
    ...bill("Chimney", "Schornstein Meister GmbH", "SCHORNSTEIN MEISTER GMBH", "variable", [[9], 24], [6120], [
      9,
      "mailed pdf",
    ]),
    isLate: true,
  },
  bill("Newspaper", "Morgenblatt Verlag GmbH", "MORGENBLATT VERLAG", "fixed", [EVERY, 2], [2450, 2450, 2450], [
    8,
    "cii",
  ]),
  bill("Storage room", "Lagerraum Plus GmbH", "LAGERRAUM PLUS GMBH", "fixed", [EVERY, 26], [5900, 5900, 5900], [
    8,
    "english",
  ]),
  bill("Tax adviser", "Kanzlei Berger GmbH", "KANZLEI BERGER GMBH", "variable", [[8], 30], [29750], [8, "german"]),
];

const bought = (
  name: string,
  payee: string,
  [day, cents]: [string, number],
  form: Form,
  first: Purchase["first"],
  due?: string,
): Purchase => ({
  name,
  payee,
  bank: payee.toUpperCase(),
  day: `2026-${day}`,
  cents,
  form,
  first,
  ...(due && { due: `2026-${due}` }),
});

export const PURCHASES: Purchase[] = [
  bought("Dishwasher", "Elektro Wagner GmbH", ["07-04", 49900], "german", "said"),
  bought("Chair", "Moebelhaus Linden GmbH", ["07-07", 12900], "ubl", "said"),
  bought("Paint", "Baumarkt Kessler GmbH", ["07-11", 4385], "mailed pdf", "said"),
  bought("Paint again", "Baumarkt Kessler GmbH", ["07-23", 4385], "mailed pdf", "said"),
  bought("Printer", "Bueromarkt Falk GmbH", ["08-05", 18900], "cii", "said"),
  bought("Toner", "Bueromarkt Falk GmbH", ["08-06", 7450], "cii", "said"),
  bought("Bike repair", "Radwerk Sommer GmbH", ["08-19", 8600], "german", "said"),
  bought("Glasses", "Optik Brandt GmbH", ["09-08", 23900], "english", "said"),
  bought("Boots", "Schuhhaus Adler GmbH", ["09-21", 11995], "ubl", "said"),
  bought("Lamp", "Lichtstudio Haas GmbH", ["07-09", 7900], "ubl", "document"),
  bought("Curtains", "Textilhaus Reuter GmbH", ["07-17", 15650], "mailed text", "document"),
  bought("Plumber", "Sanitaer Vogt GmbH", ["07-20", 21420], "german", "document", "08-03"),
  bought("Router", "Netzladen Krause GmbH", ["08-10", 14999], "cii", "document"),
  bought("Painter", "Malerbetrieb Otto GmbH", ["08-13", 84000], "ubl", "document", "08-27"),
  bought("Desk", "Schreinerei Holz GmbH", ["09-02", 67500], "english", "document", "09-16"),
  bought("Cleaning", "Reinigung Blitz GmbH", ["09-10", 9520], "mailed pdf", "document", "09-24"),
  bought("Plants", "Gaertnerei Gruen GmbH", ["09-14", 3675], "german", "document"),
  bought("Vet", "Tierklinik Park GmbH", ["07-06", 8845], "german", "statement"),
  bought("Books", "Buchhandlung Seite GmbH", ["07-14", 5320], "ubl", "statement"),
  bought("Tyres", "Reifen Dienst Kuhn GmbH", ["07-29", 41600], "cii", "statement"),
  bought("Dentist", "Zahnzentrum Mitte GmbH", ["08-04", 15200], "mailed text", "statement"),
  bought("Course", "Sprachschule Welt GmbH", ["08-21", 24900], "english", "statement"),
  bought("Camera", "Foto Studio Linse GmbH", ["09-03", 64900], "ubl", "statement"),
  bought("Tickets", "Konzertkasse Nord GmbH", ["09-11", 9800], "mailed pdf", "statement"),
  bought("Washer part", "Elektro Wagner GmbH", ["09-18", 3990], "german", "statement"),
];

/** A valid IBAN that belongs only to this name. */
function ibanOf(name: string): string {
  const digits = Array.from(name, (letter) => letter.charCodeAt(0) % 10).join("").padEnd(18, "7").slice(0, 18);
  const check = 98n - BigInt(`${digits}131400`) % 97n;
  return `DE${String(check).padStart(2, "0")}${digits}`;
}

export const eur = (cents: number) => (cents / 100).toFixed(2);
const german = (cents: number) => eur(cents).replace(".", ",").replace(/\B(?=(\d{3})+,)/g, ".");
const inGerman = (day: string) => day.split("-").reverse().join(".");
const LAYOUT_NAMES = Object.keys(LAYOUTS).filter((name) => name !== "till") as (keyof typeof LAYOUTS)[];

export interface Said {
  payee: string;
  number: string;
  issued: string;
  due?: string;
  cents: number;
}

/** @returns the first rate at which the amounts add up to the cent */
function taxed(cents: number): { rate: number; net: number } {
  for (const rate of [19, 7, 20, 10]) {
    const net = Math.round(cents / (1 + rate / 100));
    if (net + Math.round(net * rate / 100) === cents) return { rate, net };
  }
  throw new Error(`no rate gives ${cents}`);
}

function invoiceOf({ payee, number, issued, due, cents }: Said): Invoice {
  const { net, rate: percent } = taxed(cents);
  const rate = String(percent);
  const [before, tax, all] = [net, cents - net, cents].map(eur) as [string, string, string];
  return {
    number,
    issued,
    ...(due && { due: [due] }),
    seller: payee,
    iban: ibanOf(payee),
    lines: [{ net: before, rate }],
    taxes: [{ rate, net: before, tax }],
    totals: { lines: before, net: before, tax, gross: all, payable: all },
  };
}

const germanPaper = ({ payee, number, issued, due, cents }: Said): Paper => {
  const net = Math.round(cents / 1.19);
  return {
    sender: `${payee} · Ringweg 1 · 10115 Musterstadt`,
    title: "Rechnung",
    fields: [
      ["Rechnungsnummer", number],
      ["Rechnungsdatum", inGerman(issued)],
      ...(due ? [["Fällig am", inGerman(due)] as [string, string]] : []),
    ],
    lines: [["1", "Leistung", german(net)]],
    columns: ["Menge", "Bezeichnung", "Gesamt"],
    totals: [["Nettobetrag", `${german(net)} €`], ["zzgl. 19 % MwSt.", `${german(cents - net)} €`], [
      "Rechnungsbetrag",
      `${german(cents)} €`,
    ]],
    foot: [`Kontoinhaber: ${payee}`, `IBAN: ${ibanOf(payee)}`],
  };
};

const englishPaper = ({ payee, number, issued, due, cents }: Said): Paper => ({
  title: "Invoice",
  fields: [
    ["Invoice number", number],
    ["Invoice date", issued],
    ...(due ? [["Due date", due] as [string, string]] : []),
  ],
  lines: [["1", "Service", eur(cents)]],
  columns: ["Qty", "Description", "Amount"],
  totals: [["Subtotal", `EUR ${eur(cents)}`], ["VAT 0%", "EUR 0.00"], ["Amount due", `EUR ${eur(cents)}`]],
  foot: [`Account name: ${payee}`, `IBAN ${ibanOf(payee)}`],
});

/** @param nth chooses the layout of a PDF @returns the file that the seller sends */
export function fileOf(said: Said, form: Form, nth: number): { name: string; type: string; bytes: Uint8Array } {
  const layout: Layout = LAYOUTS[LAYOUT_NAMES[nth % LAYOUT_NAMES.length]!];
  const bytes = (text: string) => new TextEncoder().encode(text);
  const pdf = (paper: Paper) => writePdf(layout(paper));
  const forwarded = [
    "---------- Forwarded message ---------",
    `From: Billing <billing@seller.example>`,
    "",
    "Invoice",
    `Invoice number: ${said.number}`,
    `Invoice date: ${said.issued}`,
    ...(said.due ? [`Due date: ${said.due}`] : []),
    `Amount due: EUR ${eur(said.cents)}`,
    `Account name: ${said.payee}`,
    `IBAN: ${ibanOf(said.payee)}`,
    "",
  ];
  const mail = (name: string, parts: Parameters<typeof writeMail>[0]["parts"]) => ({
    name,
    type: "message/rfc822",
    bytes: writeMail({ subject: `Fwd: ${said.number}`, parts }),
  });
  const text = (lines: string[]) => ({ type: "text/plain; charset=utf-8", content: lines.join("\r\n") });
  switch (form) {
    case "ubl":
      return { name: `${said.number}.xml`, type: "text/xml", bytes: bytes(writeUbl(invoiceOf(said))) };
    case "cii":
      return { name: `${said.number}.xml`, type: "text/xml", bytes: bytes(writeCii(invoiceOf(said))) };
    case "german":
      return { name: `${said.number}.pdf`, type: "application/pdf", bytes: pdf(germanPaper(said)) };
    case "english":
      return { name: `${said.number}.pdf`, type: "application/pdf", bytes: pdf(englishPaper(said)) };
    case "mailed pdf":
      return mail(`${said.number}.eml`, [text(["Your invoice is attached."]), {
        type: "application/pdf",
        name: `${said.number}.pdf`,
        content: pdf(germanPaper(said)),
      }]);
    case "mailed text":
      return mail(`${said.number}.eml`, [text(forwarded)]);
  }
}
