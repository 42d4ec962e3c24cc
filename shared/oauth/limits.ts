/**
 * The numbers of the authorization server and the reason for each. The lifetimes of tokens and grants, the grace
 * period of a refresh and the number of wrong verifiers are decided where they are enforced, in the database.
 */

/** The longest that RFC 6749 §4.1.2 recommends; the source document asks for exactly this. */
export const CODE_LIFETIME_MS = 600_000;

/** A consent page left open is as old as a code may get. */
export const CONSENT_LIFETIME_MS = 600_000;

/** Room for a form with the longest state, redirect URI and client id in it; anything more is not a client. */
export const MAX_BODY_BYTES = 16 * 1024;

/** Echoed in a URL, of which servers behind clients read about 8 KB. */
export const MAX_STATE_LENGTH = 2048;

export const MAX_URI_LENGTH = 2048;

/** Real clients register at most four. */
export const MAX_REDIRECT_URIS = 10;

/** Of a client's name and redirect URIs together, in UTF-8. Real ones take less than 500; anybody may leave these in the database. */
export const MAX_METADATA_BYTES = 2048;

/** Real URLs of documents take less than 100. With what it publishes there, and the indexes, all that is kept of a client is 4 kB. */
export const MAX_CLIENT_ID_LENGTH = 512;

/** Recommended by draft-ietf-oauth-client-id-metadata-document §6.6. */
export const MAX_DOCUMENT_BYTES = 5 * 1024;

export const MAX_NAME_LENGTH = 200;

/** A longer name pushes what matters off the consent page. */
export const MAX_SHOWN_NAME_LENGTH = 80;
