/** The functions of this project by slug: the same modules that are deployed. */
import { createAuthCallbackApp } from "../functions/auth-callback/app.ts";
import { createCronProviderSyncApp } from "../functions/cron-provider-sync/app.ts";
import { createCronRemindersApp } from "../functions/cron-reminders/app.ts";
import { createInboundMailApp } from "../functions/inbound-mail/app.ts";
import { createMcpApp } from "../functions/mcp/app.ts";
import { createOAuthApp } from "../functions/oauth/app.ts";
import { createPaymentWebhookApp } from "../functions/payment-webhook/app.ts";
import type { Deps } from "../shared/deps.ts";
import type { App } from "../shared/http/app.ts";
import { type Slug, SLUGS } from "../shared/routes.ts";

const CREATE: Partial<Record<Slug, (deps: Deps) => App>> = {
  "mcp": createMcpApp,
  "oauth": createOAuthApp,
  "payment-webhook": createPaymentWebhookApp,
  "auth-callback": createAuthCallbackApp,
  "cron-reminders": createCronRemindersApp,
  "cron-provider-sync": createCronProviderSyncApp,
  "inbound-mail": createInboundMailApp,
};

export type FunctionsHandler = (request: Request) => Promise<Response>;

/** The origin of every request in hosted functions; no function may build URLs from it. */
export const FUNCTIONS_ORIGIN = "http://edge-runtime.supabase.com";

/**
 * Handles `/<slug>/…` in the form that the platform's gateway passes to a function.
 * @param depsOf dependencies of a function, by slug.
 */
export function createFunctions(depsOf: (slug: Slug) => Deps): FunctionsHandler {
  const apps = new Map<string, App>();
  for (const slug of SLUGS) {
    const create = CREATE[slug];
    if (create) apps.set(slug, create(depsOf(slug)));
  }
  return async (request) => {
    const slug = new URL(request.url).pathname.split("/")[1]!;
    const app = apps.get(slug);
    // Equals the platform's response for a function that was never deployed.
    if (!app) return Response.json({ code: "NOT_FOUND", message: "Requested function was not found" }, { status: 404 });
    return await app.fetch(request);
  };
}
