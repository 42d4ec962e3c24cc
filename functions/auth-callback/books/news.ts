/** Why a click on the books page paid nothing, or the page from which the reader came (`?news=` after a redirect). */
export const NEWS = [
  "already",
  "changed",
  "refused",
  "role",
  "closed",
  "amount",
  "failed",
  "undone",
  "joined",
  "not_undone",
] as const;
export type News = (typeof NEWS)[number];

export const newsOf = (asked: string | undefined): News | undefined => NEWS.find((news) => news === asked);
