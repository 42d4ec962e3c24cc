/**
 * `Strict-Transport-Security` of every https answer of ours (RFC 6797 §6.1): a year. It speaks for its own host only. Other names
 * below it are the operator's and may still use http, so neither `includeSubDomains` nor `preload` is set; the session
 * cookie does not rely on them, since its `__Host-` prefix keeps subdomains from setting it.
 */
export const STRICT_TRANSPORT_SECURITY = "max-age=31536000";
