import * as z from "zod/mini";
import { outcome } from "../outcome.ts";
import { AppError } from "../errors.ts";

/** One draw from the bucket of a rate limit, in the form that SQL expects (`oauth.draw_quotas`). */
export interface Quota {
  /** Name of the limit and keyed hash of its subject. */
  key: string;
  at_most: number;
  /** The window; an empty bucket refills evenly over it. */
  seconds: number;
  /** Limits a caller to a fraction of the rest of this shared bucket. */
  share_of?: Quota;
}

/** Limits on storing clients that nobody has authorized yet, in the form that SQL expects (`oauth.make_room`). */
export interface ClientRoom {
  /** Keyed hash of the caller that the client counts against; null if unknown. */
  caller: string | null;
  /** The maximum number of stored clients. */
  at_most: number;
  /** How long a client keeps its slot, even against other clients of the same caller. */
  seconds: number;
}

/** The result of a rate-limited call. */
export const Limited = outcome(["limited"], {
  /** Seconds. */
  retry_after: z.int(),
});
export type Limited = z.infer<typeof Limited>;

/** A quota whose subject SQL determines itself, from the grant. */
export type Allowance = Omit<Quota, "key">;

/** Limits of a client's request: its caller's quotas apply to refusals, its grant's allowance to successes. */
export interface ClientLimits {
  caller: readonly Quota[];
  grant?: Allowance | undefined;
}

/** @returns the result unless it is `limited`. @throws {AppError} `rate_limited`, with the seconds to wait */
export function withinLimits<Answer extends object>(answer: Answer | Limited): Exclude<Answer, Limited> {
  if (!("outcome" in answer && answer.outcome === "limited")) return answer as Exclude<Answer, Limited>;
  const { retry_after: seconds } = answer as Limited;
  throw new AppError("rate_limited", "Too many requests. Wait before the next one.", {
    headers: { "retry-after": String(seconds) },
    says: ({ tooManyRequests }) => tooManyRequests(seconds),
  });
}
