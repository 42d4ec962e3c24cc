/**
 * Mailgun's route to an address that ends in "mime": a form with the whole mail in `body-mime`. The signature is a field
 * of the form, so the form is parsed before the check. The signature covers a token that is valid once.
 * @see https://documentation.mailgun.com/docs/mailgun/user-manual/receive-forward-store/receive-http
 */
import { importSecrets, isSigned } from "../billing/signature.ts";
import type { MailService } from "./service.ts";

const MAX_BYTES = 12 * 1024 * 1024;
/** Mailgun retries a delivery for eight hours. */
const OLDEST_MS = 9 * 60 * 60_000;
const AHEAD_MS = 5 * 60_000;

export const mailgun: MailService = {
  maxBytes: MAX_BYTES,
  isKnown: (headers) =>
    /^(?:multipart\/form-data|application\/x-www-form-urlencoded)\b/i.test(headers.get("content-type") ?? ""),
  async read({ headers, body, at }, { secrets }) {
    const type = headers.get("content-type")!;
    const form = await new Response(body as Uint8Array<ArrayBuffer>, { headers: { "content-type": type } }).formData()
      .catch(() => undefined);
    if (!form) return "unknown";
    const text = (name: string) => {
      const values = form.getAll(name);
      return values.length === 1 && typeof values[0] === "string" ? values[0] : "";
    };
    const [timestamp, token, signature] = [text("timestamp"), text("token"), text("signature")];
    const age = at.getTime() - Number(timestamp) * 1000;
    if (!/^\d{1,12}$/.test(timestamp) || !/^[0-9a-zA-Z]{20,100}$/.test(token) || age > OLDEST_MS || age < -AHEAD_MS) {
      return "unknown";
    }
    const signed = new TextEncoder().encode(timestamp + token);
    if (!await isSigned(signed, { signature, keys: await importSecrets(secrets) })) return "unknown";
    const [mail] = form.getAll("body-mime");
    if (!mail) return undefined;
    return {
      providerId: `mailgun:${token}`,
      recipients: text("recipient").split(","),
      raw: typeof mail === "string" ? new TextEncoder().encode(mail) : new Uint8Array(await mail.arrayBuffer()),
    };
  },
};
