/**
 * Whether a session started with proof of the email address: a code or link that we mailed, or a service that we
 * offer. A password proves nothing: anybody can register a stranger's address with one, and it remains valid after the
 * stranger's first sign-in.
 */

/** Session claims in the identity provider's access token; methods as named by Supabase Auth 2.190. */
export interface SessionClaims {
  amr?: readonly ({ method: string; provider?: string } | string)[];
  app_metadata?: { providers?: readonly string[] };
}

const MAILED: ReadonlySet<string> = new Set(["otp", "magiclink", "email/signup", "invite", "recovery", "email_change"]);
/** Methods that only follow a first sign-in. */
const FOLLOW_UP_METHODS: ReadonlySet<string> = new Set(["totp", "mfa/phone", "mfa/webauthn", "token_refresh"]);
/** Providers that are not external services. */
const OWN_PROVIDERS: ReadonlySet<string> = new Set(["email", "phone"]);

/** @param offered the services on our login page. @param claims of a verified token. */
export function isOurSignIn({ amr = [], app_metadata }: SessionClaims, offered: readonly string[]): boolean {
  const ways = amr.map((entry) => typeof entry === "string" ? { method: entry } : entry)
    .filter(({ method }) => !FOLLOW_UP_METHODS.has(method));
  return ways.length > 0 && ways.every(({ method, provider }: { method: string; provider?: string }) => {
    if (MAILED.has(method)) return true;
    if (method !== "oauth") return false;
    // If the token doesn't name the service, accepts any offered service that the person has used.
    const services = provider ? [provider] : (app_metadata?.providers ?? []).filter((name) => !OWN_PROVIDERS.has(name));
    return services.length > 0 && services.every((name) => offered.includes(name));
  });
}
