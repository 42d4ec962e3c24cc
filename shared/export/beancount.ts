/** Renders payments as Beancount entries (https://beancount.github.io/docs/beancount_language_syntax.html). */

/** The account of every payment, because the books do not record from which account people paid. */
const PAID_FROM = "Assets:Unassigned";

interface Ledger {
  /** The label of a missing category. */
  uncategorized: string;
  /** The accounts so far, each with its first day. */
  accounts: Map<string, string>;
}

/** Adds the payment's account to the ledger. @returns an entry of two postings. */
export function writeBeancount(payment: Record<string, unknown>, { uncategorized, accounts }: Ledger): string {
  const day = String(payment.date);
  const account = accountOf(String(payment.category ?? uncategorized));
  // Payments are sorted by day, so the first payment of an account opens it.
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

/** Account names consist of letters, digits and dashes, and begin with a capital letter or a digit. */
function accountOf(category: string): string {
  const name = category.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
  const capital = name.charAt(0).toUpperCase() + name.slice(1);
  return `Expenses:${/^[\p{Lu}\d]/u.test(capital) ? capital : `X-${capital}`}`;
}

/** A text in quotation marks, on one line. */
const text = (value: unknown): string => `"${String(value ?? "").replace(/\s+/g, " ").replace(/["\\]/g, "\\$&")}"`;
