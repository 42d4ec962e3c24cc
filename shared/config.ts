/**
 * Resolves the environment once into typed data. It reports all missing and malformed variables at once, and never
 * prints a value.
 */
import { CHATGPT_FILE_HOSTS } from "./chatgpt_file_hosts.ts";
import { type InboundSettings, parseInboundUrl } from "./inbound/inbound_url.ts";

/** Rate limit overrides by limit name, or all limits on or off. */
export type RateLimits = "on" | "off" | Readonly<Record<string, number>>;

export interface Config {
  /** Public base URL without a trailing slash; the issuer, resource, redirects and links derive from it. */
  siteUrl: string;
  /** Base URL of the platform's APIs, without a trailing slash. */
  supabaseUrl: string;
  /** Key of the identity provider's public API. */
  publishableKey: string;
  /** Privileged database key; never leaves the functions. */
  serviceRoleKey: string;
  /** Signing keys of all our tokens; the first signs, all verify. */
  codeSecrets: readonly string[];
  cronSecrets: readonly string[];
  /** Authenticates the front door's client-IP header. If empty, the functions ignore the header. */
  frontDoorSecrets: readonly string[];
  /** When empty, the webhook returns 503. */
  paymentWebhookSecrets: readonly string[];
  /** Base64 AES-256 master keys of provider credentials; the first encrypts, all decrypt. */
  credentialsKeys: readonly string[];
  mailUrl?: string;
  mailFrom?: string;
  /** The mail service for forwarded mail; if absent, the service receives no mail. */
  inbound?: InboundSettings;
  authProviders: readonly string[];
  /** Sources of exchange rates in order of preference: `ecb`, `frankfurter`, optionally with `=base URL`; may be empty. */
  fxSources: readonly string[];
  /** Hosts, including their subdomains, of the files that assistants pass to a tool. */
  fileHosts: readonly string[];
  /** Overrides of bill providers' base URLs, by key, without a trailing slash. */
  providerBases: Readonly<Record<string, string>>;
  rateLimits: RateLimits;
  /** Admits everybody (the default) or only invited people (functions/auth-callback/sign_in/may_sign_up.ts). */
  signUp?: "open" | "invited";
  /** Additional redirect URIs of well-known apps, by app; see shared/oauth/known_makers.ts. */
  knownApps: readonly (readonly [app: string, callback: string])[];
  /** Whether reviewers of directories may sign in with codes (`deno task operate reviewer`). */
  reviewSignIn: boolean;
  /** Proves to OpenAI that we control this domain. */
  openaiAppsChallenge?: string;
  /** The operator's name, contact and country, for the privacy page and the terms. */
  operatorName?: string;
  operatorContact?: string;
  operatorCountry?: string;
  /** The host of a service that runs on one server, for the privacy page. */
  operatorHosting?: string;
  supportUrl?: string;
  privacyUrl?: string;
  termsUrl?: string;
  pricingUrl?: string;
  /** The template of the checkout's URL, with places for `{organization_id}` and `{plan}`. */
  checkoutUrl?: string;
  /** Similar templates for the payment provider's pages; `{organization_id}` is optional. */
  invoicesUrl?: string;
  cancelUrl?: string;
  /** The plans' prices as text: "€4 a month". */
  proPrice?: string;
  teamPrice?: string;
  /** Only on the embedded stack: the mailbox's URL. Pages link to it when the request comes from the same machine. */
  localUrl?: string;
  /** Only on the embedded stack: the person behind "Sign in as …" on the login page. */
  demoEmail?: string;
}

export type ConfigName = keyof Config;
export type Environment = Readonly<Record<string, string | undefined>>;

/** All problems of the environment, by variable name, without values. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
  constructor(readonly problems: readonly string[]) {
    super(`Cannot start: ${problems.join("; ")}`);
  }
}

/**
 * Reads the environment.
 * @param needs required settings; the others may be absent but not malformed.
 * @throws {ConfigError}
 */
export function readConfig(env: Environment, needs: readonly ConfigName[]): Config {
  const problems: string[] = [];
  const read = <Value>(
    name: ConfigName,
    variable: string,
    parse: (value: string) => Value | undefined,
    rule: string,
  ) => {
    const raw = env[variable]?.trim();
    if (!raw) {
      if (needs.includes(name)) problems.push(`${variable} is not set`);
      return undefined;
    }
    const value = parse(raw);
    if (value === undefined) problems.push(`${variable} ${rule}`);
    return value;
  };
  const optional = (name: ConfigName, variable: string) => read(name, variable, absoluteUrl, "is not an https URL");

  const config: Config = {
    siteUrl: read("siteUrl", "NEXT_PUBLIC_SITE_URL", originUrl, "is not an https origin, or http on loopback") ?? "",
    supabaseUrl: read("supabaseUrl", "SUPABASE_URL", platformUrl, "is not an http(s) URL") ?? "",
    publishableKey: read("publishableKey", firstSet(env, PUBLISHABLE_KEYS), keyOf, "holds no default key") ?? "",
    serviceRoleKey: read("serviceRoleKey", firstSet(env, SERVICE_ROLE_KEYS), keyOf, "holds no default key") ?? "",
    codeSecrets: read("codeSecrets", "OAUTH_CODE_SECRET", secrets, "has an entry shorter than 32 bytes") ?? [],
    cronSecrets: read("cronSecrets", "CRON_SECRET", secrets, "has an entry shorter than 32 bytes") ?? [],
    frontDoorSecrets: read("frontDoorSecrets", "FRONT_DOOR_SECRET", secrets, "has an entry shorter than 32 bytes") ??
      [],
    paymentWebhookSecrets:
      read("paymentWebhookSecrets", "PAYMENT_WEBHOOK_SECRET", secrets, "has an entry shorter than 32 bytes") ?? [],
    credentialsKeys:
      read("credentialsKeys", "CREDENTIALS_KEY", aesKeys, "has an entry that is not 32 bytes of base64") ?? [],
    mailUrl: read("mailUrl", "MAIL_URL", mailUrl, "is not a resend:, smtps: or smtp: URL"),
    inbound: read(
      "inbound",
      "INBOUND_URL",
      parseInboundUrl,
      "is not <mail service>://<user>:<secret of 16 characters or more>@<domain>",
    ),
    mailFrom: read("mailFrom", "MAIL_FROM", (value) => value, "is empty"),
    authProviders: read("authProviders", "AUTH_PROVIDERS", providers, "has a malformed provider name") ?? [],
    fxSources: read(
      "fxSources",
      "FX_SOURCES",
      rateSources,
      "is not none, and has an entry that is neither ecb, frankfurter nor central_banks, or no base URL after =",
    ) ?? ["ecb", "frankfurter", "central_banks"],
    fileHosts: read("fileHosts", "FILE_HOSTS", fileHosts, "is neither none nor a list of host names") ??
      CHATGPT_FILE_HOSTS,
    providerBases: read(
      "providerBases",
      "PROVIDER_BASES",
      providerBases,
      "has an entry that is not key=URL with https, or http on loopback",
    ) ?? {},
    rateLimits: read("rateLimits", "RATE_LIMITS", rateLimits, "is neither on, off nor a JSON object of numbers") ??
      "on",
    signUp: read("signUp", "SIGN_UP", signUp, "is neither open nor invited"),
    knownApps: read("knownApps", "KNOWN_APPS", knownApps, "has an entry that is not App=https URL") ?? [],
    reviewSignIn: read(
      "reviewSignIn",
      "REVIEW_SIGN_IN",
      (value) => ({ on: true, off: false })[value],
      "is neither on nor off",
    ) ?? false,
    openaiAppsChallenge: read(
      "openaiAppsChallenge",
      "OPENAI_APPS_CHALLENGE",
      (value) => /^[\x21-\x7e]{8,400}$/.test(value) ? value : undefined,
      "is not one word of 8 to 400 characters",
    ),
    operatorName: read("operatorName", "OPERATOR_NAME", shortText, "is longer than 200 characters"),
    operatorContact: read("operatorContact", "OPERATOR_CONTACT", shortText, "is longer than 200 characters"),
    operatorCountry: read("operatorCountry", "OPERATOR_COUNTRY", shortText, "is longer than 200 characters"),
    operatorHosting: read("operatorHosting", "OPERATOR_HOSTING", shortText, "is longer than 200 characters"),
    supportUrl: optional("supportUrl", "SUPPORT_URL"),
    privacyUrl: optional("privacyUrl", "PRIVACY_URL"),
    termsUrl: optional("termsUrl", "TERMS_URL"),
    pricingUrl: optional("pricingUrl", "PRICING_URL"),
    checkoutUrl: read(
      "checkoutUrl",
      "CHECKOUT_URL",
      (value) => value.includes("{organization_id}") ? urlTemplate(value) : undefined,
      "is not an https URL with {organization_id} in it",
    ),
    invoicesUrl: read("invoicesUrl", "INVOICES_URL", urlTemplate, "is not an https URL"),
    cancelUrl: read("cancelUrl", "CANCEL_URL", urlTemplate, "is not an https URL"),
    proPrice: read("proPrice", "PRO_PRICE", price, "is longer than 60 characters"),
    teamPrice: read("teamPrice", "TEAM_PRICE", price, "is longer than 60 characters"),
    localUrl: read("localUrl", "LOCAL_URL", loopbackUrl, "is not http on loopback"),
    demoEmail: read("demoEmail", "LOCAL_DEMO_EMAIL", (value) => value, "is empty"),
  };
  if (problems.length > 0) throw new ConfigError(problems);
  if (hasOperator(config)) {
    config.privacyUrl ??= `${config.siteUrl}/privacy`;
    config.termsUrl ??= `${config.siteUrl}/terms`;
  }
  return Object.freeze(config);
}

/** Whether all names for the privacy page and the terms are set. */
export const hasOperator = (
  { operatorName, operatorContact, operatorCountry }: Pick<
    Config,
    "operatorName" | "operatorContact" | "operatorCountry"
  >,
): boolean => Boolean(operatorName && operatorContact && operatorCountry);

// The platform injects dictionaries of keys; older projects still set single keys.
const SERVICE_ROLE_KEYS = ["DATABASE_SERVICE_ROLE_KEY", "SUPABASE_SECRET_KEYS", "SUPABASE_SERVICE_ROLE_KEY"];
const PUBLISHABLE_KEYS = ["SUPABASE_PUBLISHABLE_KEYS", "SUPABASE_PUBLISHABLE_KEY", "SUPABASE_ANON_KEY"];
const firstSet = (env: Environment, names: string[]) => names.find((name) => env[name]?.trim()) ?? names[0]!;

function keyOf(value: string): string | undefined {
  if (!value.startsWith("{")) return value;
  const key = parseJson(value)?.["default"];
  return typeof key === "string" ? key : undefined;
}

function parseJson(value: string): Record<string, unknown> | undefined {
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed)
      ? parsed as Record<string, unknown>
      : undefined;
  } catch {
    return undefined;
  }
}

const isLoopback = (hostname: string) =>
  hostname === "localhost" || hostname === "[::1]" || /^127(\.\d+){3}$/.test(hostname);

// Plain http is accepted on loopback only, because elsewhere codes and tokens would cross the network unencrypted.
function originUrl(value: string): string | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  if (!url || url.pathname !== "/" || url.search || url.hash || url.username) return undefined;
  return url.protocol === "https:" || (url.protocol === "http:" && isLoopback(url.hostname)) ? url.origin : undefined;
}

const loopbackUrl = (value: string) =>
  URL.canParse(value) && new URL(value).protocol === "http:" && isLoopback(new URL(value).hostname) ? value : undefined;

// Inside `supabase start` this is http://kong:8000, so plain http is allowed. Only the function's own URL derives
// from it.
function platformUrl(value: string): string | undefined {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  return url && /^https?:$/.test(url.protocol) ? value.replace(/\/+$/, "") : undefined;
}

const absoluteUrl = (value: string) =>
  URL.canParse(value) && /^(https|mailto):$/.test(new URL(value).protocol) ? value : undefined;
// The service fills in only its own ids, so the operator's scheme and host remain.
const urlTemplate = (value: string) =>
  absoluteUrl(value) && !/^[^?#]*:\/\/[^/?#]*\{/.test(value) && !/\{(?!organization_id\}|plan\})/.test(value)
    ? value
    : undefined;
const signUp = (value: string) => value === "open" || value === "invited" ? value : undefined;
const shortText = (value: string) => value.length <= 200 ? value : undefined;
const price = (value: string) => value.length <= 60 ? value : undefined;
const mailUrl = (value: string) =>
  URL.canParse(value) && /^(resend|smtps?):$/.test(new URL(value).protocol) ? value : undefined;
const list = (value: string) => value.split(",").map((entry) => entry.trim()).filter(Boolean);

const entriesOf = (value: string, pattern: RegExp) => {
  const entries = list(value);
  return entries.length > 0 && entries.every((entry) => pattern.test(entry)) ? entries : undefined;
};
const aesKeys = (value: string) => entriesOf(value, /^[A-Za-z0-9+/]{43}=$/);
const fileHosts = (value: string) => value === "none" ? [] : entriesOf(value, /^([a-z0-9-]+\.)+[a-z]+$/);
const rateSources = (value: string) =>
  value === "none" ? [] : entriesOf(value, /^(ecb|frankfurter|central_banks)(=https?:\/\/\S+)?$/);

function secrets(value: string): string[] | undefined {
  const entries = list(value);
  return entries.length > 0 && entries.every((entry) => new TextEncoder().encode(entry).length >= 32)
    ? entries
    : undefined;
}

function providers(value: string): string[] | undefined {
  const entries = list(value);
  return entries.every((entry) => /^[a-z0-9_]+$/.test(entry)) ? entries : undefined;
}

// The service sends credentials to these URLs, so they must use https.
function providerBases(value: string): Record<string, string> | undefined {
  const entries = list(value).map((entry) => /^([a-z0-9_]+)=(\S+)$/.exec(entry));
  const isOpen = (url: URL) => url.protocol !== "https:" && !(url.protocol === "http:" && isLoopback(url.hostname));
  const isWrong = (entry: RegExpExecArray | null) => {
    if (!entry || !URL.canParse(entry[2]!)) return true;
    const url = new URL(entry[2]!);
    return isOpen(url) || url.search !== "" || url.hash !== "" || url.username !== "";
  };
  if (entries.some(isWrong)) return undefined;
  return Object.freeze(Object.fromEntries(entries.map((entry) => [entry![1], entry![2]!.replace(/\/+$/, "")])));
}

function knownApps(value: string): [string, string][] | undefined {
  const entries = list(value).map((entry) => /^([A-Za-z][\w ]{1,39})=(https:\/\/[^\s/?#*]+\/[^\s#*]*)$/.exec(entry));
  if (!entries.every((entry) => entry && URL.canParse(entry[2]!))) return undefined;
  return entries.map((entry) => [entry![1]!, entry![2]!]);
}

function rateLimits(value: string): RateLimits | undefined {
  if (value === "on" || value === "off") return value;
  const parsed = parseJson(value);
  const valid = parsed && Object.values(parsed).every((limit) => typeof limit === "number" && limit > 0);
  return valid ? Object.freeze(parsed as Record<string, number>) : undefined;
}
