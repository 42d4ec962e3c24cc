/** Serves the connector; see app.ts. */
import { productionDeps } from "../../shared/production_deps.ts";
import { createMcpApp } from "./app.ts";

Deno.serve(createMcpApp(productionDeps("mcp", ["siteUrl", "supabaseUrl", "serviceRoleKey", "codeSecrets"])).fetch);
