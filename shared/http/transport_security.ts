/**
 * `Strict-Transport-Security` of every https response (RFC 6797 §6.1): one year, for this host only. The operator's
 * subdomains may still use http, so neither `includeSubDomains` nor `preload` is set; the session cookie does not need
 * them, since its `__Host-` prefix keeps subdomains from setting it.
 */
export const STRICT_TRANSPORT_SECURITY = "max-age=31536000";
