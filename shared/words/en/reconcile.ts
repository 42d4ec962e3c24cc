/** Words of `reconcile`. */

export const warnings = {
  /** @param period.first the first day with a row of the account, when it has any. */
  "no_statement": ({ account, first, last }: { account: string; first?: string; last?: string }): string =>
    first
      ? `The imported statements of ${account} have rows from ${first} to ${last} only. Outside of these days nothing ` +
        "was compared: what is in books_only there may well be at the bank too."
      : `No statement of ${account} is in the books, so nothing was compared. Import one first (import_expenses).`,
};
