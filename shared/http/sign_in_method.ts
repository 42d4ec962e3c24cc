/**
 * Whether a session began in a way that proves whose the address is: by a code or link that we had mailed, or at a service that we offer.
 * A password proves nothing: anybody can sign a stranger's address up with one, and it survives the stranger's first sign-in.
 */

/** What the identity provider says of a session in its access token; methods as Supabase Auth 2.190 names them. */
export interface SessionClaims {
  amr?: readonly ({ method: string; provider?: string } | string)[];
  app_metadata?: { providers?: readonly string[] };
}

const MAILED: ReadonlySet<string> = new Set(["otp", "magiclink", "email/signup", "invite", "recovery", "email_change"]);
/** What may follow a first way in, and is none. */
const FURTHER: ReadonlySet<string> = new Set(["totp", "mfa/phone", "mfa/webauthn", "token_refresh"]);
/** Of a person's providers, those that are no other service. */
const OWN_PROVIDERS: ReadonlySet<string> = new Set(["email", "phone"]);

/** @param offered the services on our login page. @param claims of a token that was verified. */
export function isOurSignIn({ amr = [], app_metadata }: SessionClaims, offered: readonly string[]): boolean {
  const ways = amr.map((entry) => typeof entry === "string" ? { method: entry } : entry)
    .filter(({ method }) => !FURTHER.has(method));
  return ways.length > 0 && ways.every(({ method, provider }: { method: string; provider?: string }) => {
    if (MAILED.has(method)) return true;
    if (method !== "oauth") return false;
    // Which service it was is not always said; then it was one of those that the person has used, and all of them have to be offered.
    const services = provider ? [provider] : (app_metadata?.providers ?? []).filter((name) => !OWN_PROVIDERS.has(name));
    return services.length > 0 && services.every((name) => offered.includes(name));
  });
}
