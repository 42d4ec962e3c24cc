/** The current request in async context, so functions needn't pass it on. */
import { AsyncLocalStorage } from "node:async_hooks";

export interface CurrentRequest {
  readonly id: string;
  /** Its place among the running requests; only behind `admission`. */
  place?: { outside<Result>(wait: () => Promise<Result>): Promise<Result> };
  /** The time left for all its database calls; only while a page renders. */
  databaseMs?: number | undefined;
}

const current = new AsyncLocalStorage<CurrentRequest>();

/** Runs the work of a request. Tasks that the work starts belong to the request too, even after the response. */
export const withRequest = <Result>(request: CurrentRequest, work: () => Result): Result => current.run(request, work);

/** Undefined outside of a request. */
export const currentRequest = (): CurrentRequest | undefined => current.getStore();
