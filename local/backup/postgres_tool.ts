/** Runs `pg_dump`, `pg_restore` and `psql`, which must be as new as the server. */

export interface Server {
  /** Without a password. */
  target: string;
  env: Record<string, string>;
}

/** The program's error message. */
export class BackupError extends Error {
  override readonly name = "BackupError";
}

/** @param from a stream for the program's standard input @returns its standard output @throws {BackupError} */
export async function run(
  program: "pg_dump" | "pg_restore" | "psql",
  args: string[],
  { env = {}, from }: { env?: Record<string, string>; from?: ReadableStream<Uint8Array<ArrayBuffer>> } = {},
): Promise<string> {
  const child = start(program, args, { env, isFed: from !== undefined });
  // The exit code shows which of the two ended first.
  const fed = from?.pipeTo(child.stdin).catch(() => {});
  const [{ success }, stdout, stderr] = await Promise.all([
    child.status,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    fed,
  ]);
  if (!success) throw new BackupError(`${program}: ${stderr.trim().split("\n").slice(-3).join(" ")}`);
  return stdout;
}

/** @throws {BackupError} when it isn't installed. */
export function start(
  program: string,
  args: string[],
  { env = {}, isFed = false }: { env?: Record<string, string>; isFed?: boolean } = {},
): Deno.ChildProcess {
  try {
    const stdin = isFed ? "piped" : "null";
    return new Deno.Command(program, { args, env, stdin, stdout: "piped", stderr: "piped" }).spawn();
  } catch (thrown) {
    if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
    throw new BackupError(`${program} is not installed: install PostgreSQL's client programs.`);
  }
}
