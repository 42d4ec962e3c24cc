/**
 * Binds a form without a session to its browser: a signed double-submit token. The cookie is random, and its `__Host-`
 * prefix prevents sibling subdomains from setting it. The field is a signature of the cookie, so nobody can forge
 * either.
 */
import { Buffer } from "node:buffer";
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import { parse, serialize } from "hono/utils/cookie";
import type { Config } from "../config.ts";
import { AppError } from "../errors.ts";
import { keyedHash } from "../signed_token.ts";
import type { AppContext } from "./app.ts";

/** Name of the hidden field. */
export const BROWSER_TOKEN = "browser_token";
const LABEL = "browser-form/v1";
const utf8 = new TextEncoder();

type Keys = Pick<Config, "siteUrl" | "codeSecrets">;

const isSecure = ({ siteUrl }: Keys) => siteUrl.startsWith("https:");
/** Browsers reject the prefix over http, which only loopback uses. */
export const browserCookie = (config: Keys) => isSecure(config) ? "__Host-browser" : "browser";

/**
 * The value of the field, the same for every form of a page. Sets the cookie in a browser without one; tabs share it.
 */
export async function createBrowserToken(c: AppContext, config: Keys): Promise<string> {
  return await tokenOf(config.codeSecrets[0]!, await digestOf(keptCookie(c, config) ?? setCookie(c, config)));
}

/**
 * @param isVouchedFor whether the browser itself proves the form's origin. If two tabs open at the same moment, both
 * set the cookie and one loses; its form is still accepted.
 * @throws {AppError} `forbidden` without the cookie, or when another browser showed the form.
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

/** Hashed so that the page does not contain the cookie itself. */
const digestOf = (cookie: string) => keyedHash([cookie], LABEL, "");

/** The cookie from the browser, or the one that this response sets. */
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
