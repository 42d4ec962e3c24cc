/** The service as in docs/self-hosting.md: one process on a PostgreSQL that local/database/server.sql prepared. */
import { start, type Started } from "../../../bench/measure/processes.ts";
import type { Cluster } from "../../_support/cluster.ts";
import { findBinaries, startServer } from "../../_support/server.ts";
import { waitFor } from "../../_support/wait_for.ts";
import type { Functions, Instance } from "./functions.ts";

const BOOT = new URL("boot.ts", import.meta.url).pathname;
const PRODUCTION = new URL("production.ts", import.meta.url).href;
const PREPARE = new URL("../../../local/database/server.sql", import.meta.url).pathname;
const PASSWORD = "password";
/** The restart delay of the guide's unit. */
const RESTART_PAUSE_MS = 2_000;
/** All clients share one IP address. */
const UNLIMITED = [
  ...[
    "register",
    "authorize",
    "token",
    "failed_bearer",
    "connector_read",
    "connector_write",
    "login_mail_ip",
    "login_mail_address",
  ],
  ...["sign_in_ip", "session_refresh_ip", "organization_ip", "import_upload_ip", "ungranted_clients"],
];
export const OUT_OF_REACH = JSON.stringify(Object.fromEntries(UNLIMITED.map((name) => [name, 1_000_000])));

/** A server prepared by the guide's commands. */
export async function startPreparedServer(
  { settings, dir }: { settings: Record<string, string>; dir?: string | undefined },
): Promise<Cluster> {
  const binaries = await findBinaries();
  const server = await startServer(binaries, { superuser: "postgres", settings, ...dir && { dir } });
  const urlOf = (role: string, database: string) => `postgres://${role}@127.0.0.1:${server.port}/${database}`;
  const { success, stderr } = await new Deno.Command(`${binaries.folder}/psql`, {
    args: ["-q", "-v", "ON_ERROR_STOP=1", "-v", `password=${PASSWORD}`, "-f", PREPARE, urlOf("postgres", "postgres")],
  }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return { ...server, urlOf, hasCron: false, version: binaries.version };
}

/** All functions run in the same process, which restarts after being killed. */
export async function startOneServer(
  { environment, onLog }: { environment: () => Record<string, string>; onLog: (text: string) => void },
): Promise<Functions> {
  const launch = async (): Promise<Instance> => {
    const started: Started = await start(
      Deno.execPath(),
      ["run", "--quiet", "--no-check", "--v8-flags=--expose-gc", "-A", BOOT, PRODUCTION],
      { env: environment(), onLog },
    );
    await waitFor(() =>
      fetch(`http://127.0.0.1:${started.port}/api/health`).then(
        async (answer) => {
          await answer.body?.cancel();
          return answer.ok || undefined;
        },
        () => undefined,
      ), { deadlineMs: 60_000 });
    return { ...started, slug: "server" };
  };
  let instance: Instance | undefined = await launch();
  let restarting: Promise<void> | undefined;
  const restart = async () => {
    const ended = instance;
    instance = undefined;
    await ended?.kill();
    await new Promise((resolve) => setTimeout(resolve, RESTART_PAUSE_MS));
    instance = await launch();
  };
  const refuse = () => Promise.reject(new Error("One server has one version of the functions"));
  return {
    instanceOf() {
      if (!instance) throw new TypeError("the server is down");
      return instance;
    },
    all: () => instance ? [instance] : [],
    kill: () => restarting ??= restart().finally(() => restarting = undefined),
    add: refuse,
    replaceAll: refuse,
  };
}
