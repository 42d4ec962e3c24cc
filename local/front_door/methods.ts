/** Methods that stop at the front door, since `fetch` cannot carry them or no route serves them. */
import { METHODS } from "../../shared/routes.ts";

/**
 * 405 with `Allow` (RFC 9110 §15.5.6), or undefined for a method that may pass. Nothing of the request comes back: TRACE would
 * show a script the cookies that it must not see.
 */
export function refuseMethod({ method }: Request, methods: readonly string[] = METHODS): Response | undefined {
  if (methods.includes(method)) return undefined;
  const allow = methods.join(", ");
  return new Response(`This address answers ${allow} only.\n`, { status: 405, headers: { allow } });
}
