/**
 * Errors of calendar addresses as plain text, because apps read them and an error page would link to the secret
 * address.
 */
import type { RenderError } from "../../../shared/http/app.ts";
import { hasSecretPath } from "../../../shared/routes.ts";

/** @param otherwise the error handler of all other addresses. */
export const plainErrors = (otherwise: RenderError): RenderError => (error, c) =>
  hasSecretPath(c.req.path)
    ? c.text(`${c.get("reader").words.problems.codes[error.code].title}\n`, error.status, {
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    })
    : otherwise(error, c);
