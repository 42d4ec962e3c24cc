/** The mail services by scheme of `INBOUND_URL`. */
import type { InboundKind } from "./inbound_url.ts";
import { mailgun } from "./mailgun.ts";
import { postmark } from "./postmark.ts";
import { raw } from "./raw.ts";
import { resend } from "./resend.ts";
import type { MailService } from "./service.ts";

export const MAIL_SERVICES: Record<InboundKind, MailService> = { mailgun, postmark, raw, resend };
