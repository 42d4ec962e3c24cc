/** `list_expenses`: rows name their category, also where there is none; a file is written of the same rows. */
import type { Facts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";
import { writeCsv } from "./csv.ts";

export function presentExpenses({ rows, csv, ...data }: Facts, { labels }: Words): Facts {
  const named = (rows ?? csv).map((row: Facts) => ({ ...row, category: row.category ?? labels.uncategorized }));
  return rows ? { ...data, rows: named } : { ...data, csv: writeCsv(COLUMNS, named.map(toLine)) };
}

/** Names of fields, the same in every language: the import reads the file again. */
const COLUMNS = "id,kind,date,name,payee,category,tags,note,url,amount,currency,base_amount,bill_id".split(",");

/** A column is added up by whoever opens the file, so what came back is negative. */
function toLine(row: Facts): Facts {
  const signed = (amount?: string) => amount && row.kind === "refund" ? `-${amount}` : amount;
  return { ...row, tags: row.tags?.join("; "), amount: signed(row.amount), base_amount: signed(row.base_amount) };
}
