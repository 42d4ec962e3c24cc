/** Validates a deployment's settings. */
import { randomBytes } from "node:crypto";
import { ConfigError, readConfig } from "../../shared/config.ts";
import { DatabaseUrlError, parseDatabaseUrl, projectOf } from "../database_url.ts";

/** Keys that are generated if both the file and the project lack them. */
export const GENERATED: Readonly<Record<string, () => string>> = {
  OAUTH_CODE_SECRET: () => randomHex(32),
  CRON_SECRET: () => randomHex(32),
  FRONT_DOOR_SECRET: () => randomHex(32),
  PAYMENT_WEBHOOK_SECRET: () => randomHex(32),
  CREDENTIALS_KEY: () => randomBytes(32).toString("base64"),
};

export const randomHex = (length: number): string => randomBytes(length).toString("hex");

/** Settings of the functions. */
export const FUNCTION_SETTINGS: readonly string[] = [
  ...Object.keys(GENERATED),
  "NEXT_PUBLIC_SITE_URL",
  "DATABASE_SERVICE_ROLE_KEY",
  "MAIL_URL",
  "MAIL_FROM",
  "INBOUND_URL",
  "AUTH_PROVIDERS",
  "FX_SOURCES",
  "FILE_HOSTS",
  "PROVIDER_BASES",
  "RATE_LIMITS",
  "SIGN_UP",
  "KNOWN_APPS",
  "OPENAI_APPS_CHALLENGE",
  "REVIEW_SIGN_IN",
  "OPERATOR_NAME",
  "OPERATOR_CONTACT",
  "OPERATOR_COUNTRY",
  "OPERATOR_HOSTING",
  "SUPPORT_URL",
  "PRIVACY_URL",
  "TERMS_URL",
  "PRICING_URL",
  "CHECKOUT_URL",
  "INVOICES_URL",
  "CANCEL_URL",
  "PRO_PRICE",
  "TEAM_PRICE",
];

/** Settings of the deployment itself. */
const OF_DEPLOYMENT = ["DATABASE_URL", "AUTH_MAIL_URL", "SUPABASE_ACCESS_TOKEN"];

export const isFunctionSetting = (name: string): boolean => FUNCTION_SETTINGS.includes(name);

/** The variables with a sign-in service's credentials: `AUTH_GOOGLE_CLIENT_ID` and `AUTH_GOOGLE_SECRET`. */
export const credentialNames = (provider: string) => ({
  clientId: `AUTH_${provider.toUpperCase()}_CLIENT_ID`,
  secret: `AUTH_${provider.toUpperCase()}_SECRET`,
});

export const listOf = (value = ""): string[] => value.split(",").map((entry) => entry.trim()).filter(Boolean);

/** One line per problem, without values. */
export function settingProblems(
  values: ReadonlyMap<string, string>,
  { project, siteUrl }: { project: string; siteUrl: string },
): string[] {
  const providers = listOf(values.get("AUTH_PROVIDERS")).flatMap((provider) =>
    Object.values(credentialNames(provider))
  );
  const known = (name: string) => isFunctionSetting(name) || OF_DEPLOYMENT.includes(name) || providers.includes(name);
  const problems: string[] = [];
  for (const [name, value] of values) {
    if (!known(name)) problems.push(`${name} is not a setting of this service: check its spelling, or delete the line`);
    else if (!value.trim()) problems.push(`${name} is blank: fill it in, or delete the line to remove the setting`);
  }
  for (const name of ["MAIL_URL", "MAIL_FROM"]) if (!values.has(name)) problems.push(`${name} is missing`);
  for (const name of providers) if (!values.has(name)) problems.push(`${name} is missing, as AUTH_PROVIDERS needs it`);
  const own = values.get("NEXT_PUBLIC_SITE_URL");
  if (own?.trim() && own !== siteUrl) problems.push("NEXT_PUBLIC_SITE_URL is another address than --site");
  const mail = values.get("AUTH_MAIL_URL");
  if (mail?.trim() && !URL.canParse(mail)) problems.push("AUTH_MAIL_URL is not a URL");
  return [...problems, ...databaseProblems(values.get("DATABASE_URL"), project), ...configProblems(values, siteUrl)];
}

/** A copied file must not change its original project. */
function databaseProblems(url: string | undefined, project: string): string[] {
  if (!url?.trim()) return [];
  try {
    const found = projectOf(parseDatabaseUrl(url));
    return found === undefined || found === project ? [] : [
      `DATABASE_URL is not the database of --project: copy the session pooler's address from the dashboard of ${project}`,
    ];
  } catch (thrown) {
    if (thrown instanceof DatabaseUrlError) return [thrown.message];
    throw thrown;
  }
}

function configProblems(values: ReadonlyMap<string, string>, siteUrl: string): string[] {
  try {
    readConfig({ ...Object.fromEntries(values), NEXT_PUBLIC_SITE_URL: siteUrl }, ["siteUrl"]);
    return [];
  } catch (thrown) {
    if (thrown instanceof ConfigError) return [...thrown.problems];
    throw thrown;
  }
}
