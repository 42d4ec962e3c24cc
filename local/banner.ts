/** The welcome message when the stack is ready: URLs, how to connect a client, what to try first. */
import { cursorLink, vsCodeLink } from "../shared/pages/connect_links.ts";
import { dataArguments, taskCommand } from "./command_line.ts";
import type { RunningStack } from "./running_stack.ts";

/** The version that `deno task test:clients` drives. */
const INSPECTOR = "2.12.0";

/** @param data the stack's data folder. */
export function banner({ site_url, mcp_url, mail_url, demo }: RunningStack, data: string): string {
  const signIn = demo ? `sign in there as ${demo.email} with one button` : "sign in there with any address";
  return `
Expenses is running.

  Site        ${site_url}
              ${signIn}
  Connector   ${mcp_url}
  Mailbox     ${mail_url}
              every mail that the service sends ends up here
  Log         ${data}/stack.log

Connect an AI client

  Claude Code   claude mcp add --transport http expenses ${mcp_url}
  VS Code       ${vsCodeLink(mcp_url)}
  Cursor        ${cursorLink(mcp_url)}
  Inspector     npx -y @modelcontextprotocol/inspector@${INSPECTOR} --transport http --server-url ${mcp_url}
                (with Node 22.19 or newer)

Then tell it, for example

  "Log 14.50 for lunch yesterday."
  "What is due this week?"
  "Mark the rent as paid."

Or see a scripted client do it, in another terminal: ${taskCommand("demo", ...dataArguments(data))}
Stop with Ctrl-C.
`;
}

/** The last line, after Ctrl-C. */
export const goodbye = (data: string): string =>
  `\nStopped. Your data is in ${data}; ${taskCommand("start", ...dataArguments(data))} goes on with it.`;
