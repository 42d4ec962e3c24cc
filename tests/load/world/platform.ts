/**
 * The rest of the platform in its own process: the identity provider of the embedded stack on a PostgreSQL server.
 * Prints its port. Arguments: the database's URL, the site, the platform's URL for the functions, and the mail port.
 */
import { startDataService } from "../../../local/data_service/service.ts";
import { createLog } from "../../../shared/log.ts";
import { PLATFORM_KEYS } from "./secrets.ts";

const [url, siteUrl, publicUrl, smtpPort] = Deno.args as [string, string, string, string];
const service = await startDataService({
  database: { url },
  siteUrl,
  publicUrl,
  ...PLATFORM_KEYS,
  cronSecret: "unused-unused-unused-unused-unused-unused",
  mailUrl: `smtp://127.0.0.1:${smtpPort}`,
  mailFrom: "Expenses <expenses@expenses.example>",
  sellsPlans: true,
  demo: false,
  schedules: false,
}, createLog(undefined, { function: "platform" }));
Deno.stdout.writeSync(new TextEncoder().encode(`${new URL(service.url).port}\n`));
