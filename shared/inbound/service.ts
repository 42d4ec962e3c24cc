/** A mail service that hands over mail. */
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
  /** The same for each delivery of the same mail. */
  providerId: string;
  recipients: readonly string[];
  /** The mail as it came; absent when a job has to fetch it. */
  raw?: Uint8Array;
}

export interface MailService {
  /** Of a request. */
  maxBytes: number;
  /** Whether the headers prove the service, or promise a proof in the body: checked before the body is read. */
  isKnown(headers: Headers, settings: InboundSettings): boolean;
  /** @returns `unknown` without that proof, undefined for a body that holds no mail. */
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

/** The id of a mail to which its service gives none. */
export const idByContent = (raw: Uint8Array): string => `sha256:${sha256(raw).toString("hex")}`;
