/** Names former members, who have no address any more, where something `shared` says who bears it. */
import type { Facts } from "../../../shared/words/message.ts";
import type { Words } from "../../../shared/words/words.ts";

/** @param row whose `shared` is what each bears of a payment, or how a bill is split; most rows have none. */
export function nameShared(row: Facts, { formerMember }: Words["labels"]): Facts {
  if (!row.shared) return row;
  const named = (bearers: Facts[]) =>
    bearers.map(({ member, ...bearer }) => ({ member: member ?? formerMember, ...bearer }));
  const { paid_by, shares, between, ...shared } = row.shared;
  return {
    ...row,
    shared: {
      ...shared,
      ...(shares && { paid_by: paid_by ?? formerMember, shares: named(shares) }),
      ...(between && { between: named(between) }),
    },
  };
}
