/** Failures of a calendar's address, in a line of text: an app reads them, and a page would link to the address. */
import type { RenderError } from "../../../shared/http/app.ts";
import { hasSecretPath } from "../../../shared/routes.ts";

/** @param otherwise how the failures of all other addresses are answered. */
export const plainErrors = (otherwise: RenderError): RenderError => (error, c) =>
  hasSecretPath(c.req.path)
    ? c.text(`${c.get("reader").words.problems.codes[error.code].title}\n`, error.status, {
      "cache-control": "no-store",
      "x-content-type-options": "nosniff",
    })
    : otherwise(error, c);
