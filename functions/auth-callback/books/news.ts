/** What a press on the page of the books came to (`?news=` after a redirect), when nothing was paid. */
export const NEWS = [
  "already",
  "changed",
  "refused",
  "role",
  "closed",
  "amount",
  "failed",
  "undone",
  "not_undone",
] as const;
export type News = (typeof NEWS)[number];

export const newsOf = (asked: string | undefined): News | undefined => NEWS.find((news) => news === asked);
