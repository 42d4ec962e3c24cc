/** The project in an empty folder of a person who has never used it: no packages, no caches, no settings. */
import { dirname, join } from "node:path";
import { waitFor } from "../_support/wait_for.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
/** The machine's registry settings don't apply to this person. */
const NETWORK = /^(npm_config_registry|https?_proxy|no_proxy|\w+_cert\w*|deno_(tls_ca_store|cert))$/i;
/** Generous, because a first start fetches its packages. */
const START_DEADLINE_MS = 300_000;
const COMMAND_DEADLINE_MS = 240_000;

export interface Person {
  name: string;
  /** Absent for the user who runs the test. */
  uid?: number;
}

/** The current user and, for root, an unprivileged one. */
export const PEOPLE: Person[] = Deno.uid() === 0
  ? [{ name: "root" }, { name: "a normal user", uid: 65534 }]
  : [{ name: "a normal user" }];

export interface Ended {
  code: number;
  output: string;
}

export interface FreshFolder {
  path: string;
  /** Runs one line as the person's shell would. */
  run(line: string, env?: Record<string, string>): Promise<Ended>;
  /** Starts a command that runs until stopped, and waits for `sign` in its output. */
  start(line: string, options: { sign: string; env?: Record<string, string> }): Promise<Running>;
  remove(): Promise<void>;
}

export interface Running {
  output(): string;
  /** The time from the command to the sign, and from the installed packages to the sign, in seconds. */
  seconds: { all: number; own: number };
  /** Acts like Ctrl-C; resolves to all of its output. */
  interrupt(): Promise<Ended>;
}

/** @param env further variables, such as a non-empty cache */
export async function freshFolder({ uid }: Person, env: Record<string, string> = {}): Promise<FreshFolder> {
  const home = await Deno.makeTempDir({ prefix: "expense-fresh-" });
  const path = join(home, "expenses");
  for (const file of await projectFiles()) {
    await Deno.mkdir(join(path, dirname(file)), { recursive: true });
    await Deno.copyFile(ROOT + file, join(path, file)).catch((thrown) => {
      // Removed from the checkout but not committed yet.
      if (!(thrown instanceof Deno.errors.NotFound)) throw thrown;
    });
  }
  if (uid !== undefined) await new Deno.Command("chown", { args: ["-R", `${uid}:${uid}`, home] }).output();
  const network = Object.entries(Deno.env.toObject()).filter(([name]) => NETWORK.test(name));
  const command = (line: string, more: Record<string, string> = {}) =>
    new Deno.Command("sh", {
      args: ["-c", `exec ${line}`],
      cwd: path,
      ...(uid !== undefined && { uid, gid: uid }),
      clearEnv: true,
      env: { ...Object.fromEntries(network), HOME: home, PATH: Deno.env.get("PATH")!, NO_COLOR: "1", ...env, ...more },
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
    });
  return {
    path,
    async run(line, more) {
      const child = command(line, more).spawn();
      const timer = setTimeout(() => child.kill("SIGKILL"), COMMAND_DEADLINE_MS);
      const { code, stdout, stderr } = await child.output();
      clearTimeout(timer);
      return { code, output: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
    },
    async start(line, { sign, env: more }) {
      const startedAt = performance.now();
      let installedAt = startedAt;
      let output = "";
      const child = command(line, more).spawn();
      const collect = async (stream: ReadableStream<Uint8Array<ArrayBuffer>>) => {
        for await (const text of stream.pipeThrough(new TextDecoderStream())) {
          output += text;
          // The line with which `deno task` begins, once all packages are installed.
          if (text.includes("Task start")) installedAt = performance.now();
        }
      };
      const collected = Promise.all([collect(child.stdout), collect(child.stderr)]);
      let ended: number | undefined;
      child.status.then(({ code }) => ended = code);
      const state = () => Promise.resolve(output.includes(sign) ? "ready" : ended === undefined ? undefined : "ended");
      const reached = await waitFor(state, { deadlineMs: START_DEADLINE_MS, everyMs: 20 }).catch(() => "late");
      if (reached !== "ready") {
        if (ended === undefined) child.kill("SIGKILL");
        throw new Error(`${line}: ${reached}\n${output}`);
      }
      const readyAt = performance.now();
      return {
        output: () => output,
        seconds: { all: (readyAt - startedAt) / 1000, own: (readyAt - installedAt) / 1000 },
        async interrupt() {
          // A terminal sends the signal to npx, deno task and the stack; the stack must act on it.
          const { pid } = JSON.parse(await Deno.readTextFile(join(path, ".local/running.json")));
          Deno.kill(pid, "SIGINT");
          const timer = setTimeout(() => child.kill("SIGKILL"), COMMAND_DEADLINE_MS);
          const { code } = await child.status;
          clearTimeout(timer);
          await collected;
          return { code, output };
        },
      };
    },
    remove: () => Deno.remove(home, { recursive: true }),
  };
}

/** The files of a clone, and uncommitted ones. */
async function projectFiles(): Promise<string[]> {
  const { success, stdout, stderr } = await new Deno.Command("git", {
    args: ["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
    cwd: ROOT,
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout).split("\0").filter(Boolean);
}

/** An installation's packages and their size in megabytes of 1,000,000 bytes. */
export async function installed(folder: string): Promise<{ names: string[]; megabytes: number }> {
  const packages = join(folder, "node_modules/.deno");
  const names: string[] = [];
  let bytes = 0;
  for await (const { name, isDirectory } of Deno.readDir(packages)) {
    if (!isDirectory || !/.@\d/.test(name)) continue;
    names.push(name.replace(/(.@[^_]+).*/, "$1").replaceAll("+", "/"));
    bytes += await sizeOf(join(packages, name));
  }
  return { names, megabytes: bytes / 1e6 };
}

async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  // Links lead to packages that are counted separately.
  for await (const { name, isDirectory, isFile } of Deno.readDir(folder)) {
    const path = join(folder, name);
    if (isDirectory) bytes += await sizeOf(path);
    else if (isFile) bytes += (await Deno.stat(path)).size;
  }
  return bytes;
}
