/** Methods rejected by the front door, because `fetch` cannot send them or no route serves them. */
import { METHODS } from "../../shared/routes.ts";

/**
 * 405 with `Allow` (RFC 9110 §15.5.6), or undefined for an allowed method. The response echoes no part of the request,
 * because TRACE would reveal cookies to scripts.
 */
export function refuseMethod({ method }: Request, methods: readonly string[] = METHODS): Response | undefined {
  if (methods.includes(method)) return undefined;
  const allow = methods.join(", ");
  return new Response(`This address supports ${allow} only.\n`, { status: 405, headers: { allow } });
}
