/**
 * The field names on invoices, in German, English, French, Italian, Spanish and Dutch: in lower case and without
 * accents. A longer name comes before its own prefix.
 */

export type Label =
  | "number"
  | "issued"
  | "day"
  | "due"
  | "gross"
  | "total"
  | "payable"
  | "net"
  | "tax"
  | "paid"
  | "payee";

type Names = Partial<Record<Label, string>>;

/** Separated by "|". "day" and "total" apply only without a more specific name. */
const BY_LANGUAGE: Record<string, Names> = {
  de: {
    number:
      "rechnungsnummer|rechnungs-nr|rechnungs nr|rechnungsnr|rechnung nr|rechnung-nr|re-nr|belegnummer|beleg-nr|" +
      "belegnr|gutschriftsnummer|gutschrift nr|gutschrift-nr",
    issued: "rechnungsdatum|ausstellungsdatum|belegdatum|datum der rechnung",
    day: "datum",
    due:
      "fallig am|fallig bis|falligkeitsdatum|falligkeit|zahlbar bis|zu zahlen bis|zahlbar spatestens am|bitte zahlen sie bis|zahlungsziel",
    gross:
      "gesamtbetrag|rechnungsbetrag|rechnungssumme|endbetrag|gesamtsumme|bruttobetrag|bruttosumme|gesamt brutto|summe brutto|" +
      "gesamtpreis brutto|rechnungsendbetrag",
    total: "gesamt|summe",
    payable: "zu zahlender betrag|zu zahlen|zahlbetrag|offener betrag|noch zu zahlen|zahllast",
    net: "nettobetrag|gesamt netto|summe netto|zwischensumme|nettosumme|netto|gesamtbetrag netto|rechnungsbetrag netto",
    tax: "mehrwertsteuer|umsatzsteuer|mwst|ust|zzgl. mwst|zzgl. ust|zzgl. umsatzsteuer|zzgl. mehrwertsteuer",
    paid: "bereits bezahlt|anzahlung|abschlag|abzgl. anzahlung|gezahlt",
    payee: "kontoinhaber|zahlungsempfanger|rechnungssteller|empfanger der zahlung|verkaufer",
  },
  en: {
    number: "invoice number|invoice no|invoice nr|invoice id|invoice #|bill number|bill no|receipt number|receipt no|" +
      "receipt #|credit note number|credit note no|document number",
    issued: "invoice date|date of issue|issue date|date issued|bill date|billing date|receipt date|credit note date",
    day: "date",
    due: "payment due date|due date|date due|due on|due by|payment due by|payment due|pay by|please pay by|payable by",
    gross:
      "grand total|invoice total|total amount|total incl. vat|total including vat|total inc. vat|total inc vat|total (incl. vat)|amount charged",
    total: "total",
    payable:
      "total amount due|total due|amount due|balance due|total payable|amount payable|total to pay|amount to pay",
    net:
      "subtotal|sub-total|sub total|net total|net amount|total excl. vat|total excluding vat|total net|total ex vat|total before tax|net",
    tax: "vat|tax|sales tax|gst|vat amount|tax amount",
    paid: "amount paid|already paid|paid|deposit paid|prepayment|less deposit|payments received",
    payee: "account holder|account name|beneficiary|payee|bill from|invoice from|seller|vendor|supplier|payable to",
  },
  fr: {
    number:
      "numero de facture|numero facture|n° de facture|n° facture|facture n°|facture no|facture numero|avoir n°|ref. facture",
    issued: "date de facture|date de la facture|date d'emission|date de facturation|date facture|date d’emission",
    day: "date",
    due:
      "date d'echeance|date d’echeance|echeance le|echeance|date limite de paiement|a payer avant le|a regler avant le|payable avant le|a payer au plus tard le",
    gross: "total ttc|montant ttc|montant total ttc|total general ttc|total toutes taxes comprises|total general",
    total: "total|montant total",
    payable: "net a payer|total a payer|montant a payer|reste a payer|solde a payer|montant du|net a payer ttc",
    net: "total ht|montant ht|total hors taxes|sous-total|sous-total ht|montant total ht|total net ht",
    tax: "tva|total tva|montant tva|dont tva",
    paid: "deja paye|acompte|deja regle|acompte verse",
    payee: "titulaire du compte|titulaire|beneficiaire|emetteur|vendeur|fournisseur",
  },
  it: {
    number:
      "numero fattura|numero della fattura|fattura numero|fattura n.|fattura n°|fattura nr|n. fattura|nr. fattura|numero documento|nota di credito n.",
    issued: "data fattura|data della fattura|data documento|data emissione|data di emissione|data del documento",
    day: "data",
    due:
      "data scadenza|data di scadenza|scadenza pagamento|scadenza|da pagare entro il|da pagare entro|pagamento entro il|entro il",
    gross:
      "totale fattura|totale documento|importo totale|totale complessivo|totale ivato|totale iva inclusa|totale iva compresa",
    total: "totale",
    payable: "netto a pagare|totale da pagare|importo da pagare|totale a pagare|da pagare|totale dovuto",
    net: "totale imponibile|imponibile|subtotale|totale netto|totale merce|totale imponibile iva|netto",
    tax: "iva|totale iva|imposta|totale imposta",
    paid: "acconto|gia pagato|gia versato|acconto versato",
    payee: "intestatario|intestatario conto|beneficiario|intestato a|fornitore|cedente",
  },
  es: {
    number:
      "numero de factura|num. de factura|numero factura|n.º de factura|nº de factura|n° de factura|nº factura|n° factura|" +
      "factura n.º|factura nº|factura n°|factura num.|factura numero|no. de factura|no de factura|factura no",
    issued: "fecha de factura|fecha de la factura|fecha factura|fecha de emision|fecha de expedicion|fecha emision",
    day: "fecha",
    due:
      "fecha de vencimiento|fecha vencimiento|vencimiento|fecha limite de pago|pagar antes del|vence el|a pagar antes del",
    gross: "total factura|importe total|total iva incluido|total con iva|total general|importe total factura",
    total: "total",
    payable: "total a pagar|importe a pagar|a pagar|saldo a pagar|pendiente de pago",
    net: "base imponible|subtotal|total sin iva|importe neto|total neto|suma",
    tax: "iva|cuota iva|total iva|importe iva",
    paid: "ya pagado|anticipo|pagado|a cuenta",
    payee: "titular|titular de la cuenta|beneficiario|emisor|vendedor|proveedor",
  },
  nl: {
    number: "factuurnummer|factuurnr|factuur nr|factuur nummer|factuur-nr|creditfactuurnummer|creditnotanummer",
    issued: "factuurdatum|datum factuur",
    day: "datum",
    due:
      "vervaldatum|uiterste betaaldatum|te betalen voor|te betalen voor uiterlijk|uiterlijk te betalen op|betalen voor|vervaldag|betaaltermijn",
    gross:
      "totaalbedrag|factuurbedrag|totaal incl. btw|totaal inclusief btw|totaal incl btw|totaal incl|eindtotaal|factuurtotaal|bedrag incl. btw",
    total: "totaal",
    payable: "te betalen|totaal te betalen|nog te betalen|te voldoen|openstaand bedrag|te betalen bedrag",
    net: "subtotaal|totaal excl. btw|totaal exclusief btw|totaal excl btw|netto|bedrag excl. btw|totaal excl",
    tax: "btw|btw bedrag|totaal btw",
    paid: "reeds betaald|aanbetaling|betaald|reeds voldaan",
    payee: "rekeninghouder|ten name van|t.n.v.|begunstigde|verkoper|leverancier",
  },
};

export interface Known {
  label: Label;
  name: string;
  languages: string[];
}

/** By first letters, longer names first. */
export const LABELS: ReadonlyMap<string, readonly Known[]> = (() => {
  const known = new Map<string, Known>();
  for (const [language, names] of Object.entries(BY_LANGUAGE)) {
    for (const [label, list] of Object.entries(names) as [Label, string][]) {
      for (const name of list.split("|")) {
        const same = known.get(`${label} ${name}`);
        if (same) same.languages.push(language);
        else known.set(`${label} ${name}`, { label, name, languages: [language] });
      }
    }
  }
  const byStart = new Map<string, Known[]>();
  for (const one of [...known.values()].sort((a, b) => b.name.length - a.name.length)) {
    const start = one.name.slice(0, 2);
    byStart.set(start, [...byStart.get(start) ?? [], one]);
  }
  return byStart;
})();

/** Words that may stand between the name of an amount and the amount. */
export const ASIDES = new Set(
  ("inkl inklusive incl including inc inclusive ttc iva btw tva mwst ust vat tax taxes gesetzlicher ges brutto gross " +
    "bruto comprise incluido inclusa compresa eur euro euros chf gbp usd in of the der die des de du sie bitte den")
    .split(" "),
);

export const KINDS: ["credit_note" | "reminder" | "receipt" | "invoice", RegExp][] = [
  [
    "credit_note",
    /^(?:gutschrift|stornorechnung|rechnungskorrektur|credit note|credit memo|avoir|facture d.avoir|nota di credito|factura rectificativa|nota de credito|abono|creditnota|creditfactuur)\b/,
  ],
  [
    "reminder",
    /^(?:(?:(?:erste|zweite|dritte|letzte) |\d\. ?)?mahnung|zahlungserinnerung|payment reminder|reminder|final notice|rappel|relance|sollecito|recordatorio de pago|betalingsherinnering|herinnering|aanmaning)\b/,
  ],
  ["receipt", /^(?:quittung|kassenbon|zahlungsbeleg|receipt|recu|ricevuta|scontrino|recibo|kwitantie|kassabon)\b/],
  ["invoice", /^(?:(?:ihre |deine )?[a-z]{0,30}rechnung|tax invoice|invoice|facture|fattura|factura|factuur)\b/],
];

/** The account may be the customer's own. */
export const DEBIT =
  /\b(?:lastschrift|sepa-mandat|mandatsreferenz|abgebucht|eingezogen|direct debit|will be debited|prelevement|preleve|addebito|addebitato|domiciliacion|domiciliado|adeudo|automatische incasso|machtiging|afgeschreven)/;

/** A word that ends or begins a company's name. */
export const COMPANY =
  /(?:^|[\s,])(?:GmbH(?: & Co\. KG)?|AG|UG|KG|OHG|e\. ?K\.|e\. ?V\.|SE|Ltd\.?|Limited|LLC|Inc\.?|PLC|plc|S\.?A\.?S\.?|SARL|S\.?A\.?R\.?L\.?|S\.?A\.?|S\.?r\.?l\.?|S\.?p\.?A\.?|S\.?L\.?U?\.?|B\.?V\.?|N\.?V\.?|V\.?O\.?F\.?)$/;
