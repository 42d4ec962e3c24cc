/**
 * A running stack for one test file: `deno task start` as a child process on a free port, in its own folder. The first
 * start after a schema change prepares a folder, and later starts copy it instead of creating the database.
 */
import { join } from "node:path";
import { readMigrations } from "../../local/database/migrations.ts";
import { preparationDigest } from "../../local/database/prepare.ts";
import type { RunningStack } from "../../local/running_stack.ts";
import { copyFolder } from "../../local/copy_folder.ts";
import { cachedFolder, digestOf } from "../../local/cache.ts";
import { createRatesFixture, ratesFixtureSources } from "./exchange_rates.ts";
import { unlessInterrupted, whenInterrupted } from "./interrupt.ts";
import { hasPlatform, newDatabase, newMigratedDatabase } from "./new_database.ts";

export { signIn } from "../../local/sign_in.ts";

/** `await using` stops it. */
export interface TestStack extends RunningStack, AsyncDisposable {
  /** Its data folder. */
  folder: string;
  /** Everything written to standard error so far: one JSON line per event. */
  log(): string;
  /** Stops it with SIGTERM and returns its exit code; removes the folder unless `keep` is set. */
  stop(options?: { keep?: boolean }): Promise<number>;
  /** Kills it at once, like a power cut; the folder remains. */
  kill(): Promise<void>;
  /** Starts another one on the same folder, after `stop({ keep: true })` or `kill()`. */
  restart(): Promise<TestStack>;
}

export interface StackOptions {
  /** Extra arguments of `deno task start`. */
  args?: string[];
  /** Variables in addition to this process's own. */
  env?: Record<string, string>;
  /** Start on an empty folder, or an empty database, instead of a copy of a prepared one. */
  empty?: boolean;
}

/** The checkout of a stack that sells plans. */
export const CHECKOUT_URL = "https://pay.example/?organization_id={organization_id}";

const ROOT = new URL("../../", import.meta.url).pathname;
const DATABASE_URL = Deno.env.get("TEST_DATABASE_URL");

/** A stack on PGlite, on a new database of the server that `TEST_DATABASE_URL` names, or on the database in `args`. */
export async function startStack(options: StackOptions = {}): Promise<TestStack> {
  const folder = await Deno.makeTempDir({ prefix: "expense-stack-" });
  if (options.args?.includes("--db")) return await launch(folder, options);
  if (DATABASE_URL) {
    // The server exists for one test run, so its databases are not dropped.
    const { url } = !options.empty && await hasPlatform(DATABASE_URL)
      ? await newMigratedDatabase(DATABASE_URL, await readMigrations())
      : await newDatabase(DATABASE_URL);
    return await launch(folder, { ...options, args: [...(options.args ?? []), "--db", url] });
  }
  if (!options.empty) {
    await Deno.remove(folder);
    await copyFolder(await preparedFolder(options), folder);
  }
  return await launch(folder, options);
}

async function launch(folder: string, options: StackOptions): Promise<TestStack> {
  const rates = serveRates();
  await unlessInterrupted();
  const child = new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "start", "--json", "--port", "0", "--data", folder, ...(options.args ?? [])],
    cwd: ROOT,
    // Other tests cover rate limits.
    env: { NO_COLOR: "1", RATE_LIMITS: "off", FX_SOURCES: rates.sources, ...options.env },
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  // The command starts the stack in another process and prints its id in the first line.
  let pid = child.pid;
  const forget = whenInterrupted(async () => {
    Deno.kill(pid, pid === child.pid ? "SIGTERM" : "SIGKILL");
    await child.status;
  });
  void child.status.then(forget);
  let log = "";
  const logged = collect(child.stderr, (text) => log += text);
  const line = await firstLine(child.stdout);
  if (!line) {
    await logged;
    await rates.close();
    throw new Error(`The stack did not start:\n${log}`);
  }
  const running: RunningStack = JSON.parse(line);
  pid = running.pid;
  rates.follow(running.local_url);
  const ended = async () => {
    await logged;
    await rates.close();
    return await child.status;
  };
  const stop: TestStack["stop"] = async ({ keep = false } = {}) => {
    Deno.kill(running.pid, "SIGTERM");
    const { code } = await ended();
    if (!keep) await Deno.remove(folder, { recursive: true });
    return code;
  };
  return {
    ...running,
    folder,
    log: () => log,
    stop,
    async kill() {
      Deno.kill(running.pid, "SIGKILL");
      await ended();
    },
    restart: () => launch(folder, options),
    [Symbol.asyncDispose]: async () => void await stop(),
  };
}

/** Rates for a stack at its clock's time, so that tests don't depend on real publications. */
function serveRates() {
  let clockUrl: string | undefined;
  const now = async () => {
    // The stack may end during the request.
    const time = clockUrl && await fetch(clockUrl).then((response) => response.json(), () => undefined);
    return time ? new Date(time.now) : new Date();
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const at = await now();
    return await createRatesFixture(() => at).fetch(request);
  });
  return {
    sources: ratesFixtureSources(`http://127.0.0.1:${server.addr.port}`),
    follow: (localUrl: string | null) => void (clockUrl = localUrl ? `${localUrl}/clock` : undefined),
    close: () => server.shutdown(),
  };
}

/** A folder with its database created, with or without the demo data. */
async function preparedFolder(options: StackOptions): Promise<string> {
  const seed = await Deno.readTextFile(join(ROOT, "supabase/seed.sql")).catch(() => "");
  const demo = options.args?.includes("--no-demo") ? "plain" : "demo";
  // The demo's dates belong to the month of its loading.
  const month = demo === "demo" && new Date().toISOString().slice(0, 7);
  const digest = digestOf([await preparationDigest(await readMigrations()), seed, month]);
  return await cachedFolder(`stack_${demo}-${digest}`, async (folder) => {
    const stack = await launch(folder, { ...options, args: [...(options.args ?? []), "--no-schedules"] });
    await stack.stop({ keep: true });
  });
}

async function firstLine(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  let text = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes("\n")) break;
  }
  return text.trim();
}

async function collect(stream: ReadableStream<Uint8Array<ArrayBuffer>>, take: (text: string) => void): Promise<void> {
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) take(chunk);
}
