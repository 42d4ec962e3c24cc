/** Amounts in several currencies, in one line. */
import type { Sums } from "../../../shared/books/glance.ts";
import type { PageFormat } from "../../../shared/words/page_format.ts";

/** "€12.00 · $3.00", by currency. */
export const tellSums = (sums: Sums, format: PageFormat): string =>
  Object.entries(sums).toSorted(([one], [other]) => one < other ? -1 : 1)
    .map(([currency, amount]) => format.money(amount, currency)).join(" · ");
