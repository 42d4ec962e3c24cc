/** Mails that say nothing, for what a transport makes of them. */
import type { OutgoingMail } from "../../../shared/mail/delivery.ts";

/** One to each address, which is also its id. */
export const mailsTo = (addresses: readonly string[]): OutgoingMail[] =>
  addresses.map((to, n) => ({
    id: to,
    to,
    subject: "s",
    text: "t",
    html: "h",
    messageId: `<${n}@x>`,
    headers: {},
  }));
