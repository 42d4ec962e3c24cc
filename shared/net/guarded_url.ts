/**
 * Decides which URLs from other people may be fetched: https on the default port, at a host with a public name. The
 * fetch itself checks the addresses behind the name (guarded_fetch.ts).
 */

export type UrlRefusal =
  | "not_a_url"
  | "not_https"
  | "has_credentials"
  | "has_fragment"
  | "other_port"
  | "ip_address"
  | "host_malformed"
  | "host_not_public"
  | "host_refused";

export type JudgedUrl = { ok: true; url: URL } | { ok: false; reason: UrlRefusal };

/**
 * Names with a meaning only on a local network or machine (RFC 6761, RFC 6762, RFC 8375, RFC 9476, ICANN's reserved
 * `.internal`).
 */
const LOCAL_DOMAINS = ["internal", "local", "localhost", "localdomain", "arpa", "alt", "onion", "test", "invalid"];

/** The platform's own domains: requests there would reach this service, or neighbours who trust it. */
const PLATFORM_DOMAINS = ["supabase.co", "supabase.red", "supabase.in", "supabase.net"];

/** Hosts that we never contact, including their subdomains: our own, from the configuration, and the platform's. */
export function refusedHosts({ siteUrl, supabaseUrl }: { siteUrl: string; supabaseUrl: string }): string[] {
  const own = [siteUrl, supabaseUrl].filter((url) => URL.canParse(url)).map((url) => new URL(url).hostname);
  return [...own, ...PLATFORM_DOMAINS];
}

/** @param options.refusedHosts hosts that must never be contacted, including their subdomains. */
export function judgeUrl(text: string, { refusedHosts }: { refusedHosts: readonly string[] }): JudgedUrl {
  const refuse = (reason: UrlRefusal): JudgedUrl => ({ ok: false, reason });
  if (!/^[\x21-\x7e]+$/.test(text) || !URL.canParse(text)) return refuse("not_a_url");
  const url = new URL(text);
  if (url.protocol !== "https:") return refuse("not_https");
  // Checked on the text, because the parser accepts missing and extra slashes and backslashes, and drops empty parts.
  const [, authority] = /^https:\/\/([^/?#]+)/i.exec(text) ?? [];
  if (authority === undefined || text.includes("\\")) return refuse("not_a_url");
  if (authority.includes("@") || url.username || url.password) return refuse("has_credentials");
  if (text.includes("#")) return refuse("has_fragment");
  if (url.port !== "") return refuse("other_port");

  // The parser has normalized every IPv4 notation (octal, hexadecimal, shortened, escaped) to four decimal numbers.
  const host = url.hostname;
  if (host.startsWith("[") || /^\d+(\.\d+){3}$/.test(host)) return refuse("ip_address");
  if (!isHostName(host)) return refuse("host_malformed");
  if (!host.includes(".") || isWithin(host, LOCAL_DOMAINS)) return refuse("host_not_public");
  if (isWithin(host, refusedHosts)) return refuse("host_refused");
  return { ok: true, url };
}

/**
 * RFC 1123 §2.1, in lower case as the URL parser leaves it. No trailing dot, which would be a second spelling of the
 * name.
 */
export function isHostName(host: string): boolean {
  return host.length <= 253 && host.split(".").every((label) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(label));
}

const isWithin = (host: string, domains: readonly string[]) =>
  domains.some((domain) => host === domain || host.endsWith(`.${domain}`));
