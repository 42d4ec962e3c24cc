/**
 * Ties a form to the browser that it was shown in, where no session can: a signed double-submit token. The cookie is random and, by its
 * `__Host-` prefix, out of a sibling subdomain's reach; the field is a signature of the cookie, so neither can be made up.
 */
import { Buffer } from "node:buffer";
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import { parse, serialize } from "hono/utils/cookie";
import type { Config } from "../config.ts";
import { AppError } from "../errors.ts";
import { keyedHash } from "../signed_token.ts";
import type { AppContext } from "./app.ts";

/** Of the hidden field. */
export const BROWSER_TOKEN = "browser_token";
const LABEL = "browser-form/v1";
const utf8 = new TextEncoder();

type Keys = Pick<Config, "siteUrl" | "codeSecrets">;

const isSecure = ({ siteUrl }: Keys) => siteUrl.startsWith("https:");
/** Browsers refuse the prefix over http, which only loopback uses. */
export const browserCookie = (config: Keys) => isSecure(config) ? "__Host-browser" : "browser";

/** The value of the field, for every form of a page alike. Sets the cookie in a browser that has none; tabs share the one that is there. */
export async function createBrowserToken(c: AppContext, config: Keys): Promise<string> {
  return await tokenOf(config.codeSecrets[0]!, await digestOf(keptCookie(c, config) ?? setCookie(c, config)));
}

/**
 * @param isVouchedFor the browser itself says that the form is ours. Two tabs that open at the same moment both set the cookie and one of them
 * loses it: its form then still counts.
 * @throws {AppError} `forbidden` without the cookie, or unless the form was shown in this browser.
 */
export async function requireBrowserToken(
  c: AppContext,
  config: Keys,
  { form, isVouchedFor }: { form: ReadonlyMap<string, string>; isVouchedFor: boolean },
): Promise<void> {
  const cookie = keptCookie(c, config);
  if (!cookie) {
    throw new AppError("forbidden", "no browser cookie", { says: ({ cookiesNeeded }) => cookiesNeeded });
  }
  const token = form.get(BROWSER_TOKEN) ?? "";
  const shownIn = token.split(".")[0]!;
  const expected = await Promise.all(config.codeSecrets.map((secret) => tokenOf(secret, shownIn)));
  const isOurs = expected.some((one) =>
    one.length === token.length && timingSafeEqual(utf8.encode(one), utf8.encode(token))
  );
  if (!isOurs || (!isVouchedFor && shownIn !== await digestOf(cookie))) {
    throw new AppError("forbidden", "browser token of another browser", { says: ({ pageOutOfDate }) => pageOutOfDate });
  }
}

const tokenOf = async (secret: string, digest: string) => `${digest}.${await keyedHash([secret], LABEL, digest)}`;

/** So that the page does not hold the cookie itself. */
const digestOf = (cookie: string) => keyedHash([cookie], LABEL, "");

/** As the browser sent it, or as it leaves with this answer. */
function keptCookie(c: AppContext, config: Keys): string | undefined {
  const name = browserCookie(config);
  const value = [c.req.header("cookie") ?? "", ...c.get("cookies")].map((line) => parse(line, name)[name]).find(
    Boolean,
  );
  return value && /^[\w-]{43}$/.test(value) ? value : undefined;
}

function setCookie(c: AppContext, config: Keys): string {
  const value = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString("base64url");
  const options = { path: "/", httpOnly: true, secure: isSecure(config), sameSite: "Lax" } as const;
  c.get("cookies").push(serialize(browserCookie(config), value, options));
  return value;
}
