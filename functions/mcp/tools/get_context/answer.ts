/** `get_context`: puts recent changes into words. */
import * as z from "zod/mini";
import { presenter } from "../../../../shared/connector/tool.ts";
import { effectLines, tellEffects } from "../../../../shared/words/effects.ts";
import { tellAct } from "../../../../shared/words/approvals.ts";
import { ChangeFacts, presentChange } from "../../../../shared/words/change.ts";
import { EffectFacts } from "../../../../shared/words/facts.ts";
import type { Words } from "../../../../shared/words/words.ts";
import { Balance, presentBalances } from "../settle_up/answer.ts";

const RecentChange = z.extend(ChangeFacts, {
  by: z.optional(z.nullable(z.string())),
  is_page: z.optional(z.boolean()),
  effects: z.optional(z.array(EffectFacts)),
  effects_count: z.optional(z.number()),
});

const Context = z.object({
  categories: z.optional(z.array(z.object({ private: z.optional(z.boolean()) }))),
  proposals: z.optional(z.array(z.object({
    change: ChangeFacts,
    effects: z.array(EffectFacts),
    effects_count: z.number(),
  }))),
  balances: z.optional(z.array(Balance)),
  /** Returned with the balances. */
  settlements: z.optional(z.array(Balance)),
  recent_changes: z.optional(z.array(RecentChange)),
});

const presentContext = (
  { recent_changes, proposals, balances, settlements = [], categories, ...data }: z.infer<typeof Context>,
  words: Words,
) => ({
  ...data,
  ...(categories && {
    categories: categories.map((category) => ({
      ...category,
      ...(category.private && { private: words.labels.private }),
    })),
  }),
  ...(proposals && {
    proposals: proposals.map(({ change, effects, effects_count, ...proposal }) => ({
      ...proposal,
      wants_to: tellAct({ tool: change.tool, effects, effects_count }, words),
      effects: effectLines(tellEffects({ effects, effects_count }, words), words),
    })),
  }),
  ...(balances && {
    balances: presentBalances(balances, words),
    settlements: presentBalances(settlements, words),
  }),
  ...(recent_changes && {
    recent_changes: recent_changes.map(({ facts, effects = [], effects_count = 0, is_page, ...change }) => ({
      ...change,
      by: presentActor(change, words),
      // A client may have any name, including "page", so a change from a page reports no client.
      ...(is_page && { via: words.labels.site }),
      summary: presentChange({ tool: change.tool, facts }, words),
      ...(effects.length > 0 &&
        { effect: effectLines(tellEffects({ effects, effects_count }, words), words).join("; ") }),
    })),
  }),
});

/** The author of a change: the service itself, a member, or a former member. */
const presentActor = ({ tool, by }: Omit<z.infer<typeof RecentChange>, "facts">, { labels }: Words): string =>
  by ?? (tool === "autopay" || tool === "provider_sync" ? labels.automatic : labels.formerMember);

export const answer = presenter(Context, presentContext);
