/**
 * Column names in exports of banks and expense programs, in eight languages; the most distinctive words of each field
 * first.
 */

export const FIELDS = ["date", "amount", "name", "payee", "currency", "category", "note", "url"] as const;
export type Field = typeof FIELDS[number];

/** What a column may be besides a field of an expense. */
export const HINTS = [
  "out",
  "in",
  "balance",
  "type",
  "state",
  "fee",
  "direction",
  "account",
  "counter_account",
  "tax",
  "original_amount",
  "original_currency",
] as const;
export type Role = Field | typeof HINTS[number];
export const ROLES: readonly Role[] = [...FIELDS, ...HINTS];

/** As normalized by `plainHeader`. English, German, French, Spanish, Italian, Dutch, Portuguese, Polish. */
const HEADER_WORDS: Record<Role, string[]> = {
  date: [
    ...[
      "date",
      "transaction date",
      "booking date",
      "completed date",
      "posting date",
      "posted date",
      "value date",
      "paid on",
      "day",
    ],
    ...["datum", "buchungstag", "buchungsdatum", "belegdatum", "wertstellung", "valuta", "valutadatum", "tag"],
    ...["date operation", "date d operation", "date de l operation", "date comptable", "date de valeur", "jour"],
    ...["fecha", "fecha operacion", "fecha de operacion", "f operacion", "fecha valor", "fecha contable"],
    ...["data", "data operazione", "data contabile", "data valuta", "data movimento"],
    ...["boekdatum", "transactiedatum", "rentedatum", "datum transactie"],
    ...["data movimento", "data do movimento", "data operacao", "data valor", "data lancamento"],
    ...["data operacji", "data transakcji", "data ksiegowania", "data waluty", "dzien"],
  ],
  amount: [
    ...[
      "amount",
      "transaction amount",
      "total",
      "value",
      "sum",
      "price",
      "cost",
    ],
    ...["betrag", "umsatz", "summe", "preis", "kosten"],
    ...["montant", "somme", "prix"],
    ...["importe", "monto", "cantidad", "valor", "precio"],
    ...["importo", "somma", "prezzo"],
    ...["bedrag", "prijs"],
    ...["quantia", "montante", "preco"],
    ...["kwota", "kwota operacji", "kwota transakcji", "cena"],
  ],
  out: [
    ...["debit", "debit amount", "debits", "paid out", "money out", "withdrawal", "withdrawals", "outflow", "spent"],
    ...["soll", "ausgabe", "ausgaben", "belastung", "belastungen", "lastschrift", "auszahlung"],
    ...["debit euros", "depenses", "cargo", "cargos", "adeudo", "gastos"],
    ...["addebito", "addebiti", "dare", "uscite", "af", "debet", "uitgaven", "debito", "debitos", "saida", "saidas"],
    ...["obciazenia", "obciazenie", "wydatki", "wyplata"],
  ],
  in: [
    ...["credit", "credit amount", "credits", "paid in", "money in", "deposit", "deposits", "inflow", "received"],
    ...["haben", "einnahme", "einnahmen", "gutschrift", "gutschriften", "einzahlung"],
    ...["credit euros", "recettes", "abono", "abonos", "ingresos"],
    ...["accredito", "accrediti", "avere", "entrate", "bij", "inkomsten", "credito", "creditos", "entrada", "entradas"],
    ...["uznania", "uznanie", "wplywy", "wplata"],
  ],
  balance: [
    ...["balance", "running balance", "running bal", "account balance", "balance after", "resulting balance"],
    ...[
      "saldo",
      "kontostand",
      "saldo nach buchung",
      "solde",
      "solde apres operation",
      "saldo contable",
      "saldo disponible",
    ],
    ...["saldo contabile", "saldo na mutatie", "saldo na trn", "saldo contabilistico", "saldo po operacji"],
  ],
  type: [
    ...["type", "transaction type", "kind", "typ", "art", "umsatzart", "umsatztyp", "transaktionstyp", "buchungsart"],
    ...["type de transaction", "nature", "tipo", "tipo de movimiento", "tipo de operacion", "tipo di transazione"],
    ...["soort", "mutatiesoort", "transactietype", "tipo de transacao", "rodzaj", "typ operacji", "typ transakcji"],
  ],
  state: [
    ...["status", "state", "transaction status", "buchungsstatus", "statut", "etat", "estado", "stato"],
    ...["situacao", "stan", "status transakcji"],
  ],
  fee: [],
  direction: [],
  account: [],
  counter_account: [],
  // Only of our own export: in others a column of this name may hold rates or codes.
  tax: [],
  original_amount: ["original amount", "foreign amount", "originalbetrag", "fremdwahrungsbetrag", "fremdbetrag"],
  original_currency: ["original currency", "foreign currency", "originalwahrung", "fremdwahrung"],
  name: [
    ...[
      "name",
      "description",
      "title",
      "item",
      "expense",
      "transaction",
      "details",
      "narrative",
      "subject",
      "what",
      "particulars",
    ],
    ...[
      "text",
      "bezeichnung",
      "beschreibung",
      "verwendungszweck",
      "buchungstext",
      "titel",
      "ausgabe",
      "artikel",
      "zweck",
      "betreff",
    ],
    ...["libelle", "description", "intitule", "designation", "nom", "depense", "operation", "objet"],
    ...["concepto", "descripcion", "nombre", "gasto", "detalle", "movimiento"],
    ...["descrizione", "causale", "nome", "spesa", "operazione", "voce"],
    ...["omschrijving", "naam omschrijving", "beschrijving", "naam", "uitgave", "mededelingen"],
    ...["descricao", "designacao", "nome", "despesa", "historico"],
    ...["opis", "opis operacji", "opis transakcji", "tytul", "tytul operacji", "nazwa", "wydatek"],
  ],
  payee: [
    ...[
      "payee",
      "merchant",
      "vendor",
      "shop",
      "store",
      "recipient",
      "beneficiary",
      "counterparty",
      "supplier",
      "paid to",
    ],
    ...[
      "empfanger",
      "zahlungsempfanger",
      "beguenstigter",
      "begunstigter",
      "beguenstigter zahlungspflichtiger",
      "begunstigter zahlungspflichtiger",
    ],
    ...["auftraggeber empfanger", "handler", "laden", "geschaft", "gegenpartei"],
    ...["beneficiaire", "marchand", "commercant", "destinataire", "magasin"],
    ...["beneficiario", "comercio", "destinatario", "tienda", "comerciante"],
    ...["beneficiario", "esercente", "negozio", "destinatario", "commerciante"],
    ...["begunstigde", "tegenpartij", "naam tegenpartij", "ontvanger", "winkel", "handelaar"],
    ...["beneficiario", "comerciante", "destinatario", "loja", "estabelecimento"],
    ...["odbiorca", "kontrahent", "sprzedawca", "sklep", "nadawca odbiorca"],
  ],
  currency: [
    "currency",
    "currency code",
    "ccy",
    "wahrung",
    "waehrung",
    "devise",
    "monnaie",
    "moneda",
    "divisa",
    "valuta",
    "munt",
    "moeda",
    "waluta",
  ],
  category: ["category", "kategorie", "rubrik", "categorie", "rubrique", "categoria", "rubro", "rubriek", "kategoria"],
  note: [
    ...[
      "note",
      "notes",
      "memo",
      "comment",
      "comments",
      "remark",
      "remarks",
      "reference",
      "notiz",
      "notizen",
      "bemerkung",
      "kommentar",
      "anmerkung",
      "hinweis",
    ],
    ...[
      "commentaire",
      "remarque",
      "communication",
      "nota",
      "notas",
      "observaciones",
      "comentario",
      "commento",
      "annotazioni",
    ],
    ...["opmerking", "opmerkingen", "notitie", "toelichting", "observacoes", "comentarios"],
    ...["notatka", "uwagi", "komentarz"],
  ],
  url: [
    ...[
      "url",
      "link",
      "receipt url",
      "receipt link",
      "receipt",
      "order url",
      "order link",
      "invoice url",
      "invoice link",
    ],
    ...["beleg link", "belegurl", "lien", "lien du recu", "enlace", "collegamento", "ligacao", "odnosnik"],
  ],
};

/** Replacement character for a letter lost to a wrong encoding. */
const LOST_LETTER = "\ufffd";
const MAX_LOST_LETTERS = 8;
/** Only the beginning of a header is used. */
const MAX_LENGTH = 100;

/**
 * Normalizes a header: lower case, no accents, punctuation or bracketed text ("Betrag (EUR)" is "betrag"). Lost letters
 * keep their place.
 */
export const plainHeader = (header: string): string =>
  header.slice(0, MAX_LENGTH).replace(/[([][^()[\]]*[)\]]/g, " ").normalize("NFD").replace(/\p{M}/gu, "").toLowerCase()
    .replace(/ß/g, "ss").replace(/ł/g, "l")
    .replace(/[^\p{L}\p{N}\ufffd]+/gu, " ").trim();

/** Whether two plain headers are the same; a lost letter matches any one, or ss, or the gap left by a sign. */
export function isSameHeader(plain: string, other: string): boolean {
  if (plain === other) return true;
  const [damaged, whole] = plain.includes(LOST_LETTER) ? [plain, other] : [other, plain];
  return couldFit(damaged)(whole);
}

/** Returns a test for whether a word could be the damaged one; most are ruled out by length. */
function couldFit(damaged: string): (whole: string) => boolean {
  const losses = damaged.split(LOST_LETTER).length - 1;
  // Enough letters must be left, and every loss doubles the number of possible readings.
  if (losses === 0 || losses > MAX_LOST_LETTERS || damaged.length - losses < 3) return () => false;
  const longest = damaged.length + losses;
  return (whole) => whole.length >= damaged.length && whole.length <= longest && fits(damaged, whole);
}

function fits(damaged: string, whole: string): boolean {
  const lost = damaged.indexOf(LOST_LETTER);
  if (lost < 0) return damaged === whole;
  if (lost >= whole.length || !whole.startsWith(damaged.slice(0, lost))) return false;
  const rest = damaged.slice(lost + 1);
  return fits(rest, whole.slice(lost + 1)) || (whole.startsWith("ss", lost) && fits(rest, whole.slice(lost + 2)));
}

/** Cached by plain header and field: most cells are looked up and match nothing. */
const RANKS = new Map(
  ROLES.map((field) => [field, new Map(HEADER_WORDS[field].map((word, rank) => [word, rank] as const).reverse())]),
);

/**
 * How distinctive a plain header is for a field: 0 is best, undefined no match. A currency after the word is ignored.
 */
export function rankOf(field: Role, plain: string): number | undefined {
  const rank = rankOfWord(field, plain);
  return rank === undefined && MONEY.has(field) ? rankOfWord(field, plain.replace(/( in)? [a-z]{3}$/, "")) : rank;
}

const MONEY: ReadonlySet<Role> = new Set(["amount", "out", "in", "balance"]);

function rankOfWord(field: Role, plain: string): number | undefined {
  if (!plain.includes(LOST_LETTER)) return RANKS.get(field)!.get(plain);
  const rank = HEADER_WORDS[field].findIndex(couldFit(plain));
  return rank < 0 ? undefined : rank;
}
