/**
 * Forms that a browser posts to a page: from this site, small, and urlencoded; and the token that ties one to the
 * person it was shown to.
 */
import type { Config } from "../config.ts";
import { cleanLine } from "../clean_text.ts";
import { AppError } from "../errors.ts";
import { readToken, signToken } from "../signed_token.ts";
import type { AppContext } from "./app.ts";
import { readText } from "./read_body.ts";

const LARGEST_BYTES = 16 * 1024;
/** Long enough for a page left open over a working day. */
const TOKEN_LIFETIME_MS = 12 * 3600_000;
const LABEL = "form";

/**
 * The fields of a posted form, each one clean line, which is all that our controls take; the first of a name wins.
 * @throws {AppError} `forbidden` from another site, `payload_too_large`, `unsupported_media_type`.
 */
export async function readForm(c: AppContext, config: Pick<Config, "siteUrl">): Promise<ReadonlyMap<string, string>> {
  refuseOtherSites(c, config);
  if (!/^application\/x-www-form-urlencoded\b/i.test(c.req.header("content-type") ?? "")) {
    throw new AppError("unsupported_media_type", "This page takes forms only.");
  }
  const fields = new Map<string, string>();
  for (const [name, value] of new URLSearchParams(await readText(c.req.raw, LARGEST_BYTES))) {
    if (!fields.has(name)) fields.set(name, cleanLine(value));
  }
  return fields;
}

/**
 * Browsers say where a form came from: `Sec-Fetch-Site` cannot be forged by a page. `Origin` is the word of older ones, and is
 * `null` for our own forms too, since our pages send no referrer (Fetch, "append a request Origin header"): then the form token decides.
 */
function refuseOtherSites(c: AppContext, config: Pick<Config, "siteUrl">): void {
  const site = c.req.header("sec-fetch-site");
  const origin = c.req.header("origin");
  const isOurs = site ? site === "same-origin" : !origin || origin === "null" || origin === config.siteUrl;
  if (!isOurs) throw new AppError("forbidden", "That form was sent from another website, so we did nothing with it.");
}

/** The value of the hidden field `form_token` on a page shown to this person. */
export function createFormToken(config: Pick<Config, "codeSecrets">, { userId, at }: { userId: string; at: Date }) {
  const expiresAt = new Date(at.getTime() + TOKEN_LIFETIME_MS);
  return signToken(config.codeSecrets, LABEL, { claims: { sub: userId }, expiresAt });
}

/** @throws {AppError} `forbidden` unless the form was shown to this person, lately. */
export async function requireFormToken(
  config: Pick<Config, "codeSecrets">,
  { form, userId, at }: { form: ReadonlyMap<string, string>; userId: string; at: Date },
): Promise<void> {
  const claims = await readToken(config.codeSecrets, LABEL, { token: form.get("form_token") ?? "", at });
  if (claims?.sub !== userId) {
    throw new AppError("forbidden", "That page was open for too long, or somebody else has signed in since.");
  }
}
