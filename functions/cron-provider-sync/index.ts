/** Serves the job that fetches amounts. */
import { productionDeps } from "../../shared/production_deps.ts";
import { createCronProviderSyncApp } from "./app.ts";

Deno.serve(
  createCronProviderSyncApp(
    productionDeps("cron-provider-sync", [
      "siteUrl",
      "supabaseUrl",
      "serviceRoleKey",
      "cronSecrets",
      "credentialsKeys",
    ]),
  ).fetch,
);
