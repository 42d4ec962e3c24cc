/** The accountant's file: one line per payment of a period, with the columns of a ledger. Refunds are negative. */
import { writeCsv } from "./csv.ts";

const COLUMNS = [
  ..."date,payee,name,category,net,tax,gross,currency,base_amount,base_currency".split(","),
  ..."reimbursement,link,id".split(","),
];

/** @param rows payments of the books. @param options.uncategorized the label of a missing category. */
export const writeAccountantRows = (
  rows: readonly Record<string, unknown>[],
  { uncategorized, hasHeader }: { uncategorized: string; hasHeader: boolean },
): string =>
  writeCsv(
    COLUMNS,
    rows.map((row) => ({
      ...row,
      category: row.category ?? uncategorized,
      gross: row.amount,
      link: row.url,
      // An assistant finds the payment by its id.
      id: row.expense_id ?? row.id,
    })),
    hasHeader,
  );
