/**
 * The id of a request, from the front door to the database: in every log line, error page and tool error, in the
 * answer's `x-request-id`, and with every database call.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import { REQUEST_ID_HEADER } from "../routes.ts";

/** A UUID, with or without its hyphens: what our front door, Caddy and nginx make. */
const FORM = /^[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}$/;

/** Kept beside the call chain, so that no store has to hand it on. */
const current = new AsyncLocalStorage<string>();

/** The front door's id, or a new one. It opens nothing, so whose it is need not be proven. */
export function requestIdOf(headers: Headers): string {
  const given = headers.get(REQUEST_ID_HEADER);
  return given !== null && FORM.test(given) ? given : crypto.randomUUID();
}

/** Runs the work of a request; what it starts is of that request too, also after the answer. */
export const withRequestId = <Result>(id: string, work: () => Result): Result => current.run(id, work);

/** Undefined outside of a request. */
export const currentRequestId = (): string | undefined => current.getStore();
