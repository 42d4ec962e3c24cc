/** The environment of the stack's functions: the process's own variables override the stack's. */
import type { Environment } from "../shared/config.ts";
import { FUNCTION_SETTINGS, GENERATED } from "./deploy/settings.ts";
import type { Secrets } from "./secrets.ts";
import { type StackFacts, standInSettings } from "./stand_ins.ts";

/** Settings that the stack generates. */
const OWN = ["NEXT_PUBLIC_SITE_URL", "DATABASE_SERVICE_ROLE_KEY"];
const PASSED_ON = FUNCTION_SETTINGS.filter((name) => !OWN.includes(name));

export function functionEnvironment(
  stack: StackFacts & { siteUrl: string; supabaseUrl: string; secrets: Secrets; demoEmail?: string | undefined },
): Environment {
  const { own, secrets, localUrl } = stack;
  return {
    ...Object.fromEntries(Object.keys(GENERATED).map((name) => [name, secrets[name.toLowerCase() as keyof Secrets]])),
    ...Object.fromEntries(PASSED_ON.filter((name) => own[name]).map((name) => [name, own[name]])),
    ...standInSettings(stack),
    NEXT_PUBLIC_SITE_URL: stack.siteUrl,
    SUPABASE_URL: stack.supabaseUrl,
    SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: secrets.publishable_key }),
    SUPABASE_SECRET_KEYS: JSON.stringify({ default: secrets.secret_key }),
    LOCAL_URL: localUrl,
    LOCAL_DEMO_EMAIL: stack.demoEmail,
  };
}
