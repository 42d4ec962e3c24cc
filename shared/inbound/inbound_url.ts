/** Parses `INBOUND_URL`: the mail service, its credentials and the domain of the addresses. */

export const INBOUND_KINDS = ["mailgun", "postmark", "raw", "resend"] as const;
export type InboundKind = (typeof INBOUND_KINDS)[number];

export interface InboundSettings {
  kind: InboundKind;
  /** The domain of the organizations' addresses, in lower case. */
  domain: string;
  /** For Resend, its API key. */
  user: string;
  /** The service accepts all of them, so operators can rotate one. */
  secrets: readonly string[];
}

const SHORTEST_SECRET = 16;
/** 24 to 64 bytes, as in shared/webhooks/standard.ts, which is too large to import into every function. */
const SVIX_SECRET = /^whsec_[A-Za-z0-9+/]{32,86}={0,2}$/;
// A URL parser would end the authority at the slash of a base64 key.
const ENTRY = /^([a-z]{1,20}):\/\/([^:@\s]{0,200}):(\S{1,400})@([a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63}){1,6})$/i;

/**
 * @param value entries separated by commas that differ only in their secrets. @returns undefined for any other text.
 */
export function parseInboundUrl(value: string): InboundSettings | undefined {
  const entries = value.split(",").map((entry) => ENTRY.exec(entry.trim()));
  let settings: InboundSettings | undefined;
  for (const entry of entries) {
    if (!entry) return undefined;
    const [, kind, user, secret, domain] = entry as unknown as [string, string, string, string, string];
    const known = INBOUND_KINDS.find((one) => one === kind);
    if (!known || secret.length < SHORTEST_SECRET) return undefined;
    if (known === "resend" && (!SVIX_SECRET.test(secret) || !user.startsWith("re_"))) return undefined;
    const one = { kind: known, user, domain: domain.toLowerCase() };
    if (settings && (settings.kind !== one.kind || settings.user !== user || settings.domain !== one.domain)) {
      return undefined;
    }
    settings = { ...one, secrets: [...settings?.secrets ?? [], secret] };
  }
  return settings;
}
