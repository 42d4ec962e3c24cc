/** Words of `list_bills`, and of every tool that accepts a bill's id or changes several of its dates. */
import type { ShareNote } from "../facts.ts";
import type { Refusal } from "../message.ts";
import { count, money, names } from "./phrases.ts";

interface Dates {
  name: string;
  dates: [string, ...string[]];
}

/** A percentage that no total counts. Not called "my", because several people read it. */
export const shareNote = ({ percent, amount, currency }: ShareNote): string =>
  `A note: ${percent}%${amount ? `, ${money({ amount, currency })}` : ""}. ` +
  "Payments, totals and balances count the whole amount.";

export const refusals = {
  "not_found.bill": ({ id, organization }: { id: string; organization: string }): Refusal => ({
    message: `There is no bill ${id} in ${organization}.`,
    hint: "Find the bill with list_bills.",
  }),
};

export const warnings = {
  "renewal_unmoved": (
    { name, renews_on, cancel_by }: { name: string; renews_on: string; cancel_by?: string },
  ): string =>
    `${name} still renews on ${renews_on}${
      cancel_by ? `, to be cancelled by ${cancel_by}` : ""
    }: a new date of payment ` +
    "does not move the contract. If the contract's term changed too, set renews_on.",
  "rate_missing.of_bills": ({ currencies, into }: { currencies: string[]; into: string }): string =>
    `No exchange rate to ${into} is known today for ${
      names(currencies, { most: 10 })
    }; the totals in ${into} leave these amounts out.`,
  "amount_missing.of_dates": ({ count: dates }: { count: number }): string =>
    `${count(dates, "due date")} ${dates === 1 ? "has no amount yet and is" : "have no amount yet and are"} ` +
    "not in the totals.",
  "applies_later.paid": ({ name, dates }: Dates): string =>
    `The payments of ${name} for ${names(dates, { most: 12 })} keep their amounts. If the bank took the new one, ` +
    `correct each with mark_bill_paid, due_on and amount.`,
  "still_skipped": ({ name, dates: [first, ...more] }: Dates): string =>
    `${names([first, ...more], { most: 12 })} of ${name} ${
      more.length ? "were skipped before and stay" : "was skipped before and stays"
    } skipped. To bring a date back, call update_bill with occurrence {"due_on": "${first}", "action": "reopen"}` +
    `${more.length ? ", once for each" : ""}.`,
};
