/** Another version of the project in its own folder, as after a pull: the current version with further migrations. */
import { join } from "node:path";
import { copy } from "../_support/copy.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const PARTS = ["deno.json", "package.json", "import_map.json", "deno.lock", "functions", "shared", "local", "supabase"];

export interface Checkout {
  folder: string;
  /** `deno task start` of this version: its process, its standard error so far, and its first line of output. */
  start(data: string): Started;
  remove(): Promise<void>;
}

export interface Started {
  process: Deno.ChildProcess;
  /** Resolves when ready, with its line of JSON; empty if it exited first. */
  ready: Promise<string>;
  /** Resolves when it has exited, with all of its standard error. */
  ended: Promise<{ code: number; stderr: string }>;
}

/** @param migrations by file name */
export async function newCheckout(migrations: Record<string, string>): Promise<Checkout> {
  const folder = await Deno.makeTempDir({ prefix: "expense-checkout-" });
  for (const part of PARTS) await copy(join(ROOT, part), join(folder, part));
  await Deno.symlink(join(ROOT, "node_modules"), join(folder, "node_modules"));
  for (const [file, sql] of Object.entries(migrations)) {
    await Deno.writeTextFile(join(folder, "supabase/migrations", file), sql);
  }
  return {
    folder,
    start(data) {
      const process = new Deno.Command(Deno.execPath(), {
        args: ["task", "--quiet", "start", "--json", "--no-demo", "--no-schedules", "--port", "0", "--data", data],
        cwd: folder,
        env: { NO_COLOR: "1", RATE_LIMITS: "off" },
        stdin: "null",
        stdout: "piped",
        stderr: "piped",
      }).spawn();
      const stderr = new Response(process.stderr).text();
      return {
        process,
        ready: firstLine(process.stdout),
        ended: process.status.then(async ({ code }) => ({ code, stderr: await stderr })),
      };
    },
    remove: () => Deno.remove(folder, { recursive: true }),
  };
}

async function firstLine(stream: ReadableStream<Uint8Array<ArrayBuffer>>): Promise<string> {
  let text = "";
  for await (const chunk of stream.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes("\n")) break;
  }
  return text.trim();
}
