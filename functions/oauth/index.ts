/** Serves the authorization server; see app.ts. */
import { productionDeps } from "../../shared/production_deps.ts";
import { createOAuthApp } from "./app.ts";

const NEEDS = ["siteUrl", "supabaseUrl", "publishableKey", "serviceRoleKey", "codeSecrets"] as const;

Deno.serve(createOAuthApp(productionDeps("oauth", NEEDS)).fetch);
