/** A database's address as programs take it: without the password, which goes by the environment. */

export class DatabaseUrlError extends Error {
  override readonly name = "DatabaseUrlError";
}

/** @throws {DatabaseUrlError} */
export function splitPassword(given: string): { target: string; env: Record<string, string> } {
  if (!/^postgres(ql)?:\/\//.test(given) || !URL.canParse(given)) {
    throw new DatabaseUrlError(
      "DATABASE_URL is not postgresql://…: copy the session pooler's address from the dashboard.",
    );
  }
  const url = new URL(given);
  const password = decodeURIComponent(url.password);
  url.password = "";
  return { target: url.href, env: password ? { PGPASSWORD: password } : {} };
}
