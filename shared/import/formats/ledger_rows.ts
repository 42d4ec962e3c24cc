/** Exports of double-entry ledgers: each row is one side of a transaction, so all rows add up to zero. */
import { plainHeader } from "../header_words.ts";
import { readMoney } from "../money_text.ts";
import type { CsvRow } from "../read_csv.ts";
import type { RawLine } from "../statement.ts";

const EXPENSES =
  "expenses?|aufwand|aufwendungen|ausgaben|depenses|charges|gastos|egresos|spese|uscite|uitgaven|despesas|" +
  "wydatki|utgifter|udgifter|kulut|vydaje|naklady|kiadasok|cheltuieli|расходы|витрати";
const INCOME = "incomes?|revenues?|ertrage|ertrag|einnahmen|revenus|produits|ingresos|entrate|inkomsten|receitas|" +
  "przychody|inntekter|intakter|tulot|prijmy|bevetelek|venituri|доходы|доходи";
const OTHERS = "assets?|liabilit(?:y|ies)|equity|aktiva|passiva|fremdkapital|verbindlichkeiten|eigenkapital|actifs?|" +
  "passifs?|dettes|capitaux propres|activos?|pasivos?|attivita|passivita|activa|aktywa|pasywa|tillgangar|skulder|активы|" +
  "активи";
const ROOT = new RegExp(`^(?:(${EXPENSES})|(${INCOME})|${OTHERS})$`);
const rootOf = (cell: string) => cell.includes(":") ? ROOT.exec(plainHeader(cell.slice(0, cell.indexOf(":")))) : null;

/**
 * Completes a row from the other side of its transaction.
 * @returns the kind of each row; undefined for any other table.
 */
export function readLedger(
  rows: CsvRow[],
  date: number | undefined,
  name: number | undefined,
): ((cells: string[], amount: string) => Pick<RawLine, "kind" | "direction">) | undefined {
  const width = Math.max(...rows.slice(0, 20).map(({ cells }) => cells.length));
  const column = Array.from({ length: width }, (_, i) => i).find((i) =>
    rows.length > 1 && rows.every(({ cells }) => rootOf(cells[i] ?? "")) &&
    rows.some(({ cells }) => rootOf(cells[i]!)![1])
  );
  if (column === undefined) return undefined;
  for (const [i, { cells }] of rows.entries()) {
    const above = rows[i - 1]?.cells;
    if (above && date !== undefined && !cells[date]) {
      cells[date] = above[date] ?? "";
      if (name !== undefined) cells[name] ||= above[name] ?? "";
    }
  }
  return (cells, amount) => {
    const [, isExpense, isIncome] = rootOf(cells[column]!)!;
    if (!isExpense) return { kind: isIncome ? "income" : "split", direction: isIncome ? "in" : "out" };
    return readMoney(amount)?.isNegative ? { kind: "refund", direction: "in" } : { direction: "out" };
  };
}
