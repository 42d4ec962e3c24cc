/** `list_expenses`: labels missing categories, and writes the rows as CSV. */
import type { Facts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";
import { writeCsv } from "./csv.ts";

export function presentExpenses({ rows, csv, ...data }: Facts, { labels }: Words): Facts {
  const named = (rows ?? csv).map((row: Facts) => ({ ...row, category: row.category ?? labels.uncategorized }));
  return rows ? { ...data, rows: named } : { ...data, csv: writeCsv(COLUMNS, named.map(toLine)) };
}

/** Field names are the same in every language, since the import reads the file again. */
const COLUMNS = "id,kind,date,name,payee,category,tags,note,url,amount,currency,base_amount,bill_id".split(",");

/** Refunds are negative in the file, so that the column adds up. */
function toLine(row: Facts): Facts {
  const signed = (amount?: string) => amount && row.kind === "refund" ? `-${amount}` : amount;
  return { ...row, tags: row.tags?.join("; "), amount: signed(row.amount), base_amount: signed(row.base_amount) };
}
