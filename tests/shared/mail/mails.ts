/** Sample mails for testing transports. */
import type { OutgoingMail } from "../../../shared/mail/delivery.ts";

/** One mail per address, with the address as its id. */
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
