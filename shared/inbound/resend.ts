/**
 * Resend's webhook `email.received`, signed by Svix. It contains the mail's id, and a job fetches the mail from the API.
 * @see https://resend.com/docs/webhooks/emails/received
 */
import * as z from "zod/mini";
import { parseJson } from "../parse_json.ts";
import { isSignedWebhook } from "../webhooks/standard.ts";
import type { MailService } from "./service.ts";

const MAX_BYTES = 256 * 1024;
const ID = z.string().check(z.regex(/^[0-9a-f-]{36}$/));
const addresses = z._default(z.array(z.string()), []);

const Received = z.object({
  data: z.object({
    email_id: ID,
    /** The envelope's recipients. */
    received_for: addresses,
    to: addresses,
    cc: addresses,
    bcc: addresses,
  }),
});
const AnyEvent = z.object({ type: z.string() });

export const resend: MailService = {
  maxBytes: MAX_BYTES,
  isKnown: (headers) => headers.has("svix-signature"),
  // deno-lint-ignore require-await -- other services await here
  async read({ headers, body, at }, { secrets }) {
    const id = headers.get("svix-id") ?? "";
    const timestamp = headers.get("svix-timestamp") ?? "";
    const signatures = headers.get("svix-signature") ?? "";
    if (!isSignedWebhook({ id, timestamp, body }, { signatures, secrets, at })) return "unknown";
    const event = parseJson(new TextDecoder().decode(body));
    const { success, data: any } = AnyEvent.safeParse(event);
    // The webhook may subscribe to other events, so acknowledge them.
    if (success && any.type !== "email.received") return { providerId: id, recipients: [] };
    const received = Received.safeParse(event);
    if (!success || !received.success) return undefined;
    const { email_id: emailId, received_for: envelope, to, cc, bcc } = received.data.data;
    return {
      providerId: `resend:${emailId}`,
      recipients: envelope.length > 0 ? envelope : [...to, ...cc, ...bcc].map(plainAddress),
    };
  },
};

/** "a@b.example" of "Name <a@b.example>". */
const plainAddress = (text: string) => /<([^<>]{1,320})>\s*$/.exec(text.slice(-400))?.[1] ?? text;
