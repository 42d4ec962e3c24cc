/**
 * Renders payments as entries of plain-text accounting: Beancount (https://beancount.github.io/docs/beancount_language_syntax.html)
 * and hledger (https://hledger.org/hledger.html#journal).
 */

/** The account of every payment, because the books do not record from which account people paid. */
const PAID_FROM = "Assets:Unassigned";

export interface Ledger {
  /** The label of a missing category. */
  uncategorized: string;
  /** The accounts so far, each with its first day. */
  accounts: Map<string, string>;
}

export interface Syntax {
  /** The first lines. */
  begin: string;
  entry(payment: Record<string, unknown>, ledger: Ledger): string;
  /** Declares an account with its first day. */
  open(account: string, day: string): string;
}

export const BEANCOUNT: Syntax = {
  begin: "",
  entry(payment, ledger) {
    const { day, id, payee, name, tax, postings } = entryOf(payment, ledger);
    return [
      `${day} * ${text(payee)} ${text(name)}`,
      `  id: ${text(id)}`,
      ...(tax ? [`  tax: ${tax}`] : []),
      ...postings.map((posting) => `  ${posting}`),
      ...["", ""],
    ].join("\n");
  },
  open: (account, day) => `${day} open ${account}\n`,
};

export const HLEDGER: Syntax = {
  begin: "decimal-mark .\n\n",
  entry(payment, ledger) {
    const { day, id, payee, name, tax, postings } = entryOf(payment, ledger);
    return [
      // The code comes first, because a parser would read a payee in parentheses as a code.
      `${day} * (${id}) ${plain(payee)} | ${plain(name)}`,
      ...(tax ? [`    ; tax: ${tax}`] : []),
      ...postings.map((posting) => `    ${posting}`),
      ...["", ""],
    ].join("\n");
  },
  open: (account) => `account ${account}\n`,
};

/** Adds the payment's account to the ledger. */
function entryOf(payment: Record<string, unknown>, { uncategorized, accounts }: Ledger) {
  const day = String(payment.date);
  const account = accountOf(String(payment.category ?? uncategorized));
  // Payments are sorted by day, so the first payment of an account opens it.
  for (const one of [account, PAID_FROM]) if (!accounts.has(one)) accounts.set(one, day);
  const amount = String(payment.amount);
  const opposite = amount.startsWith("-") ? amount.slice(1) : `-${amount}`;
  const { currency } = payment;
  return {
    day,
    id: payment.expense_id ?? payment.id,
    payee: payment.payee ?? payment.name,
    name: payment.name,
    tax: payment.tax && `${payment.tax} ${currency}`,
    postings: [`${account}  ${amount} ${currency}`, `${PAID_FROM}  ${opposite} ${currency}`],
  };
}

/** Account names consist of letters, digits and dashes, and begin with a capital letter or a digit. */
function accountOf(category: string): string {
  const name = category.replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "");
  const capital = name.charAt(0).toUpperCase() + name.slice(1);
  return `Expenses:${/^[\p{Lu}\d]/u.test(capital) ? capital : `X-${capital}`}`;
}

/** A text in quotation marks, on one line. */
const text = (value: unknown): string => `"${String(value ?? "").replace(/\s+/g, " ").replace(/["\\]/g, "\\$&")}"`;

/** A text on one line, without the characters that separate a payee or begin a comment. */
const plain = (value: unknown): string => String(value ?? "").replace(/[\s|;]+/g, " ").trim();
