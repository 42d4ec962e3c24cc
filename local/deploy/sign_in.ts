/**
 * The settings of Supabase Auth: supabase/config.toml with the site's address and a mail server. Without a mail server,
 * Supabase Auth mails only members of the project's organization, two mails an hour.
 */
import { dirname, join } from "node:path";
import { parse, stringify, type TomlTable } from "smol-toml";
import { credentialNames, listOf } from "./settings.ts";
import { type Deployment, type Step, StepError } from "./step.ts";

export const signIn: Step = {
  title: "Sign-in settings",
  async run(deployment) {
    const { cli, isDryRun, project } = deployment;
    const differences = await diffAuthConfig(deployment, await writeAuthConfig(deployment));
    if (isDryRun) {
      for (const path of differences) deployment.say(`  differs: ${path}`);
      return differences.length > 0 ? "planned" : "unchanged";
    }
    const { workdir, env } = await writeAuthConfig({ ...deployment, unlisted: servicesIn(differences) });
    const { answer } = await cli.run(["config", "push", `--remote=${project}`, "--workdir", workdir, "--yes"], { env });
    const { services } = answer as { services: { status: string; changes: string[][] }[] };
    const changed = services.filter(({ status }) => status === "updated").flatMap(({ changes }) => changes);
    for (const path of changed) deployment.say(`  set: ${path.join(".")}`);
    return changed.length > 0 ? "changed" : "unchanged";
  },
};

interface AuthConfig {
  /** A folder with a configuration for this project. */
  workdir: string;
  /** Variables that the configuration refers to. */
  env: Record<string, string>;
}

/**
 * Paths of the settings that differ in the project, including enabled sign-in services that the settings don't list.
 * Secrets and mail texts aren't compared.
 */
export async function diffAuthConfig(
  { cli, project }: Pick<Deployment, "cli" | "project">,
  { workdir, env }: AuthConfig,
): Promise<string[]> {
  const { answer } = await cli.run(["config", "diff", `--remote=${project}`, "--workdir", workdir], { env });
  const { changes } = answer as { changes: { path: string[]; declared: boolean; remote: unknown }[] };
  return changes.map((change) => ({ ...change, path: change.path.join(".") }))
    .filter(({ declared, path, remote }) =>
      declared ? /^(auth|api)\./.test(path) : SERVICE_SWITCH.test(path) && remote === true
    )
    .map(({ path }) => path);
}

const SERVICE_SWITCH = /^auth\.external\.(\w+)\.enabled$/;
const servicesIn = (paths: string[]) => paths.flatMap((path) => SERVICE_SWITCH.exec(path)?.[1] ?? []);

/** The names of the mails whose texts differ between the project and this checkout. The CLI doesn't compare them. */
export async function diffMailTexts(
  { project, root, token, apiUrl = "https://api.supabase.com" }: {
    project: string;
    root: string;
    token: string;
    apiUrl?: string;
  },
): Promise<string[]> {
  const response = await fetch(`${apiUrl}/v1/projects/${project}/config/auth`, {
    headers: { authorization: `Bearer ${token}` },
    signal: AbortSignal.timeout(20_000),
  });
  if (!response.ok) throw new StepError(`the management API answers ${response.status} about the sign-in settings`);
  const settings = await response.json() as Record<string, unknown>;
  const { auth } = parse(await Deno.readTextFile(join(root, "supabase/config.toml"))) as {
    auth: { email: { template: Record<string, { content_path: string }> } };
  };
  const templates = Object.entries(auth.email.template);
  const texts = await Promise.all(templates.map(([, { content_path }]) => Deno.readTextFile(join(root, content_path))));
  return templates.filter((_, index) =>
    String(settings[`mailer_templates_${templates[index]![0]}_content`]).trim() !== texts[index]!.trim()
  ).map(([name]) => `auth.email.template.${name}.content`);
}

/**
 * Writes the project's configuration, in which secrets are names of variables.
 * @param unlisted services to turn off unless AUTH_PROVIDERS lists them, since a push ignores undeclared ones.
 */
export async function writeAuthConfig(
  { root, folder, siteUrl, values, unlisted = [] }: Pick<Deployment, "root" | "folder" | "siteUrl" | "values"> & {
    unlisted?: string[];
  },
): Promise<AuthConfig> {
  const config = parse(await Deno.readTextFile(join(root, "supabase/config.toml"))) as TomlTable;
  const auth = config.auth as TomlTable & { email: TomlTable };
  const server = mailServer(values.get("AUTH_MAIL_URL") ?? values.get("MAIL_URL")!);
  const { address, name } = sender(values.get("MAIL_FROM")!);
  auth.site_url = siteUrl;
  auth.email.smtp = {
    enabled: true,
    host: server.host,
    port: server.port,
    user: server.user,
    pass: "env(AUTH_SMTP_PASS)",
    admin_email: address,
    sender_name: name,
  };
  auth.rate_limit = { ...RATE_LIMITS };
  const env: Record<string, string> = { AUTH_SMTP_PASS: server.password };
  const external: TomlTable = Object.fromEntries(unlisted.map((service) => [service, { enabled: false }]));
  for (const service of listOf(values.get("AUTH_PROVIDERS"))) {
    const names = credentialNames(service);
    env[names.secret] = values.get(names.secret)!;
    external[service] = { enabled: true, client_id: values.get(names.clientId)!, secret: `env(${names.secret})` };
  }
  auth.external = external;
  const workdir = join(folder, "auth");
  const target = join(workdir, "supabase");
  await Deno.mkdir(join(target, "templates"), { recursive: true });
  for (const template of Object.values(auth.email.template as Record<string, { content_path: string }>)) {
    await Deno.mkdir(dirname(join(workdir, template.content_path)), { recursive: true });
    await Deno.copyFile(join(root, template.content_path), join(workdir, template.content_path));
  }
  // A push must change no other setting.
  const { project_id, api } = config;
  const kept: TomlTable = { project_id: project_id!, api: api!, auth };
  await Deno.writeTextFile(join(target, "config.toml"), stringify(kept));
  return { workdir, env };
}

/**
 * Supabase Auth limits requests by IP address, and all requests come from the functions' addresses. Our own limits
 * apply per person (shared/http/quotas.ts), so these limits leave room for everybody.
 */
export const RATE_LIMITS = {
  /** Per hour; needs a mail server. */
  email_sent: 1000,
  /**
   * This and the following limits apply per five minutes. Requests for mails: enough to use the hourly number within a
   * short time.
   */
  sign_in_sign_ups: 300,
  /**
   * Links and typed codes: several per mail. A higher limit would help anybody with the publishable key to guess
   * six-digit codes at Supabase Auth itself.
   */
  token_verifications: 300,
  /**
   * A session refreshes once an hour, so this is enough for 180,000 active people. Nobody can guess a refresh token.
   */
  token_refresh: 15_000,
};

/** The mail service as an SMTP server, because Supabase Auth sends sign-in mails and supports only SMTP. */
export function mailServer(mailUrl: string): { host: string; port: number; user: string; password: string } {
  const url = new URL(mailUrl);
  // https://resend.com/docs/send-with-smtp
  if (url.protocol === "resend:") return { host: "smtp.resend.com", port: 465, user: "resend", password: url.host };
  return {
    host: url.hostname,
    port: Number(url.port || (url.protocol === "smtps:" ? 465 : 587)),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
  };
}

/** `Expenses <expenses@example.com>`, or the address alone. */
export function sender(mailFrom: string): { address: string; name: string } {
  const [, name = "", address = mailFrom] = /^\s*"?([^"<]*?)"?\s*<([^>]+)>\s*$/.exec(mailFrom) ?? [];
  return { address: address.trim(), name: name || "Expenses" };
}
