/** Serves the payment webhook. */
import { productionDeps } from "../../shared/production_deps.ts";
import { createPaymentWebhookApp } from "./app.ts";

// Without its secret it starts all the same and answers 503 with a line in the log, so that the provider keeps what it could not deliver.
Deno.serve(
  createPaymentWebhookApp(productionDeps("payment-webhook", ["siteUrl", "supabaseUrl", "serviceRoleKey"])).fetch,
);
