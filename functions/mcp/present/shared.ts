/** Labels former members, who have no address, in the shares of a payment or bill. */
import type { Shared } from "../../../shared/words/facts.ts";
import type { Words } from "../../../shared/words/words.ts";

/** @param row with `shared`: each person's part of a payment, or the split of a bill. Most rows have none. */
export function nameShared<Row extends { shared?: Shared | undefined }>(
  row: Row,
  { formerMember }: Words["labels"],
): Row {
  if (!row.shared) return row;
  const named = <Bearer extends { member?: string | undefined }>(bearers: readonly Bearer[]) =>
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
