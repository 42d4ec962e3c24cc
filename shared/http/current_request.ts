/** The request that is being answered. Kept beside the call chain, so that no function has to hand it on. */
import { AsyncLocalStorage } from "node:async_hooks";

export interface CurrentRequest {
  readonly id: string;
  /** Its place among the requests that run; only behind `admission`. */
  place?: { outside<Result>(wait: () => Promise<Result>): Promise<Result> };
  /** How long its database calls may still take together; only while a page is made. */
  databaseMs?: number | undefined;
}

const current = new AsyncLocalStorage<CurrentRequest>();

/** Runs the work of a request; what it starts is of that request too, also after the answer. */
export const withRequest = <Result>(request: CurrentRequest, work: () => Result): Result => current.run(request, work);

/** Undefined outside of a request. */
export const currentRequest = (): CurrentRequest | undefined => current.getStore();
