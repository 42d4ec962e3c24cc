/**
 * Numeric limits of the authorization server and the reason for each. The database stores and enforces the lifetimes
 * of tokens and grants, the grace period of a refresh, and the number of wrong verifiers.
 */

/** The maximum that RFC 6749 §4.1.2 recommends. */
export const CODE_LIFETIME_MS = 600_000;

/** A consent page may remain open as long as a code lives. */
export const CONSENT_LIFETIME_MS = 600_000;

/** Fits a form with the longest state, redirect URI and client id. */
export const MAX_BODY_BYTES = 16 * 1024;

/** Echoed in a URL; servers behind clients accept about 8 KB. */
export const MAX_STATE_LENGTH = 2048;

export const MAX_URI_LENGTH = 2048;

/** Real clients register at most four. */
export const MAX_REDIRECT_URIS = 10;

/**
 * The maximum length of a client's name and redirect URIs together, in UTF-8. Real clients need less than 500 bytes,
 * but anybody can register.
 */
export const MAX_METADATA_BYTES = 2048;

/** Real document URLs need less than 100 bytes. Including its metadata and indexes, a client takes at most 4 kB. */
export const MAX_CLIENT_ID_LENGTH = 512;

/** Recommended by draft-ietf-oauth-client-id-metadata-document §6.6. */
export const MAX_DOCUMENT_BYTES = 5 * 1024;

export const MAX_NAME_LENGTH = 200;

/** A longer name would push the important parts off the consent page. */
export const MAX_SHOWN_NAME_LENGTH = 80;
