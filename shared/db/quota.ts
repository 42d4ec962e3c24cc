import { AppError } from "../errors.ts";

/** One draw from the bucket of a rate limit, as SQL takes it (`oauth.draw_quotas`). */
export interface Quota {
  /** Name of the limit and keyed hash of whom it is for. */
  key: string;
  at_most: number;
  /** Within these; an emptied bucket fills evenly over them. */
  seconds: number;
  /** A bucket that all callers share: this one then holds a part of what is left in that at most. */
  share_of?: Quota;
}

/** Where a client may be kept that nobody has authorized yet, as SQL takes it (`oauth.make_room`). */
export interface ClientRoom {
  /** Keyed hash of whom the client counts against; null for nobody. */
  caller: string | null;
  /** So many are kept in all. */
  at_most: number;
  /** For these a client keeps its place, even from others of its caller. */
  seconds: number;
}

/** What a call answers that was made too often. */
export interface Limited {
  outcome: "limited";
  /** Seconds. */
  retry_after: number;
}

/** What SQL may count by a grant, which it knows by itself. */
export type Allowance = Omit<Quota, "key">;

/** What a request of a client draws on: its caller's quotas for what is refused, its grant's allowance for what is given. */
export interface ClientLimits {
  caller: readonly Quota[];
  grant?: Allowance | undefined;
}

/** @returns the answer, unless it is that there were too many. @throws {AppError} `rate_limited`, with the time to wait. */
export function withinLimits<Answer extends object>(answer: Answer | Limited): Answer {
  if (!("outcome" in answer && answer.outcome === "limited")) return answer as Answer;
  throw new AppError("rate_limited", "There were too many requests in a short time. Wait before the next one.", {
    headers: { "retry-after": String((answer as Limited).retry_after) },
  });
}
