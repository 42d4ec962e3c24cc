/** The welcome message when the stack is ready: URLs, the command that connects a client, and first steps. */
import { cursorLink, vsCodeLink } from "../shared/pages/connect_links.ts";
import { dataArguments, taskCommand } from "./command_line.ts";
import type { StartOptions } from "./options.ts";
import type { RunningStack } from "./running_stack.ts";

type Started = Pick<StartOptions, "data" | "db" | "siteUrl">;

/** The client version that `deno task suite clients` drives. */
const INSPECTOR = "2.12.0";

export function banner(
  { site_url, mcp_url, mail_url, smtp_url, stand_ins, demo }: RunningStack,
  options: Started,
): string {
  const { data } = options;
  const signIn = demo && mail_url ? `sign in there as ${demo.email} without a mail` : "sign in there with any address";
  return `
Expenses is running.
${purposes(options)}
  Site        ${site_url}
              ${signIn}
  Connector   ${mcp_url}
  Mailbox     ${mail_url ?? "none: the mail service of MAIL_URL gets every mail"}
${mail_url ? "              only this machine can open it: its address is as good as a password\n" : ""}${
    smtp_url ? `  Mail in     ${smtp_url}, for the address on ${site_url}/account\n` : ""
  }  Log         ${data}/stack.log

In place of the real thing

${stand_ins.map(({ name, says }) => `  ${name.padEnd(16)}${says}`).join("\n")}

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

/** The purpose of the options that resemble production. */
function purposes({ db, siteUrl }: Started): string {
  const lines = [
    db === "embedded"
      ? ""
      : "--db is for development: run the service for others with --production (docs/self-hosting.md).",
    siteUrl ? "--site-url is for trying the service out behind a proxy or tunnel, not for running it for others." : "",
  ].filter(Boolean);
  return lines.map((line) => `${line}\n`).join("") + (lines.length > 0 ? "\n" : "");
}

/** The last line, after Ctrl-C. */
export function goodbye({ data, db }: Started): string {
  if (db === "embedded") {
    return `\nStopped. Your data is in ${data}; ${taskCommand("start", ...dataArguments(data))} continues from there.`;
  }
  // The URL contains a password.
  const { host, pathname } = new URL(db);
  return `\nStopped. Your data is in the database ${pathname.slice(1)} on ${host}; the same --db continues from there.`;
}
