/** The real Supabase CLI from npm, with its own home folder: it neither reads nor leaves anything in the user's. */

const VERSION = "3.1.0";

export interface Outcome {
  ok: boolean;
  stdout: string;
  /** Both streams. */
  output: string;
}

/** @param folder that contains `supabase/config.toml`. */
export async function supabase(
  folder: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<Outcome> {
  const home = await Deno.makeTempDir({ prefix: "expense-cli-" });
  // npm caches its downloads; the CLI caches nothing.
  const cache = Deno.env.get("npm_config_cache") ?? `${Deno.env.get("HOME")}/.npm`;
  const { success, stdout, stderr } = await new Deno.Command("npx", {
    args: ["-y", `supabase@${VERSION}`, ...args],
    cwd: folder,
    env: {
      HOME: home,
      npm_config_cache: cache,
      SUPABASE_TELEMETRY_DISABLED: "1",
      NO_COLOR: "1",
      ...env,
    },
    stdin: "null",
  }).output();
  await Deno.remove(home, { recursive: true });
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { ok: success, stdout: decode(stdout), output: decode(stdout) + decode(stderr) };
}
