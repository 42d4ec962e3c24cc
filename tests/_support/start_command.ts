/** Runs `deno task start` like a person or script, to test messages, exit codes and signals. */

const ROOT = new URL("../../", import.meta.url).pathname;

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the command until it exits by itself. */
export async function runStart(...args: string[]): Promise<Ended> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "start", ...args],
    cwd: ROOT,
    env: { NO_COLOR: "1" },
    stdin: "null",
  }).output();
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: text(stdout), stderr: text(stderr) };
}
