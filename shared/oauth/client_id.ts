/** Client identifiers: our own for registered clients, the URL of its metadata document for a client that publishes one. */
import { MAX_CLIENT_ID_LENGTH } from "./limits.ts";

/** The id of a newly registered client, out of 128 random bits or more in base64url. It is an identifier, not a secret. */
export const clientId = (random: string): string => `client_${random}`;

/** Whether the text can be the id of any client; what cannot need not be looked for. */
export function isClientId(text: string): boolean {
  if (text.length > MAX_CLIENT_ID_LENGTH) return false;
  return /^client_[A-Za-z0-9_-]+$/.test(text) || /^https:\/\/[\x21-\x7e]+$/.test(text);
}

/** Whether a client goes by the URL of its metadata document. */
export const isDocumentUrl = (clientId: string): boolean => clientId.startsWith("https://");
