/** `settle_up` and the balances of `get_context`: labels former members, who have no address. */
import type { Facts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";

export const presentSettlement = ({ settlement, balances }: Facts, words: Words): Facts => ({
  settlement: named(settlement, words),
  balances: presentBalances(balances, words),
});

/** @param balances `{from?, to?, …}`, as the database returns them. */
export const presentBalances = (balances: Facts[], words: Words): Facts[] => balances.map((one) => named(one, words));

const named = ({ from, to, ...rest }: Facts, { labels }: Words): Facts => ({
  from: from ?? labels.formerMember,
  to: to ?? labels.formerMember,
  ...rest,
});
