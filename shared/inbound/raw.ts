/**
 * The operator's own mail server. It posts each mail unchanged (`message/rfc822`), with the envelope's recipients in
 * `X-Recipients`. Its Authentication-Results count if they name the domain of `INBOUND_URL` (RFC 8601).
 */
import { hasBasicSecret, idByContent, type MailService } from "./service.ts";

const MAX_BYTES = 11 * 1024 * 1024;

export const raw: MailService = {
  maxBytes: MAX_BYTES,
  isKnown: hasBasicSecret,
  read: ({ headers, body }) =>
    Promise.resolve({
      providerId: idByContent(body),
      recipients: (headers.get("x-recipients") ?? "").split(","),
      raw: body,
    }),
};
