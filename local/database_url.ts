/** A database's address, which programs take without the password: that goes by the environment. */

export class DatabaseUrlError extends Error {
  override readonly name = "DatabaseUrlError";
}

/** @throws {DatabaseUrlError} */
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
 * The project that one of Supabase's own addresses leads to: `db.<ref>.supabase.co`, or a pooler's `<role>.<ref>`. Empty if
 * it names none, and undefined for any other address.
 */
export function projectOf({ hostname, username }: URL): string | undefined {
  const host = hostname.toLowerCase();
  if (host.endsWith(".pooler.supabase.com")) return username.split(".")[1] ?? "";
  if (host.endsWith(".supabase.co")) return /^db\.([^.]+)\.supabase\.co$/.exec(host)?.[1] ?? "";
}
