/**
 * Postmark's inbound webhook: JSON with the whole mail in `RawEmail`, which its setting "Include raw email content"
 * adds. It signs nothing, so its URL holds a user and a password.
 * @see https://postmarkapp.com/developer/webhooks/inbound-webhook
 */
import * as z from "zod/mini";
import { parseJson } from "../parse_json.ts";
import { hasBasicSecret, type MailService } from "./service.ts";

/** A mail twice: raw, and its attachments in base64. */
const MAX_BYTES = 25 * 1024 * 1024;

const Inbound = z.object({
  MessageID: z.string().check(z.regex(/^[\x21-\x7e]{1,100}$/)),
  /** Of the envelope, whatever the mail's own header says. */
  OriginalRecipient: z.string(),
  RawEmail: z.string(),
});

export const postmark: MailService = {
  maxBytes: MAX_BYTES,
  isKnown: hasBasicSecret,
  // deno-lint-ignore require-await -- others wait
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
