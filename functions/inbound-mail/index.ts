/** Serves the door for mail. */
import { productionDeps } from "../../shared/production_deps.ts";
import { createInboundMailApp } from "./app.ts";

// Without INBOUND_URL it still starts, and answers 503, so that the mail service keeps its mail.
Deno.serve(createInboundMailApp(productionDeps("inbound-mail", ["siteUrl", "supabaseUrl", "serviceRoleKey"])).fetch);
