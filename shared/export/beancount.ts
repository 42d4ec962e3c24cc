/** Payments as entries of Beancount (https://beancount.github.io/docs/beancount_language_syntax.html). */

/** The books know what was paid, not from where. */
const PAID_FROM = "Assets:Unassigned";

interface Ledger {
  /** The label of a missing category. */
  uncategorized: string;
  /** The accounts so far, each with the first day that names it. */
  accounts: Map<string, string>;
}

/** @param payment of the export's payments; its account is added to the ledger's. @returns an entry of two postings. */
export function writeBeancount(payment: Record<string, unknown>, { uncategorized, accounts }: Ledger): string {
  const day = String(payment.date);
  const account = accountOf(String(payment.category ?? uncategorized));
  // Payments come by day.
  for (const one of [account, PAID_FROM]) if (!accounts.has(one)) accounts.set(one, day);
  const amount = String(payment.amount);
  const opposite = amount.startsWith("-") ? amount.slice(1) : `-${amount}`;
  const { currency } = payment;
  return [
    `${day} * ${text(payment.payee ?? payment.name)} ${text(payment.name)}`,
    `  id: ${text(payment.expense_id ?? payment.id)}`,
    ...(payment.tax ? [`  tax: ${payment.tax} ${currency}`] : []),
    `  ${account}  ${amount} ${currency}`,
    `  ${PAID_FROM}  ${opposite} ${currency}`,
    "",
    "",
  ].join("\n");
}

/** Parts of an account's name have letters, digits and dashes, and begin with a capital letter or a digit. */
function accountOf(category: string): string {
  const name = category.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
  const capital = name.charAt(0).toUpperCase() + name.slice(1);
  return `Expenses:${/^[\p{Lu}\d]/u.test(capital) ? capital : `X-${capital}`}`;
}

/** A text in quotation marks, on one line. */
const text = (value: unknown): string => `"${String(value ?? "").replace(/\s+/g, " ").replace(/["\\]/g, "\\$&")}"`;
