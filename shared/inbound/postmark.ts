/**
 * Postmark's inbound webhook: JSON with the whole mail in `RawEmail`, if its setting "Include raw email content" is on.
 * Postmark does not sign requests, so the webhook's URL contains a user and a password.
 * @see https://postmarkapp.com/developer/webhooks/inbound-webhook
 */
import * as z from "zod/mini";
import { parseJson } from "../parse_json.ts";
import { hasBasicSecret, type MailService } from "./service.ts";

/** The body contains a mail twice: raw, and as attachments in base64. */
const MAX_BYTES = 25 * 1024 * 1024;

const Inbound = z.object({
  MessageID: z.string().check(z.regex(/^[\x21-\x7e]{1,100}$/)),
  /** The envelope's recipients, which may differ from the header's. */
  OriginalRecipient: z.string(),
  RawEmail: z.string(),
});

export const postmark: MailService = {
  maxBytes: MAX_BYTES,
  isKnown: hasBasicSecret,
  // deno-lint-ignore require-await -- other services await here
  async read({ body }) {
    const { success, data } = Inbound.safeParse(parseJson(new TextDecoder().decode(body)));
    if (!success) return undefined;
    return {
      providerId: `postmark:${data.MessageID}`,
      recipients: data.OriginalRecipient.split(","),
      raw: new TextEncoder().encode(data.RawEmail),
    };
  },
};
