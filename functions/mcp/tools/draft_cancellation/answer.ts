/** `draft_cancellation`: the letter or mail, its missing facts, and the next step. */
import * as z from "zod/mini";
import { presenter } from "../../../../shared/connector/tool.ts";
import { type LetterFacts, missingIn } from "../../../../shared/words/letters.ts";
import { Bill, presentBill } from "../../present/bill.ts";

const Letter = z.object({
  language: z.enum(["de", "en"]),
  today: z.string(),
  name: z.string(),
  payee: z.optional(z.string()),
  ends_on: z.optional(z.string()),
  is_in_time: z.optional(z.boolean()),
  /** Whether the books expect further due dates of the bill. */
  is_active: z.optional(z.boolean()),
  cancel_by: z.optional(z.string()),
  form: z.optional(z.enum(["letter", "email", "online", "any"])),
  address: z.optional(z.string()),
  customer_number: z.optional(z.string()),
  sender: z.optional(z.string()),
  words: z.optional(z.string()),
});

export const answer = presenter(
  z.object({ bill: Bill, letter: Letter }),
  ({ bill, letter, ...data }, words) => {
    const { subject, body } = words.letters[letter.language](letter as LetterFacts);
    const { form, cancel_by, ends_on, address } = letter;
    return {
      ...data,
      bill: presentBill(bill, words),
      letter: {
        language: letter.language,
        ...(form && { form }),
        ...(address && { send_to: address }),
        subject,
        text: body,
        ...(ends_on && { ends_on }),
        ...(cancel_by && { arrives_by: cancel_by }),
      },
      missing: missingIn(letter as LetterFacts).map((one) => words.missingInLetter[one]),
      next: words.afterDraft({
        name: letter.name,
        form,
        cancel_by,
        today: letter.today,
        isActive: letter.is_active ?? true,
      }),
    };
  },
);
