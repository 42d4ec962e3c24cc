/** `review_bills`: writes a sentence for each finding. */
import type { Facts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";
import { presentQuestion } from "./bill.ts";

export const presentReview = (data: Facts, { findings }: Words): Facts => ({
  ...data,
  ...Object.fromEntries(
    Object.entries(findings).map(([section, say]) => [
      section,
      data[section].map((finding: Facts) => {
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
