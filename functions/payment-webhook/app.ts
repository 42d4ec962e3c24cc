/**
 * The payment webhook: receives the provider's subscription events and verifies them before parsing. The provider
 * retries any other status than 2xx for a day and then stops sending. Therefore the webhook returns 2xx whenever
 * another delivery would change nothing, and 5xx only for temporary failures.
 */
import { parseEvent } from "../../shared/billing/event.ts";
import { importSecrets, isSigned } from "../../shared/billing/signature.ts";
import { createBillingStore } from "../../shared/db/billing_store.ts";
import type { Deps } from "../../shared/deps.ts";
import { AppError } from "../../shared/errors.ts";
import { admission } from "../../shared/http/admission.ts";
import { type App, type AppContext, createApp, note } from "../../shared/http/app.ts";
import { readBody } from "../../shared/http/read_body.ts";
import { sha256 } from "../../shared/std/sha256.ts";

const PATH = "/api/payment/webhook";
const LARGEST_BODY_BYTES = 256 * 1024;

export function createPaymentWebhookApp({ config, database, clock, log }: Deps): App {
  const app = createApp("payment-webhook", { config, log });
  app.use(admission(config));
  const store = createBillingStore(database);
  const importedKeys = importSecrets(config.paymentWebhookSecrets);

  app.post(PATH, async (c) => {
    const keys = await importedKeys;
    if (keys.length === 0) {
      throw new AppError("unavailable", "Payment events are not configured yet.", {
        cause: new Error("PAYMENT_WEBHOOK_SECRET is not set"),
      });
    }
    const body = await readBody(c, LARGEST_BODY_BYTES);
    const signature = c.req.header("x-payment-signature") ?? c.req.header("x-razorpay-signature") ?? "";
    if (!await isSigned(body, { signature, keys })) {
      throw new AppError("unauthorized", "The signature of this event is missing or wrong.");
    }
    const event = parseEvent(body);
    if (!event) throw new AppError("invalid_request", "The body is not a JSON event.");

    const bodyHash = sha256(new Uint8Array(body)).toString("hex");
    const verdict = await store.applyPaymentEvent(event, { bodyHash, eventId: eventIdOf(c), at: clock() });
    note(c, verdict);
    // Retries cannot fix these errors; only a person can.
    if (verdict.reason) log.error("payment_event", { request_id: c.get("requestId"), ...verdict });
    return c.json({ status: verdict.outcome }, 200, { "cache-control": "no-store" });
  });
  return app;
}

/** The provider's event id, for support. The signature does not cover it, so no logic depends on it. */
function eventIdOf(c: AppContext): string | null {
  const eventId = c.req.header("x-payment-event-id") ?? c.req.header("x-razorpay-event-id") ?? "";
  return /^[\x21-\x7e]{1,128}$/.test(eventId) ? eventId : null;
}
