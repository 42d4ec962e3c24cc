/** The texts between the rows of a table: titles such as "Pending transactions", sums, and further tables. */
import { readDate } from "../date_text.ts";
import { plainHeader, rolesOf } from "../header_words.ts";
import { isUnbookedTitle } from "../kinds.ts";
import { readMoney } from "../money_text.ts";
import type { CsvRow } from "../read_csv.ts";
import type { Kind } from "../statement.ts";
import { cut } from "../shorten.ts";
import { isSum } from "./csv_account.ts";

export interface Sections {
  rows: CsvRow[];
  /** Rows that the title above them marks as pending, and sums of other rows. */
  kinds: ReadonlyMap<CsvRow, Kind>;
  /** Rows that the title above them marks as incoming, and whether the title means a card's refunds and payments. */
  credits: ReadonlyMap<CsvRow, boolean>;
  /** Rows of a table whose columns differ from the first table's. */
  others: ReadonlySet<CsvRow>;
}

const MAX_TITLE = 60;
const MOST_CELLS = 40;

/**
 * @param table.headers of the first table; joined files repeat them.
 * @param table.above the lines above them.
 * @param table.date the column of days.
 */
export function findSections(
  all: CsvRow[],
  { headers, above, date }: { headers: string[] | undefined; above: CsvRow[]; date: number },
): Sections {
  const kinds = new Map<CsvRow, Kind>();
  const others = new Set<CsvRow>();
  const rows: CsvRow[] = [];
  const credits = new Map<CsvRow, boolean>();
  const isTold = (plain: string) => isUnbookedTitle(plain) || CREDITS.test(plain);
  const isDivided = all.some((row) => isTold(titleOf(row)));
  let title = above.length > 0 ? titleOf(above.at(-1)!) : "";
  let [isOther, hasDays] = [false, false];
  for (const [i, row] of all.entries()) {
    if (readDate(row.cells[date] ?? "")) {
      hasDays = true;
      if (isUnbookedTitle(title)) kinds.set(row, "pending");
      if (CREDITS.test(title)) credits.set(row, REFUNDS.test(title));
      if (isOther) others.add(row);
      rows.push(row);
      continue;
    }
    if (headers && row.cells.every((cell, at) => cell === headers[at])) {
      isOther = false;
      continue;
    }
    const next = titleOf(row);
    if (next !== "" && (isDivided || (all[i + 1] && isHeaderLike(all[i + 1]!)))) {
      title = next;
      continue;
    }
    if (headers && isHeaderLike(row)) {
      // A line right below the header may repeat the header in another language.
      isOther = hasDays;
      continue;
    }
    if (isSum(row)) kinds.set(row, "split");
    rows.push(row);
  }
  return { rows, kinds, credits, others };
}

/** The only cell of a row, at its left, normalized; "" for any other row. */
function titleOf({ cells }: CsvRow): string {
  const [title = ""] = cells;
  const isTitle = title !== "" && title.length <= MAX_TITLE && cells.every((cell, i) => i === 0 || cell === "");
  return isTitle && /\p{L}{3}/u.test(title) ? plainHeader(title) : "";
}

/** Titles of money in, including a card's refunds and payments. */
const REFUNDS =
  /(?<!\p{L})(payments?|refunds?|returns?|zahlungen|erstattungen|paiements|remboursements|pagos|devoluciones|pagamenti|rimborsi|pagamentos|estornos|betalingen|terugbetalingen|zwroty|splaty|betalinger|refusjoner|inbetalningar|iadeler|odemeler)(?!\p{L})/u;
const CREDITS =
  /(?<!\p{L})(credits|deposits|refunds|returns|payments received|gutschriften|einzahlungen|erstattungen|remboursements|abonos|depositos|devoluciones|accrediti|rimborsi|creditos|estornos|bijschrijvingen|uznania|zwroty|krediteringar|insattningar|innskudd|krediteringer|iadeler|yatirilanlar)(?!\p{L})/u;

/** Whether most cells of a row are names of columns. */
function isHeaderLike({ cells }: CsvRow): boolean {
  const filled = cells.slice(0, MOST_CELLS).filter(Boolean).map((cell) => cut(cell, MAX_TITLE));
  if (filled.length < 3 || filled.some((cell) => readDate(cell) || readMoney(cell))) return false;
  return filled.filter((cell) => rolesOf(plainHeader(cell)).length > 0).length * 2 > filled.length;
}
