/**
 * Encrypts provider credentials for storage: AES-256-GCM with a key per link, derived by HKDF-SHA256 from a master key
 * and the link's id (RFC 5869, no salt). The database alone reveals nothing, and no key opens an envelope that was
 * moved to another link. Another module stores the envelopes. Format as in supabase/auth (internal/crypto):
 * {"key_id","alg","nonce","data"}, base64.
 */
import * as z from "zod/mini";
import { Buffer } from "node:buffer";
import { createNonce } from "./nonce.ts";

const ALG = "aes-gcm-hkdf";

export const Envelope = z.object({
  /** The first 8 hex digits of the SHA-256 of the master key: identifies the key without revealing it. */
  key_id: z.string(),
  alg: z.literal(ALG),
  nonce: z.string(),
  data: z.string(),
});
export type Envelope = z.infer<typeof Envelope>;

/** The values of a provider's fields, by name. */
export type SealedValues = Readonly<Record<string, string>>;

/** `unknown_key`: sealed with a key we don't have. `unreadable`: made for another link, altered, or not an envelope. */
export class EnvelopeError extends Error {
  override readonly name = "EnvelopeError";
  constructor(readonly reason: "unknown_key" | "unreadable") {
    super(`cannot open a credential: ${reason}`);
  }
}

/** @param keys base64 master keys of 32 bytes (`config.credentialsKeys`); the first one seals. */
export async function sealCredential(
  keys: readonly string[],
  linkId: string,
  credential: SealedValues,
): Promise<Envelope> {
  const [key] = keys;
  if (!key) throw new Error("cannot seal a credential: CREDENTIALS_KEY is not set");
  const nonce = createNonce();
  const text = new TextEncoder().encode(JSON.stringify(credential));
  const data = await crypto.subtle.encrypt({ name: "AES-GCM", iv: nonce }, await deriveKey(key, linkId), text);
  return { key_id: await keyIdOf(key), alg: ALG, nonce: encode(nonce), data: encode(new Uint8Array(data)) };
}

/**
 * @param keys tried by id, so that an operator can replace the first while old envelopes still exist.
 * @throws {EnvelopeError} and nothing else
 */
export async function openCredential(
  keys: readonly string[],
  linkId: string,
  envelope: unknown,
): Promise<SealedValues> {
  const { key_id, nonce, data } = readEnvelope(envelope);
  const ids = await Promise.all(keys.map(keyIdOf));
  const masterKey = keys[ids.indexOf(key_id)];
  if (masterKey === undefined) throw new EnvelopeError("unknown_key");
  try {
    const key = await deriveKey(masterKey, linkId);
    const text = await crypto.subtle.decrypt({ name: "AES-GCM", iv: decode(nonce) }, key, decode(data));
    return JSON.parse(new TextDecoder().decode(text));
  } catch {
    // Hides the cause: WebCrypto's message is empty, and JSON's quotes the content.
    throw new EnvelopeError("unreadable");
  }
}

function readEnvelope(envelope: unknown): Envelope {
  const { key_id, alg, nonce, data } = (envelope ?? {}) as Partial<Record<keyof Envelope, unknown>>;
  const isWhole = [key_id, nonce, data].every((part) => typeof part === "string") && alg === ALG;
  if (!isWhole) throw new EnvelopeError("unreadable");
  return envelope as Envelope;
}

async function deriveKey(masterKey: string, linkId: string): Promise<CryptoKey> {
  const material = await crypto.subtle.importKey("raw", decode(masterKey), "HKDF", false, ["deriveKey"]);
  const info = new TextEncoder().encode(linkId);
  return await crypto.subtle.deriveKey(
    { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info },
    material,
    { name: "AES-GCM", length: 256 },
    false,
    ["encrypt", "decrypt"],
  );
}

/** The id of the key that sealed an envelope. */
export const keyIdOf = async (masterKey: string): Promise<string> =>
  Buffer.from(await crypto.subtle.digest("SHA-256", decode(masterKey))).toString("hex").slice(0, 8);

const encode = (bytes: Uint8Array) => Buffer.from(bytes).toString("base64");
// Runtimes skip invalid base64 characters, or reject them (Deno 2.1). Either way, the envelope cannot be opened.
const decode = (text: string) => Buffer.from(text, "base64");
