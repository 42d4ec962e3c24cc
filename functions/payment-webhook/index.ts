/** Serves the payment webhook. */
import { productionDeps } from "../../shared/production_deps.ts";
import { createPaymentWebhookApp } from "./app.ts";

// Without its secret the function starts and returns 503 with a log line, so the provider retries its events later.
Deno.serve(
  createPaymentWebhookApp(productionDeps("payment-webhook", ["siteUrl", "supabaseUrl", "serviceRoleKey"])).fetch,
);
