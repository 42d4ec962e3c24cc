/** The interface of a mail service that delivers mail by HTTP. */
import { timingSafeEqual } from "@std/crypto/timing-safe-equal";
import { Buffer } from "node:buffer";
import { sha256 } from "../std/sha256.ts";
import type { InboundSettings } from "./inbound_url.ts";

export interface HandedOver {
  headers: Headers;
  body: Uint8Array;
  at: Date;
}

export interface ArrivedMail {
  /** Equal for repeated deliveries of a mail. */
  providerId: string;
  recipients: readonly string[];
  /** The unchanged mail; absent if a job must fetch it. */
  raw?: Uint8Array;
}

export interface MailService {
  /** The largest request body. */
  maxBytes: number;
  /** Whether the headers authenticate the service or announce a proof in the body. Called before the body is read. */
  isKnown(headers: Headers, settings: InboundSettings): boolean;
  /** @returns `unknown` if the body lacks that proof, undefined for a body without a mail. */
  read(handed: HandedOver, settings: InboundSettings): Promise<ArrivedMail | "unknown" | undefined>;
}

/** `Authorization: Basic`, with one of the secrets as its password (RFC 7617). */
export function hasBasicSecret(headers: Headers, { user, secrets }: InboundSettings): boolean {
  const [, given = ""] = /^Basic +([A-Za-z0-9+/=]{1,1000})$/i.exec(headers.get("authorization") ?? "") ?? [];
  const hash = sha256(Buffer.from(given, "base64"));
  let isKnown = false;
  for (const secret of secrets) isKnown = timingSafeEqual(hash, sha256(`${user}:${secret}`)) || isKnown;
  return isKnown;
}

/** An id for a mail whose service assigns none. */
export const idByContent = (raw: Uint8Array): string => `sha256:${sha256(raw).toString("hex")}`;
