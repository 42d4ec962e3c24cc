/** Why a click on the books page paid nothing, or which page the reader came from (`?news=` after a redirect). */
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
