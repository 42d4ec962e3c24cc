/** Amounts in several currencies, sorted by currency. */
import type { Sums } from "../../../shared/books/glance.ts";
import type { PageFormat } from "../../../shared/words/page_format.ts";

/** "€12.00" and "$3.00". */
export const listSums = (sums: Sums, format: PageFormat): string[] =>
  Object.entries(sums).toSorted(([one], [other]) => one < other ? -1 : 1)
    .map(([currency, amount]) => format.money(amount, currency));

/** "€12.00 · $3.00" */
export const tellSums = (sums: Sums, format: PageFormat): string => listSums(sums, format).join(" · ");
