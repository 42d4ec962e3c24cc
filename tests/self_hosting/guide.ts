/** The commands and files of docs/self-hosting.md, for a machine that is a temporary folder with its own ports. */
import { parseEnvFile } from "../../local/deploy/env_file.ts";
import { startMailSink } from "../../local/mail/smtp_sink.ts";
import { freePort } from "../_support/free_port.ts";
import { whenInterrupted } from "../_support/interrupt.ts";
import { type Binaries, findBinaries, type Server, startServer } from "../_support/server.ts";
import { waitFor } from "../_support/wait_for.ts";
import type { Releases } from "./releases.ts";

const ROOT = new URL("../../", import.meta.url).pathname;

/** The code blocks below a heading. */
export async function blocksOf(heading: string): Promise<string[]> {
  const text = await Deno.readTextFile(`${ROOT}docs/self-hosting.md`);
  const section = text.split(/^## /m).find((one) => one.startsWith(`${heading}\n`));
  const blocks = [...section?.matchAll(/^```\w+\n([^]*?)^```$/gm) ?? []].map(([, block]) => block!);
  if (blocks.length === 0) throw new Error(`The guide has no block below ${heading}`);
  return blocks;
}

/** The values of a unit's lines, as systemd reads them. */
export const unitValues = (unit: string, name: string): string[] =>
  [...unit.matchAll(new RegExp(`^${name}=(.*)$`, "gm"))].map(([, value]) => value!.replaceAll("%%", "%"));

export interface Service {
  port: number;
  log(): string;
  /** Stops it as `systemctl stop` does. @returns its exit code */
  end(): Promise<number>;
  kill(): Promise<number>;
}

/** The actions of an operator on their own machine. */
export interface Machine {
  folder: string;
  database: Server;
  httpsPort: number;
  /** The port of the unit; a second process has its own. */
  service: Service;
  /** Runs one of the guide's blocks. @throws {Error} with its output when a command fails */
  run(block: string, replace?: Record<string, string>, env?: Record<string, string>): Promise<string>;
  /** Puts the guide's file into its place, with further lines before it. */
  write(file: string, block: string, before?: string): Promise<void>;
  /** Starts it as the unit does, and waits until it is ready. */
  start(): Promise<Service>;
  /** An additional process, which begins to start. */
  begin(port: number): Promise<Service>;
  /** Reads and changes the settings. */
  settings(change?: (text: string) => string): Promise<string>;
  close(): Promise<void>;
}

export interface Operator {
  mails: Awaited<ReturnType<typeof startMailSink>>;
  releases: Releases;
}

/** Debian's commands that no test may run, as programs that come first in the path. */
const programs = (machine: { systemPort: number; databasePort: number; binaries: Binaries }) => ({
  deno: `exec ${Deno.execPath()} "$@"`,
  // The guide's users don't exist here; psql as postgres reaches the machine's own server.
  runuser: `[ "$2" != postgres ] || export PGHOST=127.0.0.1 PGPORT=${machine.databasePort} PGUSER=postgres
shift 3
exec "$@"`,
  systemctl: `exec curl --silent --show-error --fail-with-body --data "$*" http://127.0.0.1:${machine.systemPort}`,
  ...Object.fromEntries(["apt-get", "npm", "adduser", "chown"].map((name) => [name, "exit 0"])),
});

export async function newMachine({ mails, releases }: Operator, { httpsPort = freePort() } = {}): Promise<Machine> {
  const binaries = await findBinaries();
  const folder = await Deno.makeTempDir({ prefix: "expense-server-" });
  const database = await startServer(binaries, { superuser: "postgres", settings: {} });
  const port = freePort();
  const running = new Set<Service>();
  let ordinary: Service | undefined;
  const [clone, envFile] = [`${folder}/opt`, `${folder}/expenses.env`];
  for (const made of ["bin", "backups"]) await Deno.mkdir(`${folder}/${made}`);

  const fit = (text: string) =>
    [
      ["<REPOSITORY>", releases.folder],
      ["/opt/expenses", clone],
      ["/usr/local/bin/as-expenses", `${folder}/bin/as-expenses`],
      ["/var/cache/expenses", Deno.env.get("DENO_DIR") ?? `${Deno.env.get("HOME")}/.cache/deno`],
      ["/etc/expenses.env", envFile],
      ["/var/lib/expenses", `${folder}/backups`],
      ["smtps://user:password@smtp.example.com:465", `smtp://127.0.0.1:${mails.port}`],
      ["127.0.0.1:5432", `127.0.0.1:${database.port}`],
      ["127.0.0.1:7400", `127.0.0.1:${port}`],
      ["expenses.example.com", `localhost:${httpsPort}`],
      ["-g expenses", ""],
    ].reduce((result, [from, to]) => result!.replaceAll(from!, () => to!), text)!;

  const shell = async (script: string, env: Record<string, string> = {}): Promise<string> => {
    const { success, stdout, stderr } = await new Deno.Command("bash", {
      args: ["-euo", "pipefail", "-c", script],
      cwd: folder,
      env: { ...env, NO_COLOR: "1", PATH: `${folder}/bin:${binaries.folder}:${Deno.env.get("PATH")}` },
      stdin: "null",
    }).output();
    const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
    if (!success) throw new Error(`${script}\n${text}`);
    return text;
  };

  async function spawn(at: number): Promise<Service> {
    const [unit] = await blocksOf("Start");
    const [, ...args] = unitValues(unit!, "ExecStart")[0]!.split(" ");
    const child = new Deno.Command(Deno.execPath(), {
      args: [...args, "--port", String(at)],
      cwd: clone,
      env: { NO_COLOR: "1", FX_SOURCES: "none", ...Object.fromEntries(parseEnvFile(await Deno.readTextFile(envFile))) },
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    let log = "";
    const logged = child.stderr.pipeThrough(new TextDecoderStream()).pipeTo(
      new WritableStream({ write: (text) => void (log += text) }),
    );
    // `deno task` starts the service as its child.
    const send = async (signal: Deno.Signal) => {
      const children = await Deno.readTextFile(`/proc/${child.pid}/task/${child.pid}/children`).catch(() => "");
      for (const pid of children.trim().split(" ").filter(Boolean)) Deno.kill(Number(pid), signal);
      await logged;
      forget();
      running.delete(service);
      return (await child.status).code;
    };
    const forget = whenInterrupted(() => send("SIGKILL"));
    const service = { port: at, log: () => log, end: () => send("SIGTERM"), kill: () => send("SIGKILL") };
    running.add(service);
    return service;
  }

  const start = async () => ordinary = await spawn(port);
  /** The arguments of `systemctl`. */
  const orders: Record<string, () => Promise<unknown>> = {
    "daemon-reload": () => Promise.resolve(),
    "enable --now expenses": () => start(),
    "start expenses": () => start(),
    "stop expenses": () => ordinary!.end(),
    async "start expenses-backup"() {
      const [unit] = await blocksOf("Back up");
      for (const name of ["ExecStart", "ExecStartPost"]) {
        for (const command of unitValues(unit!, name)) {
          await shell(`set -a && . ${envFile} && set +a && cd ${clone} && ${fit(command)}`);
        }
      }
    },
  };
  const system = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const order = await request.text();
    try {
      if (!orders[order]) throw new Error(`systemctl ${order} is not known here`);
      await orders[order]();
      return new Response();
    } catch (thrown) {
      return new Response(String(thrown), { status: 500 });
    }
  });
  const given = { systemPort: system.addr.port, databasePort: database.port, binaries };
  for (const [name, script] of Object.entries(programs(given))) {
    await Deno.writeTextFile(`${folder}/bin/${name}`, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  return {
    folder,
    database,
    httpsPort,
    get service() {
      return ordinary!;
    },
    async run(block, replace = {}, env = {}) {
      const script = Object.entries(replace).reduce((text, [from, to]) => text.replaceAll(from, to), block);
      const said = await shell(fit(script), env);
      // Deno installs packages into a folder of the project; this checkout has the same ones.
      if (script.includes("git clone")) await Deno.symlink(`${ROOT}node_modules`, `${clone}/node_modules`);
      return said;
    },
    write: (file, block, before = "") => Deno.writeTextFile(`${folder}/${file}`, before + fit(block)),
    async start() {
      const service = await start();
      await waitUntilReady(service);
      return service;
    },
    begin: spawn,
    async settings(change) {
      const text = await Deno.readTextFile(envFile);
      if (change) await Deno.writeTextFile(envFile, change(text));
      return text;
    },
    async close() {
      for (const service of running) await service.kill();
      await system.shutdown();
      await database.stop();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** @returns the status of the earlier call. @throws {Error} with the log of a service that did not start */
export async function waitUntilReady({ port, log }: Service): Promise<Set<number>> {
  const given = new Set<number>();
  await waitFor(async () => {
    if (/did not start|Cannot start|failed:/.test(log())) throw new Error(log());
    const answer = await fetch(`http://127.0.0.1:${port}/api/health`).catch(() => undefined);
    await answer?.body?.cancel();
    if (answer) given.add(answer.status);
    return answer?.ok || undefined;
  }, { deadlineMs: 120_000 });
  return given;
}
