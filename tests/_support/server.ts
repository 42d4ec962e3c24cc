/**
 * An empty PostgreSQL server in its own folder, from the installed binaries, on a free loopback port. PostgreSQL
 * refuses to run as root; for root, the server runs as `postgres` or `nobody`.
 */
import { freePort } from "./free_port.ts";
import { unlessInterrupted, whenInterrupted } from "./interrupt.ts";

export interface Binaries {
  /** Folder of `initdb` and `postgres`. */
  folder: string;
  /** Folder of the server's loadable libraries. */
  libraries: string;
  version: string;
}

/**
 * `PG_BIN`, otherwise Debian's newest, otherwise from the PATH.
 * @throws {Error} with installation instructions.
 */
export async function findBinaries(): Promise<Binaries> {
  const folder = Deno.env.get("PG_BIN") ?? await newestDebianFolder() ?? "";
  const [own = "", libraries = "", version = ""] = await output(folder ? `${folder}/pg_config` : "pg_config", [
    "--bindir",
    "--pkglibdir",
    "--version",
  ]).then((text) => text.trim().split("\n"), (thrown) => {
    throw new Error(
      `No PostgreSQL here: install postgresql, or set PG_BIN to the folder of initdb (${thrown.message})`,
    );
  });
  return { folder: folder || own, libraries, version: /[\d.]+/.exec(version)?.[0] ?? version };
}

const DEBIAN = "/usr/lib/postgresql";

async function newestDebianFolder(): Promise<string | undefined> {
  const versions = await Array.fromAsync(Deno.readDir(DEBIAN), ({ name }) => Number(name)).catch(() => []);
  const installed = versions.toSorted((a, b) => b - a).map((version) => `${DEBIAN}/${version}/bin`);
  for (const folder of installed) {
    if (await Deno.stat(`${folder}/initdb`).catch(() => undefined)) return folder;
  }
}

export interface Server {
  port: number;
  /** The server's folder, including its log. */
  folder: string;
  /** Process id of the current postmaster. */
  pid(): number;
  /**
   * Stops it and starts it on the same data. `fast` ends the sessions and writes a checkpoint. `crash` kills every
   * process at once, like a machine failure, so that the start recovers from the log.
   */
  restart(how: "fast" | "crash"): Promise<void>;
  /** The end of its log. */
  log(): string;
  stop(): Promise<void>;
}

const PREFIX = "expense-service-postgres-";

/**
 * @param options.dir the parent of its folder, such as a small file system; the system's temporary folder by default
 */
export async function startServer(
  binaries: Binaries,
  { superuser, settings, dir }: { superuser: string; settings: Record<string, string>; dir?: string },
): Promise<Server> {
  await removeAbandoned();
  const folder = await Deno.makeTempDir({ prefix: PREFIX, dir });
  await Deno.writeTextFile(`${folder}/started-by`, String(Deno.pid));
  const user = await userForServer();
  if (user) await Deno.chown(folder, user.uid, user.gid);
  const common = { ...user, cwd: folder };

  // A linguistic collation, as in hosted projects, so that code that relies on byte order fails here.
  const locale = ["--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en-US"];
  const identity = [`--username=${superuser}`, "--auth=trust", "--no-sync"];
  await output(`${binaries.folder}/initdb`, [...identity, ...locale, `${folder}/data`], common);

  const port = freePort();
  const all = {
    ...DURABLE_FOR_MINUTES,
    ...settings,
    listen_addresses: "127.0.0.1",
    port: String(port),
    unix_socket_directories: "",
    timezone: "UTC",
  };
  const start = async () => {
    await unlessInterrupted();
    const child = new Deno.Command(`${binaries.folder}/postgres`, {
      args: ["-D", `${folder}/data`, ...Object.entries(all).flatMap(([name, value]) => ["-c", `${name}=${value}`])],
      stdin: "null",
      stdout: "null",
      stderr: "piped",
      ...common,
    }).spawn();
    const log = readLog(child.stderr);
    return { child, log, isReady: await log.ready };
  };
  let running = await start();
  const end = async (signal: Deno.Signal) => {
    try {
      running.child.kill(signal);
    } catch {
      // The process has already ended.
    }
    await running.child.status;
    await running.log.ended;
  };

  let stopping: Promise<void> | undefined;
  const stop = () => stopping ??= stopOnce();
  const stopOnce = async () => {
    await end("SIGINT"); // A fast shutdown ends sessions instead of waiting for them.
    await Deno.remove(folder, { recursive: true });
    forget();
  };
  const forget = whenInterrupted(stop);

  const restart: Server["restart"] = async (how) => {
    // The log ends when the last process with the descriptor exits.
    await end(how === "crash" ? "SIGKILL" : "SIGINT");
    running = await start();
    if (!running.isReady) throw new Error(`PostgreSQL did not start again:\n${running.log.lastLines()}`);
  };
  if (!running.isReady) {
    const said = running.log.lastLines();
    await stop();
    throw new Error(`PostgreSQL did not start:\n${said}`);
  }
  return { port, folder, pid: () => running.child.pid, log: () => running.log.lastLines(), restart, stop };
}

// The data is deleted at the end, so fsync is off.
const DURABLE_FOR_MINUTES = { fsync: "off", full_page_writes: "off", synchronous_commit: "off" };

/** Reads the server's log up to the line that reports readiness. An unread log would block the server. */
function readLog(stderr: ReadableStream<Uint8Array<ArrayBuffer>>) {
  let end = "";
  const { promise: ready, resolve } = Promise.withResolvers<boolean>();
  const ended = (async () => {
    for await (const text of stderr.pipeThrough(new TextDecoderStream())) {
      end = (end + text).slice(-40_000);
      if (end.includes("ready to accept connections")) resolve(true);
    }
    resolve(false);
  })();
  return { ready, ended, lastLines: () => end };
}

async function userForServer(): Promise<{ uid: number; gid: number } | undefined> {
  if (Deno.uid() !== 0) return undefined;
  const users = (await Deno.readTextFile("/etc/passwd")).split("\n").map((line) => line.split(":"));
  const user = users.find(([name]) => name === "postgres") ?? users.find(([name]) => name === "nobody");
  if (!user) throw new Error("PostgreSQL does not run as root, and there is no user postgres or nobody to run it as");
  return { uid: Number(user[2]), gid: Number(user[3]) };
}

/** A killed test run leaves its server running, and the next run stops it. */
async function removeAbandoned(): Promise<void> {
  const parent = Deno.env.get("TMPDIR") ?? "/tmp";
  for await (const { name } of Deno.readDir(parent)) {
    if (!name.startsWith(PREFIX)) continue;
    const folder = `${parent}/${name}`;
    const startedBy = await Deno.readTextFile(`${folder}/started-by`).catch(() => "");
    if (!startedBy || await isRunning(startedBy)) continue;
    const server = (await Deno.readTextFile(`${folder}/data/postmaster.pid`).catch(() => "")).split("\n")[0]!;
    if (server && await isRunning(server, folder)) Deno.kill(Number(server), "SIGQUIT");
    await Deno.remove(folder, { recursive: true }).catch(() => {});
  }
}

/** @param mark part of its command line, since process ids are reused. */
async function isRunning(pid: string, mark = ""): Promise<boolean> {
  return (await Deno.readTextFile(`/proc/${pid}/cmdline`).catch(() => undefined))?.includes(mark) ?? false;
}

async function output(command: string, args: string[], options: Deno.CommandOptions = {}): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args, stdin: "null", ...options }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  if (!success) throw new Error(`${command} failed: ${decode(stderr)}${decode(stdout)}`);
  return decode(stdout);
}
