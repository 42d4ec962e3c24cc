/** `get_context`: puts recent changes into words. */
import type { Facts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";
import { effectLines, tellEffects } from "../../../shared/words/effects.ts";
import { tellAct } from "../../../shared/words/approvals.ts";
import { presentChange } from "../../../shared/words/change.ts";
import { presentBalances } from "./settle_up.ts";

export const presentContext = (
  { recent_changes, proposals, balances, settlements, categories, ...data }: Facts,
  words: Words,
): Facts => ({
  ...data,
  ...(categories && {
    categories: categories.map((category: Facts) => ({
      ...category,
      ...(category.private && { private: words.labels.private }),
    })),
  }),
  ...(proposals && {
    proposals: proposals.map(({ change, effects, effects_count, ...proposal }: Facts) => ({
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
    recent_changes: recent_changes.map(({ facts, effects = [], effects_count, is_page, ...change }: Facts) => ({
      ...change,
      by: presentActor(change, words),
      // A client may have any name, so pages are not reported as a client.
      ...(is_page && { via: words.labels.site }),
      summary: presentChange({ tool: change.tool, facts }, words),
      ...(effects.length > 0 &&
        { effect: effectLines(tellEffects({ effects, effects_count }, words), words).join("; ") }),
    })),
  }),
});

/** Who made a change: the service itself, a member, or a former member. */
const presentActor = ({ tool, by }: Facts, { labels }: Words): string =>
  by ?? (tool === "autopay" || tool === "provider_sync" ? labels.automatic : labels.formerMember);
