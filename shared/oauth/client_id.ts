/** Client identifiers: ours for registered clients, or the URL of the client's metadata document. */
import { MAX_CLIENT_ID_LENGTH } from "./limits.ts";

/** The id of a newly registered client, from at least 128 random bits in base64url. An identifier, not a secret. */
export const clientId = (random: string): string => `client_${random}`;

/** Whether the text can be a client id at all; if not, it needs no lookup. */
export function isClientId(text: string): boolean {
  if (text.length > MAX_CLIENT_ID_LENGTH) return false;
  return /^client_[A-Za-z0-9_-]+$/.test(text) || /^https:\/\/[\x21-\x7e]+$/.test(text);
}

/** Whether a client is identified by the URL of its metadata document. */
export const isDocumentUrl = (clientId: string): boolean => clientId.startsWith("https://");
