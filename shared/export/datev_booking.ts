/**
 * Books a payment for DATEV: debits an expense account and credits the account that paid, or the reverse for a refund.
 */
import { type Cells, quoted } from "./datev_format.ts";
import { type DatevSettings, NO_CATEGORY, TAX_RATES } from "./datev_settings.ts";

export type Payment = Record<string, unknown>;

/** Why a payment is not in the batch. */
export const LEFT_OUT = ["no_account", "no_value", "amount"] as const;
/** Why the accountant should check a booked payment. */
export const TO_CHECK = ["clearing", "tax"] as const;
export type Remark = typeof LEFT_OUT[number] | typeof TO_CHECK[number];

export interface Booking {
  /** Undefined if the batch omits the payment. */
  cells?: Cells;
  remarks: Remark[];
}

/** @param options.file the payment's document in the archive @param options.isLocked whether its month is closed */
export function bookPayment(
  payment: Payment,
  settings: DatevSettings,
  { file, isLocked }: { file?: string | undefined; isLocked: boolean },
): Booking {
  const own = Object.hasOwn(settings.accounts, categoryOf(payment))
    ? settings.accounts[categoryOf(payment)]
    : undefined;
  const account = own ?? settings.clearing;
  if (!account) return { remarks: ["no_account"] };
  // DATEV's own conversion of a foreign amount may differ by a cent, so the booking contains only the value.
  const value = payment.base_amount;
  if (typeof value !== "string") return { remarks: ["no_value"] };
  const amount = amountOf(value);
  if (!amount) return { remarks: ["amount"] };
  const taxKey = taxKeyOf(payment, settings);
  const isForeign = payment.currency !== payment.base_currency;
  const day = String(payment.date);
  const id = String(payment.expense_id ?? payment.id);
  const [payee, name] = [String(payment.payee ?? payment.name), String(payment.name)];
  return {
    remarks: [...(own ? [] : ["clearing" as const]), ...(taxKey === undefined ? ["tax" as const] : [])],
    cells: {
      "Umsatz (ohne Soll/Haben-Kz)": amount,
      "Soll/Haben-Kennzeichen": quoted(value.startsWith("-") ? "H" : "S"),
      "WKZ Umsatz": quoted(String(payment.base_currency)),
      "Konto": account,
      "Gegenkonto (ohne BU-Schlüssel)": settings.paid_from,
      "BU-Schlüssel": taxKey ? quoted(taxKey.padStart(4, "0")) : undefined,
      "Belegdatum": `${day.slice(8)}${day.slice(5, 7)}`,
      // Letters, digits and $ % - / only.
      "Belegfeld 1": quoted(id.replace(/[^A-Za-z0-9]/g, "-"), 36),
      "Buchungstext": quoted(payee === name ? name : `${payee}, ${name}`, 60),
      ...(file && { "Beleginfo - Art 1": quoted("Datei"), "Beleginfo - Inhalt 1": quoted(file, 210) }),
      "Zusatzinformation - Art 1": quoted("ID"),
      "Zusatzinformation- Inhalt 1": quoted(id, 210),
      ...(isForeign && {
        "Zusatzinformation - Art 2": quoted("Fremdwährung"),
        "Zusatzinformation- Inhalt 2": quoted(
          `${String(payment.amount).replace(/^-/, "").replace(".", ",")} ${payment.currency}`,
          210,
        ),
      }),
      "Festschreibung": isLocked ? "1" : "0",
    },
  };
}

export const categoryOf = ({ category_id: id }: Payment): string => typeof id === "string" ? id : NO_CATEGORY;

/** "-1234.5" as "1234,50"; undefined if it is zero or does not fit the field. */
function amountOf(text: string): string | undefined {
  const [, whole, cents = ""] = /^-?(\d{1,10})(?:\.(\d{1,2}))?$/.exec(text) ?? [];
  return whole && Number(text) !== 0 ? `${whole},${cents.padEnd(2, "0")}` : undefined;
}

/**
 * The key of the rate by which DATEV computes the payment's own tax, to the cent, from its gross amount. "" without
 * tax or keys. @returns undefined if no key fits, because a wrong key would claim another tax.
 */
function taxKeyOf(payment: Payment, { tax_keys: keys }: DatevSettings): string | undefined {
  if (typeof payment.tax !== "string" || Number(payment.tax) === 0 || Object.keys(keys).length === 0) return "";
  if (payment.currency !== payment.base_currency) return undefined;
  const [gross, tax] = [payment.amount, payment.tax].map((one) => Number(String(one).replace(".", "")));
  const { tax_percent: percent } = payment;
  const taxBy = (rate: string) => Math.abs(gross!) * Number(rate) / (100 + Number(rate));
  const near = TAX_RATES.filter((rate) =>
    (typeof percent !== "string" || Number(percent) === Number(rate)) &&
    gross! < 0 === tax! < 0 && Math.abs(taxBy(rate) - Math.abs(tax!)) <= 1
  );
  return near.length === 1 && Math.round(taxBy(near[0]!)) === Math.abs(tax!) ? keys[near[0]!] : undefined;
}
