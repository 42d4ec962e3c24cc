/** Serves the endpoint for incoming mail. */
import { productionDeps } from "../../shared/production_deps.ts";
import { createInboundMailApp } from "./app.ts";

// Without INBOUND_URL the function starts and answers 503, so that the mail service retries later.
Deno.serve(createInboundMailApp(productionDeps("inbound-mail", ["siteUrl", "supabaseUrl", "serviceRoleKey"])).fetch);
