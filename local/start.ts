/**
 * `deno task start`: runs the embedded stack until it is told to stop. Prints the welcome, or one line of JSON, to
 * standard output.
 */
import { ConfigError } from "../shared/config.ts";
import { banner } from "./banner.ts";
import { fail, print } from "./command_line.ts";
import { FolderError } from "./data_folder.ts";
import { parseOptions, USAGE, UsageError } from "./options.ts";
import { startStack } from "./stack.ts";
import { UpgradeError } from "./upgrade.ts";

/** After this, open resources are abandoned; nothing acknowledged is lost. */
const CLOSE_DEADLINE_MS = 4000;

/** A readable explanation of failures that a person can fix. */
function explain(thrown: unknown): string {
  if (thrown instanceof UsageError) return `${thrown.message}\n\n${USAGE}`;
  if (thrown instanceof FolderError || thrown instanceof ConfigError || thrown instanceof UpgradeError) {
    return thrown.message;
  }
  if (thrown instanceof Deno.errors.AddrInUse) {
    return "The port is in use; choose another with --port, or 0 for any free one";
  }
  return `The stack did not start: ${thrown instanceof Error ? thrown.message : thrown}`;
}

if (Deno.args.includes("--help")) {
  print(USAGE);
  Deno.exit(0);
}

function endOnSignal(close: () => Promise<void>): void {
  let isClosing = false;
  const end = async () => {
    if (isClosing) return;
    isClosing = true;
    setTimeout(() => Deno.exit(0), CLOSE_DEADLINE_MS);
    await close();
    Deno.exit(0);
  };
  const signals: Deno.Signal[] = Deno.build.os === "windows" ? ["SIGINT", "SIGBREAK"] : ["SIGINT", "SIGTERM", "SIGHUP"];
  for (const signal of signals) Deno.addSignalListener(signal, end);
}

try {
  const options = parseOptions(Deno.args);
  const { running, close } = await startStack(options, (error) => fail(error.message));
  endOnSignal(close);
  print(options.json ? JSON.stringify(running) : banner(running, options.data));
} catch (thrown) {
  fail(explain(thrown));
}
