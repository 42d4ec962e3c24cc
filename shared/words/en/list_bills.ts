/** Words of `list_bills`, and of every tool that takes a bill's id. */
import type { ShareNote } from "../facts.ts";
import type { Refusal } from "../message.ts";
import { count, money, names } from "./phrases.ts";

/** A percentage that the books only keep. "My" would be wrong for all but one of their readers. */
export const shareNote = ({ percent, amount, currency }: ShareNote): string =>
  `A note, for nobody in particular: ${percent}%${amount ? `, ${money({ amount, currency })}` : ""}. ` +
  "Payments, totals and balances count the whole amount.";

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
