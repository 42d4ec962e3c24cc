/** Serves the reminders job. */
import { productionDeps } from "../../shared/production_deps.ts";
import { createCronRemindersApp } from "./app.ts";

Deno.serve(
  createCronRemindersApp(
    productionDeps("cron-reminders", [
      "siteUrl",
      "supabaseUrl",
      "serviceRoleKey",
      "codeSecrets",
      "cronSecrets",
      "mailUrl",
      "mailFrom",
    ]),
  ).fetch,
);
