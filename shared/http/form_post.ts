/**
 * Validates form posts: same site, small, urlencoded, and with a token bound to the signed-in person or, where no
 * sign-in is needed, to the browser.
 */
import type { Config } from "../config.ts";
import { cleanLine } from "../clean_text.ts";
import { AppError } from "../errors.ts";
import { readToken, signToken } from "../signed_token.ts";
import type { AppContext } from "./app.ts";
import { requireBrowserToken } from "./browser_token.ts";
import { readText } from "./read_body.ts";

const LARGEST_BYTES = 16 * 1024;
/** Long enough for a page left open for a working day. */
const TOKEN_LIFETIME_MS = 12 * 3600_000;
const LABEL = "form";

/**
 * The fields of a posted form, each cleaned to one line; the first value of a repeated name wins.
 * @throws {AppError} `forbidden` from another site, `payload_too_large`, `unsupported_media_type`.
 */
export async function readForm(c: AppContext, config: Pick<Config, "siteUrl">): Promise<ReadonlyMap<string, string>> {
  refuseOtherSites(c, config);
  if (!/^application\/x-www-form-urlencoded\b/i.test(c.req.header("content-type") ?? "")) {
    throw new AppError("unsupported_media_type", "not a form");
  }
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(await readText(c, LARGEST_BYTES))) {
    if (!fields.has(name)) fields.set(name, cleanLine(value));
  }
  return fields;
}

/**
 * The same for forms without a session, which must contain the browser's token.
 * @throws {AppError} also `forbidden` when that token is missing or another browser's.
 */
export async function readVisitorForm(
  c: AppContext,
  config: Pick<Config, "siteUrl" | "codeSecrets">,
): Promise<ReadonlyMap<string, string>> {
  const form = await readForm(c, config);
  await requireBrowserToken(c, config, { form, isVouchedFor: c.req.header("sec-fetch-site") === "same-origin" });
  return form;
}

/**
 * Refuses cross-site posts. A page cannot forge `Sec-Fetch-Site`; older browsers send only `Origin`, which is ours on
 * our own forms (see the referrer policy in layout.tsx) and `null` when hidden. Without either, the form token decides.
 * @throws {AppError} `forbidden`
 */
export function refuseOtherSites(c: AppContext, config: Pick<Config, "siteUrl">): void {
  const site = c.req.header("sec-fetch-site");
  const origin = c.req.header("origin");
  const isOurs = site ? site === "same-origin" : !origin || origin === config.siteUrl;
  if (!isOurs) throw new AppError("forbidden", "form of another site", { says: ({ otherSite }) => otherSite });
}

/** The value of the hidden field `form_token` on this person's pages. */
export function createFormToken(config: Pick<Config, "codeSecrets">, { userId, at }: { userId: string; at: Date }) {
  const expiresAt = new Date(at.getTime() + TOKEN_LIFETIME_MS);
  return signToken(config.codeSecrets, LABEL, { claims: { sub: userId }, expiresAt });
}

/** @throws {AppError} `forbidden` unless this person saw the form recently. */
export async function requireFormToken(
  config: Pick<Config, "codeSecrets">,
  { form, userId, at }: { form: ReadonlyMap<string, string>; userId: string; at: Date },
): Promise<void> {
  const claims = await readToken(config.codeSecrets, LABEL, { token: form.get("form_token") ?? "", at });
  if (claims?.sub !== userId) {
    throw new AppError("forbidden", "form token missing, expired or not theirs", {
      says: ({ pageTooOld }) => pageTooOld,
    });
  }
}
