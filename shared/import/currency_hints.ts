/** The likely currencies of a file without any: by the country of its account, or the language of its header. */
import { isIban } from "./account_name.ts";
import { plainHeader } from "./header_words.ts";

/** By country, if it has its own currency; all other listed countries with an IBAN use euros. */
const COUNTRIES: Record<string, string> = {
  ...{ CH: "CHF", LI: "CHF", CZ: "CZK", DK: "DKK", FO: "DKK", GB: "GBP", GI: "GBP", HU: "HUF", IS: "ISK", NO: "NOK" },
  ...{ PL: "PLN", RO: "RON", RS: "RSD", SE: "SEK", TR: "TRY", UA: "UAH", IL: "ILS", BR: "BRL", AE: "AED", SA: "SAR" },
  ...Object.fromEntries(
    "AT BE BG CY DE EE ES FI FR GR HR IE IT LT LU LV MT NL PT SI SK".split(" ").map((country) => [country, "EUR"]),
  ),
};

const FRENCH = ["EUR", "CHF", "CAD", "XOF", "XAF", "MAD", "TND", "DZD"];
const SPANISH = [
  "EUR",
  "MXN",
  "ARS",
  "COP",
  "CLP",
  "PEN",
  "UYU",
  "USD",
  "BOB",
  "CRC",
  "DOP",
  "GTQ",
  "PYG",
  "HNL",
  "NIO",
];
/** Words that occur in a single language, with the countries where it is spoken; a pattern for a unique script. */
const LANGUAGES: [words: string | RegExp, currencies: string[]][] = [
  [/[ぁ-んァ-ヶ]|日付|残高|摘要|取引日/, ["JPY"]],
  [/金额|余额|账户|交易时间|记账/, ["CNY"]],
  [/餘額|帳戶|記帳|臺幣/, ["TWD", "HKD"]],
  [/\p{Script=Hangul}/u, ["KRW"]],
  [/\p{Script=Thai}/u, ["THB"]],
  [/\p{Script=Hebrew}/u, ["ILS"]],
  [/\p{Script=Greek}/u, ["EUR"]],
  ["kwota|rachunek|rachunku|ksiegowania|nadawca|odbiorca|obciazenia|uznania|tytul|kontrahenta", ["PLN"]],
  ["castka|zauctovani|protiucet|protiuctu|zustatek|poznamka", ["CZK"]],
  ["osszeg|konyveles|terheles|jovairas|kozlemeny|egyenleg|penznem|tranzakcio|kedvezmenyezett", ["HUF"]],
  ["tranzactie|tranzactiei|descriere|descrierea|incasari", ["RON"]],
  ["belopp|bokforingsdag|bokforingsdatum|bokford|reskontradatum|transaktionsdag|insattning|uttag", ["SEK"]],
  ["beløp|bokført|bokføringsdato|forklaring|mottaker", ["NOK"]],
  ["beløb|bogført|bogføringsdato|posteringsdato|hævet|indsat|modtager", ["DKK"]],
  ["upphæð|dagsetning|skyring", ["ISK"]],
  ["tutar|islem|aciklama|bakiye|tarih", ["TRY"]],
  ["сумма|операции|описание|остаток", ["RUB", "KZT", "BYN", "UAH", "KGS"]],
  ["операції|залишок|одержувач|опис", ["UAH"]],
  ["износ|вальор|наредител", ["EUR", "RSD", "MKD"]],
  ["iznos|stanje|uplata|isplata|primatelj", ["EUR", "RSD", "BAM"]],
  ["tien|ngay|dien giai", ["VND"]],
  ["tanggal|keterangan|jumlah|nominal", ["IDR"]],
  ["tarikh|amaun|baki", ["MYR"]],
  ["betrag|buchungstag|buchungsdatum|verwendungszweck|wertstellung|empfanger|umsatz", ["EUR", "CHF"]],
  ["montant|libelle|beneficiaire|debiteur", FRENCH],
  ["importe|monto|descripcion|concepto|beneficiario", SPANISH],
  ["importo|descrizione|causale", ["EUR", "CHF"]],
  ["descricao|lancamento|montante|historico", ["EUR", "BRL"]],
  ["bedrag|omschrijving|boekdatum|tegenrekening|maara|saaja|summa|kuupaev|selgitus|ciastka|zostatok|znesek", ["EUR"]],
  ["sort code", ["GBP"]],
  ["bsb", ["AUD"]],
  ["ifsc|upi|utr|withdrawal amt|deposit amt|narration", ["INR"]],
];
const PATTERNS = LANGUAGES.map(([words, currencies]) =>
  [typeof words === "string" ? new RegExp(`(?<![\\p{L}])(${words})(?![\\p{L}])`, "u") : words, currencies] as const
);

/** @param account its number @returns its likely currency, or undefined */
export function suggestCurrencies(headers: string[], account: string | undefined): string[] {
  const country = account && isIban(account) ? COUNTRIES[account.slice(0, 2)] : undefined;
  if (country) return [country];
  const plain = headers.map(plainHeader).join(" | ");
  return [...new Set(PATTERNS.flatMap(([words, currencies]) => words.test(plain) ? currencies : []))];
}
