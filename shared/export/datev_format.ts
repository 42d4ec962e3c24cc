/**
 * The DATEV format of a batch of bookings: header version 700, category 21 (Buchungsstapel), format version 13
 * (https://developer.datev.de/datev/platform/en/dtvf). Fields are separated by semicolons, texts are in quotation
 * marks, and lines end in CR LF.
 */

const numbered = (count: number, names: (number: number) => string[]) =>
  Array.from({ length: count }, (_, index) => names(index + 1)).flat();

export const COLUMNS: readonly string[] = [
  ..."Umsatz (ohne Soll/Haben-Kz);Soll/Haben-Kennzeichen;WKZ Umsatz;Kurs;Basis-Umsatz;WKZ Basis-Umsatz;Konto".split(
    ";",
  ),
  ..."Gegenkonto (ohne BU-Schlüssel);BU-Schlüssel;Belegdatum;Belegfeld 1;Belegfeld 2;Skonto;Buchungstext".split(";"),
  ..."Postensperre;Diverse Adressnummer;Geschäftspartnerbank;Sachverhalt;Zinssperre;Beleglink".split(";"),
  ...numbered(8, (number) => [`Beleginfo - Art ${number}`, `Beleginfo - Inhalt ${number}`]),
  ..."KOST1 - Kostenstelle;KOST2 - Kostenstelle;Kost-Menge;EU-Land u. UStID (Bestimmung)".split(";"),
  ..."EU-Steuersatz (Bestimmung);Abw. Versteuerungsart;Sachverhalt L+L;Funktionsergänzung L+L".split(";"),
  ..."BU 49 Hauptfunktionstyp;BU 49 Hauptfunktionsnummer;BU 49 Funktionsergänzung".split(";"),
  // The published names lack these spaces.
  ...numbered(20, (number) => [`Zusatzinformation - Art ${number}`, `Zusatzinformation- Inhalt ${number}`]),
  ..."Stück;Gewicht;Zahlweise;Forderungsart;Veranlagungsjahr;Zugeordnete Fälligkeit;Skontotyp;Auftragsnummer".split(
    ";",
  ),
  ..."Buchungstyp;USt-Schlüssel (Anzahlungen);EU-Land (Anzahlungen);Sachverhalt L+L (Anzahlungen)".split(";"),
  ..."EU-Steuersatz (Anzahlungen);Erlöskonto (Anzahlungen);Herkunft-Kz;Buchungs GUID;KOST-Datum".split(";"),
  ..."SEPA-Mandatsreferenz;Skontosperre;Gesellschaftername;Beteiligtennummer;Identifikationsnummer".split(";"),
  ..."Zeichnernummer;Postensperre bis;Bezeichnung SoBil-Sachverhalt;Kennzeichen SoBil-Buchung".split(";"),
  ..."Festschreibung;Leistungsdatum;Datum Zuord. Steuerperiode;Fälligkeit;Generalumkehr (GU);Steuersatz".split(";"),
  ..."Land;Abrechnungsreferenz;BVV-Position;EU-Land u. UStID (Ursprung);EU-Steuersatz (Ursprung)".split(";"),
  "Abw. Skontokonto",
];

/** The cells of a line by column. Texts are already quoted; other columns are empty. */
export type Cells = Readonly<Record<string, string | undefined>>;

export const writeLine = (cells: Cells): string => `${COLUMNS.map((column) => cells[column] ?? "").join(";")}\r\n`;

export interface BatchHeader {
  made: Date;
  consultant: number;
  client: number;
  /** Days as YYYY-MM-DD: the start of the financial year, the first and the last day of the batch. */
  yearStart: string;
  from: string;
  to: string;
  /** At most 30 characters. */
  name: string;
  isLocked: boolean;
  currency: string;
  chart: "03" | "04";
}

/** The header and the line with the names of the columns. */
export function writeHeader(batch: BatchHeader): string {
  const { made, consultant, client, yearStart, from, to, name, isLocked, currency, chart } = batch;
  const fields = [
    ...[quoted("EXTF"), 700, 21, quoted("Buchungsstapel"), 13],
    // The time to the millisecond. DATEV fills in the next field.
    ...[made.toISOString().replace(/\D/g, ""), ""],
    // Origin, exported by, imported by.
    ...[quoted(""), quoted(""), quoted("")],
    ...[consultant, client, compact(yearStart), 4, compact(from), compact(to), quoted(name)],
    // Initials, financial accounting, for every accounting purpose.
    ...[quoted(""), 1, 0, isLocked ? 1 : 0, quoted(currency)],
    ...["", quoted(""), "", "", quoted(chart), "", "", quoted(""), quoted("")],
  ];
  return `${fields.join(";")}\r\n${COLUMNS.join(";")}\r\n`;
}

const compact = (day: string) => day.replaceAll("-", "");

/**
 * A text in quotation marks, on one line and in characters of the file. A text that a spreadsheet would run as a
 * formula gets an apostrophe.
 */
export function quoted(value: string, most = Infinity): string {
  const line = value.replace(/[\s\p{C}]+/gu, " ").trim();
  // Some characters become an equals sign or a space only in the code page.
  const written = [...line.normalize("NFC")].map(inWindows1252).join("").trimStart();
  const text = written.replace(/^(?=[=+@-])/, "'").slice(0, most);
  return `"${text.replace(/"/g, '""')}"`;
}

const BYTES = new Map(
  Array.from({ length: 256 }, (_, byte) => [new TextDecoder("windows-1252").decode(new Uint8Array([byte])), byte]),
);

/** Drops accents that the code page lacks, and replaces other unknown characters by question marks. */
function inWindows1252(character: string): string {
  if (BYTES.has(character)) return character;
  return [...character.normalize("NFKD")].filter((one) => BYTES.has(one)).join("") || "?";
}

/** Windows-1252, because every DATEV import reads it and some read no Unicode. */
export const encode = (text: string): Uint8Array => Uint8Array.from(text, (character) => BYTES.get(character) ?? 63);
