/**
 * Deno 2.1.4 from npm, the version behind the platform's edge runtime. Like on the platform, it gets neither deno.json
 * nor the lock file, because this version could not read them.
 */

const VERSION = "2.1.4";

export interface Outcome {
  ok: boolean;
  /** Its output, without colors. */
  output: string;
}

export interface EdgeDeno {
  /** The program itself. */
  path: string;
  /** Runs it until it exits. @param folder with `functions`, `shared` and `import_map.json` */
  run(folder: string, args: string[]): Promise<Outcome>;
  /** Starts it in the background. */
  start(folder: string, args: string[], env: Record<string, string>): Deno.ChildProcess;
}

/** The variables that any Deno needs from the machine; the functions get no others. */
const MACHINE = ["HOME", "PATH", "TMPDIR", "DENO_DIR", "XDG_CACHE_HOME", "NPM_CONFIG_REGISTRY", "SSL_CERT_FILE"];
const environment = {
  ...Object.fromEntries(MACHINE.flatMap((name) => Deno.env.has(name) ? [[name, Deno.env.get(name)!]] : [])),
  DENO_TLS_CA_STORE: "system",
  DENO_NO_UPDATE_CHECK: "1",
  NO_COLOR: "1",
};

export async function edgeDeno(): Promise<EdgeDeno> {
  const path = await findProgram();
  const command = (folder: string, args: string[], env: Record<string, string> = {}) =>
    new Deno.Command(path, {
      args,
      cwd: folder,
      clearEnv: true,
      env: { ...environment, ...env },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    });
  return {
    path,
    async run(folder, args) {
      const { success, stdout, stderr } = await command(folder, args).output();
      return { ok: success, output: decode(stdout) + decode(stderr) };
    },
    start: (folder, args, env) => command(folder, args, env).spawn(),
  };
}

/** Starts the program itself, because `npx` does not forward signals. */
async function findProgram(): Promise<string> {
  const elsewhere = await Deno.makeTempDir();
  const { success, stdout, stderr } = await new Deno.Command("npx", {
    args: ["-y", `deno@${VERSION}`, "eval", "console.log(Deno.execPath())"],
    cwd: elsewhere,
    env: environment,
  }).output();
  await Deno.remove(elsewhere);
  if (!success) throw new Error(`npx cannot run Deno ${VERSION}: ${decode(stderr)}`);
  return decode(stdout).trim();
}

const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
