/** Saves people's data: our tables and the sign-in accounts, without schema and keys. */
import { run, type Server } from "./postgres_tool.ts";

export const SCHEMAS = ["app", "billing", "identity", "jobs", "oauth"];
/**
 * Tables of Supabase Auth, without sessions: people must sign in again, while apps stay connected through our own
 * tokens.
 */
const SIGN_IN = ["auth.users", "auth.identities"];

/** Writes a file that only its owner may read; a failed run leaves no file. @throws {BackupError} */
export async function save({ target, env }: Server, path: string): Promise<void> {
  const draft = `${path}.part`;
  await Deno.writeTextFile(draft, "", { mode: 0o600 });
  try {
    const tables = [...SCHEMAS.map((schema) => `${schema}.*`), ...SIGN_IN].map((table) => `--table=${table}`);
    await run("pg_dump", ["--format=custom", "--data-only", ...tables, `--file=${draft}`, `--dbname=${target}`], {
      env,
    });
    // Verifies the file by reading its table of contents.
    await run("pg_restore", ["--list", draft]);
    await Deno.rename(draft, path);
  } catch (thrown) {
    await Deno.remove(draft).catch(() => {});
    throw thrown;
  }
}
