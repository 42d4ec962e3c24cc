/** Describes a running stack: the line that `--json` prints, and `running.json` in its folder. */
import { dataArguments, taskCommand } from "./command_line.ts";
import type { Demo } from "./data_service/settings.ts";
import type { StandIn } from "./stand_ins.ts";

export interface RunningStack {
  pid: number;
  /** Public base URL, without a trailing slash. */
  site_url: string;
  mcp_url: string;
  functions_url: string;
  supabase_url: string;
  publishable_key: string;
  secret_key: string;
  cron_secret: string;
  payment_webhook_secret: string;
  /** Base URL of the clock and the mailbox, on a separate port and path. Null when the site is public. */
  local_url: string | null;
  /** Null where MAIL_URL delivers the mail. */
  mail_url: string | null;
  /** The SMTP address for mail from this machine to organizations' addresses. Null with INBOUND_URL. */
  smtp_url: string | null;
  /** This stack's stand-ins for real services. */
  stand_ins: StandIn[];
  /** Null on PGlite, which only the stack itself can open. */
  database_url: string | null;
  /** Absent without demo data. */
  demo?: Demo;
}

/**
 * Finds the stack that runs on a folder, for commands that talk to it.
 * @param folder its data folder, `.local` unless it was started with `--data`.
 * @throws {Error} with the command that starts one.
 */
export async function findStack(folder: string): Promise<RunningStack> {
  const text = await Deno.readTextFile(`${folder}/running.json`).catch(() => undefined);
  const running: RunningStack | undefined = text && JSON.parse(text);
  // A stack that was killed leaves its file behind.
  const isUp = running && await fetch(`${running.supabase_url}/api/health`).then(isOk, () => false);
  if (!isUp) {
    const start = taskCommand("start", ...dataArguments(folder));
    throw new Error(`No stack is running on ${folder}. Start one in another terminal: ${start}`);
  }
  return running;
}

async function isOk(response: Response): Promise<boolean> {
  await response.body?.cancel();
  return response.ok;
}
