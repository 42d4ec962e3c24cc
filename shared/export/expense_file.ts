/** The file of expenses: its columns, and how a row of `list_expenses` becomes a line. */
import * as z from "zod/mini";
import { writeCsv } from "./csv.ts";

/** Fields of a `list_expenses` row that the file writes in another form. */
export const ExpenseLine = z.looseObject({
  kind: z.string(),
  category: z.optional(z.string()),
  tags: z.optional(z.array(z.string())),
  amount: z.string(),
  tax: z.optional(z.string()),
  base_amount: z.optional(z.string()),
});
export type ExpenseLine = z.infer<typeof ExpenseLine>;

/** Field names are the same in every language, because the import can read the file again. */
const COLUMNS = [
  ..."id,kind,date,name,payee,category,tags,note,url,amount,currency,tax,tax_percent".split(","),
  ..."reimbursement,reimbursed_by,reimbursed_on,split_id,base_amount,bill_id,is_estimate,paid_by".split(","),
];

/**
 * @param options.uncategorized the label of a missing category @param options.hasHeader false for all parts but the
 *   first
 */
export function writeExpenses(
  rows: readonly ExpenseLine[],
  { uncategorized, hasHeader = true }: { uncategorized: string; hasHeader?: boolean },
): string {
  return writeCsv(COLUMNS, rows.map((row) => toLine({ ...row, category: row.category ?? uncategorized })), hasHeader);
}

/** Refunds are negative in the file, so that the column adds up. */
function toLine(row: ExpenseLine): Record<string, unknown> {
  const signed = (amount?: string) => amount && row.kind === "refund" ? `-${amount}` : amount;
  return {
    ...row,
    tags: row.tags?.join("; "),
    amount: signed(row.amount),
    tax: signed(row.tax),
    base_amount: signed(row.base_amount),
  };
}
