/** Serves the identity pages. */
import { productionDeps } from "../../shared/production_deps.ts";
import { createAuthCallbackApp } from "./app.ts";

const app = createAuthCallbackApp(
  productionDeps("auth-callback", [
    "siteUrl",
    "supabaseUrl",
    "publishableKey",
    "serviceRoleKey",
    "codeSecrets",
    "credentialsKeys",
    "mailUrl",
    "mailFrom",
  ]),
);
Deno.serve(app.fetch);
