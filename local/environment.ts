/** The environment of the stack's functions: the process's own variables override the stack's. */
import type { Environment } from "../shared/config.ts";
import { FUNCTION_SETTINGS } from "./deploy/settings.ts";
import { ratesFixtureSources } from "./fixtures/exchange_rates.ts";
import { providersFixtureBases } from "./fixtures/providers/app.ts";
import type { Secrets } from "./secrets.ts";

/** Settings that the stack makes itself: its address, its key, and limits over which those from outside are merged. */
const OWN = ["NEXT_PUBLIC_SITE_URL", "DATABASE_SERVICE_ROLE_KEY", "RATE_LIMITS"];
const PASSED_ON = FUNCTION_SETTINGS.filter((name) => !OWN.includes(name));

/** The mailbox delivers nothing, so it cannot flood anybody, and tests sign in often. */
const OWN_LIMITS = {
  login_mail_address: 1_000_000,
  login_mail_ip: 1_000_000,
  sign_in_ip: 1_000_000,
  session_refresh_ip: 1_000_000,
  reminder_mail_ip: 1_000_000,
};

export const MAIL_FROM = "Expenses <expenses@localhost>";

export function functionEnvironment(
  own: Environment,
  stack: { siteUrl: string; supabaseUrl: string; smtpPort: number; secrets: Secrets; demoEmail?: string },
): Environment {
  return {
    OAUTH_CODE_SECRET: stack.secrets.oauth_code_secret,
    CRON_SECRET: stack.secrets.cron_secret,
    FRONT_DOOR_SECRET: stack.secrets.front_door_secret,
    PAYMENT_WEBHOOK_SECRET: stack.secrets.payment_webhook_secret,
    CREDENTIALS_KEY: stack.secrets.credentials_key,
    MAIL_URL: `smtp://127.0.0.1:${stack.smtpPort}`,
    MAIL_FROM,
    FX_SOURCES: ratesFixtureSources(`${stack.supabaseUrl}/local/fx`),
    PROVIDER_BASES: providersFixtureBases(`${stack.supabaseUrl}/local/providers`),
    ...Object.fromEntries(PASSED_ON.filter((name) => own[name]).map((name) => [name, own[name]])),
    RATE_LIMITS: rateLimits(own.RATE_LIMITS),
    NEXT_PUBLIC_SITE_URL: stack.siteUrl,
    SUPABASE_URL: stack.supabaseUrl,
    SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: stack.secrets.publishable_key }),
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: stack.secrets.secret_key }),
    LOCAL_DEMO_EMAIL: stack.demoEmail,
  };
}

/** `off` stays off; outside overrides are merged over ours. */
function rateLimits(given: string | undefined): string {
  if (given === "off") return given;
  return JSON.stringify({ ...OWN_LIMITS, ...(given?.startsWith("{") && JSON.parse(given)) });
}
