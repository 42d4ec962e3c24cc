/** `settle_up` and the balances of `get_context`: labels former members, who have no address. */
import * as z from "zod/mini";
import { presenter } from "../../../../shared/connector/tool.ts";
import type { Words } from "../../../../shared/words/words.ts";

export const Balance = z.object({ from: z.optional(z.string()), to: z.optional(z.string()) });
type Balance = z.infer<typeof Balance>;
const Settlement = z.object({ settlement: Balance, balances: z.array(Balance) });

const presentSettlement = ({ settlement, balances }: z.infer<typeof Settlement>, words: Words) => ({
  settlement: named(settlement, words),
  balances: presentBalances(balances, words),
});

export const presentBalances = (balances: readonly Balance[], words: Words) => balances.map((one) => named(one, words));

const named = ({ from, to, ...rest }: Balance, { labels }: Words) => ({
  from: from ?? labels.formerMember,
  to: to ?? labels.formerMember,
  ...rest,
});

export const answer = presenter(Settlement, presentSettlement);
