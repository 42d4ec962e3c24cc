/** Forwards mail from the stack's SMTP port to the inbound-mail function, like an operator's own mail server. */
import { describeMail } from "../../shared/inbound/describe_mail.ts";
import type { InboundSettings } from "../../shared/inbound/inbound_url.ts";
import { FUNCTIONS_ORIGIN, type FunctionsHandler } from "../functions.ts";
import type { TakeMail } from "./smtp_sink.ts";

/**
 * Every mail counts as authenticated, because only programs on this machine can reach the port.
 * @returns a function that throws unless the inbound-mail function accepts the mail.
 */
export function handOverTo(functions: FunctionsHandler, settings: InboundSettings): TakeMail {
  return async (raw, recipients) => {
    const from = (await describeMail(raw, settings))?.sender.split("@")[1];
    const trace = [
      ...from ? [`Authentication-Results: ${settings.domain}; dmarc=pass header.from=${from}`] : [],
      `Received: from localhost (127.0.0.1) by ${settings.domain} with SMTP; ${new Date().toUTCString()}`,
    ];
    const response = await functions(
      new Request(`${FUNCTIONS_ORIGIN}/inbound-mail`, {
        method: "POST",
        headers: {
          "authorization": `Basic ${btoa(`${settings.user}:${settings.secrets[0]}`)}`,
          "content-type": "message/rfc822",
          "x-recipients": recipients.join(","),
        },
        body: new Blob([trace.map((line) => `${line}\r\n`).join(""), raw as BlobPart]),
      }),
    );
    await response.body?.cancel();
    if (!response.ok) throw new Error(`the door for mail answered ${response.status}`);
  };
}
