/** One draw from the bucket of a rate limit, as SQL takes it (`oauth.draw_quotas`). */
export interface Quota {
  /** Name of the limit and keyed hash of whom it is for. */
  key: string;
  at_most: number;
  /** Within these; an emptied bucket fills evenly over them. */
  seconds: number;
}

/** What a call answers that was made too often. */
export interface Limited {
  outcome: "limited";
  /** Seconds. */
  retry_after: number;
}
