/**
 * `POST /api/health/mail`: sends one mail through the configured mail service, to test that mail arrives. It requires
 * the scheduler's secret, and the mail contains only our own text.
 */
import { createHmac } from "node:crypto";
import type { Deps } from "../../shared/deps.ts";
import { AppError } from "../../shared/errors.ts";
import type { AppContext } from "../../shared/http/app.ts";
import { readText } from "../../shared/http/read_body.ts";
import { sendMail } from "../../shared/mail/send_mail.ts";
import { parseJson } from "../../shared/parse_json.ts";
import { wordsOf } from "../../shared/words/words.ts";

const MAX_BYTES = 1000;

/** Accepts `{"to": "<address>"}`; returns `{"ok": true, "mark": "…"}` with the mark in the mail. */
export async function sendTestMail(c: AppContext, deps: Pick<Deps, "config" | "fetch" | "clock">): Promise<Response> {
  const to = readAddress(await readText(c, MAX_BYTES));
  const at = deps.clock().toISOString();
  const { siteUrl, codeSecrets } = deps.config;
  // Signed, so that the recipient can verify which deployment wrote it, and when.
  const mark = createHmac("sha256", codeSecrets[0]!).update(`test-mail\n${to}\n${at}`).digest("hex").slice(0, 16);
  const { subject, text } = wordsOf("en").mails.testMail;
  await sendMail(deps, { to, subject, text: text({ site: siteUrl, at, mark }) });
  return c.json({ ok: true, mark }, 200, { "cache-control": "no-store" });
}

function readAddress(text: string): string {
  const to = (parseJson(text) as { to?: unknown } | null | undefined)?.to;
  if (typeof to !== "string" || to.length > 254 || !/^[^\s@<>",;:\\]+@[^\s@<>",;:\\]+$/.test(to)) {
    throw new AppError("invalid_request", 'The body is {"to": "<an email address>"}.');
  }
  return to;
}
