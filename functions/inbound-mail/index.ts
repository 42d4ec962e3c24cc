/** Serves the endpoint for incoming mail. */
import { productionDeps } from "../../shared/production_deps.ts";
import { createInboundMailApp } from "./app.ts";

// Without INBOUND_URL the function starts and responds with 503, so the mail service retries later.
Deno.serve(createInboundMailApp(productionDeps("inbound-mail", ["siteUrl", "supabaseUrl", "serviceRoleKey"])).fetch);
