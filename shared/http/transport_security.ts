/**
 * `Strict-Transport-Security` of every https response (RFC 6797 §6.1): one year, for this host only. The operator's
 * subdomains may still use http, so it sets neither `includeSubDomains` nor `preload`. The session cookie does not
 * need them, since its `__Host-` prefix prevents subdomains from setting it.
 */
export const STRICT_TRANSPORT_SECURITY = "max-age=31536000";
