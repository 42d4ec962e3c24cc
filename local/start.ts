/**
 * `deno task start`: runs the embedded stack until it is stopped. Prints the welcome, or one line of JSON, to standard
 * output.
 */
import { ConfigError } from "../shared/config.ts";
import { banner, goodbye } from "./banner.ts";
import { fail, print } from "./command_line.ts";
import { FolderError } from "./data_folder.ts";
import { refuseOldDeno } from "./deno_version.ts";
import { createLog } from "../shared/log.ts";
import { parseOptions, type StartOptions, USAGE, UsageError } from "./options.ts";
import { startProduction } from "./production.ts";
import { startStack } from "./stack.ts";
import { UpgradeError } from "./upgrade.ts";

/** After this time the process exits even with open resources. No acknowledged write is lost. */
const CLOSE_DEADLINE_MS = 4000;
/** Other people's requests may be in progress. */
const PRODUCTION_DEADLINE_MS = 20_000;

/** A readable explanation of failures that a person can fix. */
function explain(thrown: unknown, port: number): string {
  if (thrown instanceof FolderError || thrown instanceof ConfigError || thrown instanceof UpgradeError) {
    return thrown.message;
  }
  if (thrown instanceof Deno.errors.AddrInUse) {
    return `Port ${port} is in use. Choose another with --port, or 0 for any free one.`;
  }
  if (thrown instanceof Deno.errors.PermissionDenied && port > 0 && port < 1024) {
    return `Ports below 1024 need administrator rights. Choose another than ${port} with --port.`;
  }
  return `The stack did not start: ${thrown instanceof Error ? thrown.message : thrown}`;
}

if (Deno.args.includes("--help")) {
  print(USAGE);
  Deno.exit(0);
}
const refusal = refuseOldDeno(Deno.version.deno);
if (refusal) fail(refusal);

function endOnSignal(close: () => Promise<void>, sayGoodbye: () => void, deadlineMs = CLOSE_DEADLINE_MS): void {
  let isClosing = false;
  const end = async () => {
    if (isClosing) return;
    isClosing = true;
    const leave = () => {
      sayGoodbye();
      Deno.exit(0);
    };
    setTimeout(leave, deadlineMs);
    await close();
    leave();
  };
  const signals: Deno.Signal[] = Deno.build.os === "windows" ? ["SIGINT", "SIGBREAK"] : ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) Deno.addSignalListener(signal, end);
}

const options = readOptions();
const say = (line: string) => options.json || print(line);
try {
  if (options.production) await runProduction();
  else await runStack();
} catch (thrown) {
  fail(explain(thrown, options.port));
}

async function runProduction(): Promise<void> {
  const log = createLog();
  const { siteUrl, close } = await startProduction(options, (error) => fail(error.message));
  endOnSignal(close, () => log.info("stopped"), PRODUCTION_DEADLINE_MS);
  log.info("started", { route: siteUrl });
}

async function runStack(): Promise<void> {
  const { running, close } = await startStack(options, {
    onDeath: (error) => fail(error.message),
    onProgress: say,
  });
  endOnSignal(close, () => say(goodbye(options)));
  print(options.json ? JSON.stringify(running) : banner(running, options));
}

function readOptions(): StartOptions {
  try {
    return parseOptions(Deno.args);
  } catch (thrown) {
    fail(thrown instanceof UsageError ? `${thrown.message}\n\n${USAGE}` : String(thrown));
  }
}
