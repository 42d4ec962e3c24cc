/** Finds the stack that runs on a folder, for the commands that talk to it. */
import type { RunningStack } from "./stack.ts";

/**
 * @param folder where it keeps its data, `.local` unless it was started with `--data`.
 * @throws {Error} saying how to start one.
 */
export async function findStack(folder: string): Promise<RunningStack> {
  const text = await Deno.readTextFile(`${folder}/running.json`).catch(() => undefined);
  const running: RunningStack | undefined = text && JSON.parse(text);
  // A stack that was killed leaves its file behind.
  const isUp = running && await fetch(`${running.supabase_url}/local/health`).then(isOk, () => false);
  if (!isUp) throw new Error(`No stack is running on ${folder}. Start one in another terminal: deno task start`);
  return running;
}

async function isOk(response: Response): Promise<boolean> {
  await response.body?.cancel();
  return response.ok;
}
