/** A database's URL: the setting, the URL's project, and a form without a password for other programs. */
import { EnvFileError, parseEnvFile } from "./deploy/env_file.ts";

export class DatabaseUrlError extends Error {
  override readonly name = "DatabaseUrlError";
}

/** `DATABASE_URL` from the environment or the settings file. @throws {DatabaseUrlError} */
export async function readDatabaseUrl(envPath: string): Promise<string> {
  const given = Deno.env.get("DATABASE_URL") || await fromFile(envPath);
  if (!given) throw new DatabaseUrlError(`DATABASE_URL is neither in the environment nor in ${envPath}.`);
  return given;
}

async function fromFile(path: string): Promise<string | undefined> {
  const text = await Deno.readTextFile(path).catch(() => "");
  try {
    return parseEnvFile(text).get("DATABASE_URL");
  } catch (thrown) {
    throw thrown instanceof EnvFileError ? new DatabaseUrlError(`${path}: ${thrown.message}`) : thrown;
  }
}

/** The URL without the password, which other programs get in the environment. @throws {DatabaseUrlError} */
export function splitPassword(given: string): { target: string; env: Record<string, string> } {
  const url = parseDatabaseUrl(given);
  const password = decodeURIComponent(url.password);
  url.password = "";
  return { target: url.href, env: password ? { PGPASSWORD: password } : {} };
}

/** @throws {DatabaseUrlError} */
export function parseDatabaseUrl(given: string): URL {
  if (!/^postgres(ql)?:\/\//.test(given) || !URL.canParse(given)) {
    throw new DatabaseUrlError(
      "DATABASE_URL is not postgresql://…: copy the session pooler's address from the dashboard.",
    );
  }
  return new URL(given);
}

/**
 * The project of one of Supabase's own hosts: `db.<ref>.supabase.co`, or a pooler's `<role>.<ref>`. Empty if the URL
 * has no reference, and undefined for other hosts.
 */
export function projectOf({ hostname, username }: URL): string | undefined {
  const host = hostname.toLowerCase();
  if (host.endsWith(".pooler.supabase.com")) return username.split(".")[1] ?? "";
  if (host.endsWith(".supabase.co")) return /^db\.([^.]+)\.supabase\.co$/.exec(host)?.[1] ?? "";
}
