/** The payment webhook over a test's database, and the provider's side of it: signing and sending. */
import { createPaymentWebhookApp } from "../../../functions/payment-webhook/app.ts";
import { signBody } from "../../../shared/billing/signature.ts";
import { readConfig } from "../../../shared/config.ts";
import type { Database } from "../../../shared/db/client.ts";
import { createLog } from "../../../shared/log.ts";

export const SECRET = "the-current-secret-of-the-webhook";
export const PREVIOUS_SECRET = "the-previous-secret-of-the-webhook";

export interface Sending {
  /** Signing key; `x-payment-signature` is omitted when null. */
  secret?: string | null;
  headers?: Record<string, string>;
}

export interface Webhook {
  /** Delivers a body, or an event as JSON, signed with the current secret. */
  send(body: unknown, sending?: Sending): Promise<Response>;
  fetch(request: Request): Promise<Response>;
  /** Completed log lines. */
  lines: string[];
}

const unexpected = () => Promise.reject(new Error("the webhook fetches nothing"));

export function createWebhook(
  { database, secrets = `${SECRET},${PREVIOUS_SECRET}`, now = () => new Date("2026-11-20T12:00:00Z") }: {
    database: Database;
    secrets?: string;
    now?: () => Date;
  },
): Webhook {
  const lines: string[] = [];
  const config = readConfig({ NEXT_PUBLIC_SITE_URL: "http://127.0.0.1", PAYMENT_WEBHOOK_SECRET: secrets }, []);
  const log = createLog((line) => lines.push(line));
  const app = createPaymentWebhookApp({ config, database, clock: now, log, fetch, guardedFetch: unexpected });
  return {
    lines,
    fetch: async (request) => await app.fetch(request),
    async send(body, { secret = SECRET, headers = {} } = {}) {
      const bytes = toBytes(body);
      const signature = secret && { "x-payment-signature": await signBody(bytes, secret) };
      return await app.request("/api/payment/webhook", {
        method: "POST",
        headers: { "content-type": "application/json", ...signature, ...headers },
        body: bytes,
      });
    },
  };
}

function toBytes(body: unknown): Uint8Array<ArrayBuffer> {
  if (body instanceof Uint8Array) return body as Uint8Array<ArrayBuffer>;
  return new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
}
