/**
 * Mailgun's route to an address that ends in "mime": a form with the whole mail in `body-mime`. The signature is a
 * form field, so a form with few fields is parsed before the check. The signature covers a token, not the mail, so an
 * organization accepts one mail per token.
 * @see https://documentation.mailgun.com/docs/mailgun/user-manual/receive-forward-store/receive-http
 */
import { Buffer } from "node:buffer";
import { importSecrets, isSigned } from "../billing/signature.ts";
import type { MailService } from "./service.ts";

const MAX_BYTES = 12 * 1024 * 1024;
/** Mailgun sends about twenty. Parsing more would let a stranger's request cost much time. */
const MOST_FIELDS = 200;
/** Mailgun retries a delivery for eight hours. */
const OLDEST_MS = 9 * 60 * 60_000;
const AHEAD_MS = 5 * 60_000;

export const mailgun: MailService = {
  maxBytes: MAX_BYTES,
  isKnown: (headers) => markOf(headers) !== undefined,
  async read({ headers, body, at }, { secrets }) {
    if (occursOften(body, markOf(headers)!)) return "unknown";
    const type = headers.get("content-type")!;
    const form = await new Response(body as BodyInit, { headers: { "content-type": type } }).formData()
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

/** @returns the delimiter of a form's fields; undefined for another body. */
function markOf(headers: Headers): string | undefined {
  const type = headers.get("content-type") ?? "";
  const [, , boundary] = /^multipart\/form-data;\s{0,9}boundary=("?)([\w'()+,./:=?-]{1,70})\1$/i.exec(type) ?? [];
  if (boundary) return `--${boundary}`;
  return /^application\/x-www-form-urlencoded\b/i.test(type) ? "&" : undefined;
}

function occursOften(body: Uint8Array, mark: string): boolean {
  const bytes = Buffer.from(body.buffer as ArrayBuffer, body.byteOffset, body.byteLength);
  let at = -1;
  for (let count = 0; count <= MOST_FIELDS; count++) {
    at = bytes.indexOf(mark, at + 1);
    if (at < 0) return false;
  }
  return true;
}
