/** Words of `list_bills`, and of every tool that takes a bill's id. */
import type { Refusal } from "../message.ts";
import { count, names } from "./phrases.ts";

export const refusals = {
  "not_found.bill": ({ id, organization }: { id: string; organization: string }): Refusal => ({
    message: `There is no bill ${id} in ${organization}.`,
    hint: "Find the bill with list_bills.",
  }),
};

export const warnings = {
  "rate_missing.of_bills": ({ currencies, into }: { currencies: string[]; into: string }): string =>
    `No exchange rate to ${into} is known today for ${
      names(currencies, { most: 10 })
    }; the totals in ${into} leave these amounts out.`,
  "amount_missing.of_dates": ({ count: dates }: { count: number }): string =>
    `${count(dates, "due date")} ${dates === 1 ? "has no amount yet and is" : "have no amount yet and are"} ` +
    "not in the totals.",
};
