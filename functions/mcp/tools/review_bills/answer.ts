/** `review_bills`: writes a sentence for each finding. */
import * as z from "zod/mini";
import { presenter } from "../../../../shared/connector/tool.ts";
import { Question, Told } from "../../../../shared/words/facts.ts";
import type { Words } from "../../../../shared/words/words.ts";
import { presentQuestion } from "../../present/bill.ts";

const Findings = z.array(z.looseObject({ needs_review: z.optional(Question) }));

const Review = z.object({
  overdue: Findings,
  price_rises: Findings,
  unusual_amounts: Findings,
  possible_duplicates: Findings,
  double_charges: Findings,
  trials_ending: Findings,
  trials_charged: Findings,
  cancel_by: Findings,
  charged_after_end: Findings,
  savings: Findings,
  recurring_charges: Findings,
  stopped_charges: Findings,
  provider_attention: Findings,
});

const presentReview = (data: z.infer<typeof Review>, { findings }: Words): Told => ({
  ...data,
  ...Object.fromEntries(
    Object.entries(findings).map(([section, say]) => [
      section,
      data[section as keyof typeof findings].map((finding) => {
        const { schedule: _, missing_period: __, needs_review, ...told } = finding;
        return {
          ...told,
          ...(needs_review && { needs_review: presentQuestion(needs_review) }),
          text: say(finding as never),
        };
      }),
    ]),
  ),
});

export const answer = presenter(Review, presentReview);
