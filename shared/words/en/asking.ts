/** Words of the forms in which a client asks its person. */
import { count } from "./phrases.ts";

interface Choice {
  name: string;
  amount?: string;
  currency?: string;
  date?: string;
  next_due?: string;
}

const priced = ({ name, amount, currency }: Choice) => amount ? `${name}, ${amount} ${currency}` : name;

export const asking = {
  bill: "Bill",
  bills: (bill: Choice): string => bill.next_due ? `${priced(bill)}, due ${bill.next_due}` : priced(bill),
  statement: (questions: number): string => `The statement has ${count(questions, "question")}.`,
  rows: (row: Choice): string => row.date ? `${priced(row)}, ${row.date}` : priced(row),
  options: {
    same: "The same",
    new: "A new one",
    transfer: "A transfer",
    true: "Negative amounts are spent",
    false: "Positive amounts are spent",
  },
  /** For authors of clients. */
  badState: "Invalid or expired requestState",
  badAnswers: "An answer isn't one of the form's options.",
};
