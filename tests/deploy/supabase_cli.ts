/** The real Supabase CLI from npm, with its own home folder, so that it doesn't touch the user's. */
import { CLI_VERSION } from "../../local/deploy/cli.ts";

export interface Outcome {
  ok: boolean;
  stdout: string;
  /** Both streams. */
  output: string;
}

/**
 * The program that `npx -y supabase@…` runs. Tests start it without npx, which adds a second to every command; the
 * README's deployment uses npx.
 */
export const CLI_PROGRAM = await install();

async function install(): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command("npx", {
    args: ["--yes", "--package", `supabase@${CLI_VERSION}`, "--call", "command -v supabase"],
    stdin: "null",
  }).output();
  if (!success) throw new Error(`npx could not install the Supabase CLI: ${decode(stderr)}`);
  return decode(stdout).trim();
}

/** @param folder with `supabase/config.toml` */
export async function supabase(
  folder: string,
  args: string[],
  env: Record<string, string> = {},
): Promise<Outcome> {
  const home = await Deno.makeTempDir({ prefix: "expense-cli-" });
  const { success, stdout, stderr } = await new Deno.Command(CLI_PROGRAM, {
    args,
    cwd: folder,
    env: {
      HOME: home,
      SUPABASE_TELEMETRY_DISABLED: "1",
      NO_COLOR: "1",
      ...env,
    },
    stdin: "null",
  }).output();
  await Deno.remove(home, { recursive: true });
  return { ok: success, stdout: decode(stdout), output: decode(stdout) + decode(stderr) };
}

function decode(bytes: Uint8Array): string {
  return new TextDecoder().decode(bytes);
}
