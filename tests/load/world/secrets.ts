/**
 * The secrets of one run, new each time. All contain `CANARY`, which may appear only in the functions' environment. All
 * output is searched for it afterwards.
 */
import { Buffer } from "node:buffer";

const random = (bytes: number) => Buffer.from(crypto.getRandomValues(new Uint8Array(bytes)));

/** Twelve letters that occur nowhere else. */
export const CANARY = `Zq7${random(8).toString("hex").slice(0, 9)}`;

export const newSecret = (name: string): string => `${name}-${CANARY}-${random(24).toString("hex")}`;
/** 32 bytes, the first of which spell the canary. */
export const newKey = (): string => Buffer.concat([Buffer.from(CANARY), random(32 - CANARY.length)]).toString("base64");

/** The key of the platform's identity provider, the same in its process and in the functions'. */
export const PLATFORM_KEYS = {
  jwtSecret: Deno.env.get("LOAD_JWT_SECRET") ?? newSecret("jwt"),
  publishableKey: "sb_publishable_load",
  secretKey: Deno.env.get("LOAD_SECRET_KEY") ?? `sb_secret_${CANARY}`,
};

/** The functions' own secrets, newest first: rotating one puts a new one in front. */
export interface Secrets {
  code: string[];
  cron: string[];
  webhook: string[];
  credentials: string[];
}

export const newSecrets = (): Secrets => ({
  code: [newSecret("code")],
  cron: [newSecret("cron")],
  webhook: [newSecret("webhook")],
  credentials: [newKey()],
});
