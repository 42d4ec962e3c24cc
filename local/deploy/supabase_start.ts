/** The settings of `supabase start`: for its functions, and for the vault of its schedule. */
import { join } from "node:path";
import { envFile } from "./env_file.ts";
import { GENERATED } from "./settings.ts";

/** Same as `auth.site_url` in supabase/config.toml. */
export const LOCAL_SITE = "http://127.0.0.1:8000";

/** The files with their contents. Both contain the same CRON_SECRET, so they are generated together. */
export function supabaseEnvironment(): Record<string, string> {
  const keys = Object.entries(GENERATED).map(([name, make]) => [name, make()] as const);
  const cron = keys.find(([name]) => name === "CRON_SECRET")!;
  return {
    "supabase/functions/.env": envFile([
      ["NEXT_PUBLIC_SITE_URL", LOCAL_SITE],
      // Mailpit's host name in the container network.
      ["MAIL_URL", "smtp://inbucket:1025"],
      ["MAIL_FROM", "Expenses <expenses@localhost>"],
      ...keys,
    ]),
    // The gateway's host name in the container network.
    "supabase/.env": envFile([["PROJECT_URL", "http://kong:8000"], cron]),
  };
}

/** @returns false when the file already existed; it stays unchanged. */
export async function writeOnce(root: string, path: string, text: string): Promise<boolean> {
  const target = join(root, path);
  await Deno.mkdir(join(target, ".."), { recursive: true });
  try {
    await Deno.writeTextFile(target, text, { mode: 0o600, createNew: true });
    return true;
  } catch (thrown) {
    if (thrown instanceof Deno.errors.AlreadyExists) return false;
    throw thrown;
  }
}
