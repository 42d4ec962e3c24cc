/** The real Supabase CLI, from npm, with a home of its own: it neither reads nor leaves anything of the person who runs it. */

const VERSION = "3.1.0";

export interface Outcome {
  ok: boolean;
  stdout: string;
  /** Both streams. */
  output: string;
}

/** @param folder that holds `supabase/config.toml`. */
export async function supabase(
  folder: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<Outcome> {
  const home = await Deno.makeTempDir({ prefix: "expense-cli-" });
  // npm keeps what it has downloaded; the CLI keeps nothing.
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
