/** The settings of `supabase start`: of its functions, and of the vault from which its schedule reads. */
import { join } from "node:path";
import { envFile } from "./env_file.ts";
import { GENERATED } from "./settings.ts";

/** As `auth.site_url` in supabase/config.toml. */
export const LOCAL_SITE = "http://127.0.0.1:8000";

/** Files and their texts. Both say the same CRON_SECRET, so they are made together. */
export function supabaseEnvironment(): Record<string, string> {
  const keys = Object.entries(GENERATED).map(([name, make]) => [name, make()] as const);
  const cron = keys.find(([name]) => name === "CRON_SECRET")!;
  return {
    "supabase/functions/.env": envFile([
      ["NEXT_PUBLIC_SITE_URL", LOCAL_SITE],
      // Mailpit, by its name in the network of the containers.
      ["MAIL_URL", "smtp://inbucket:1025"],
      ["MAIL_FROM", "Expenses <expenses@localhost>"],
      ...keys,
    ]),
    // The gateway, by its name there.
    "supabase/.env": envFile([["PROJECT_URL", "http://kong:8000"], cron]),
  };
}

/** @returns false when the file was there, and is unchanged. */
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
