/** `deno task demo`: a scripted AI client connects to the running stack and has a conversation about expenses. */
import { DATA_OPTION, fail, print, readCommandLine, taskCommand } from "./command_line.ts";
import { connect } from "./demo/client.ts";
import { decide } from "./demo/consent.ts";
import { endEarlierRun, storeForNextRun } from "./demo/earlier_run.ts";
import { type Envelope, explain, TURNS } from "./demo/conversation.ts";
import { forwardInvoice } from "./demo/mail.ts";
import { assistant, toolCall, you } from "./demo/transcript.ts";
import { FormBrowser } from "./form_browser.ts";
import { findStack } from "./running_stack.ts";

const usage = `${taskCommand("demo")} [options]

  --data <folder>     where the stack keeps its data (.local)`;

const { values: { data } } = readCommandLine(DATA_OPTION, usage);
const stack = await findStack(data).catch((thrown) => fail(thrown.message));
const { email, organization_id: organizationId } = stack.demo ??
  fail(`The running stack has no demo data. Stop it and start one with: ${taskCommand("start", "--fresh")}`);

const person = { email, organizationId };
const browser = new FormBrowser(stack.site_url);

print(`Connecting a scripted AI client to ${stack.mcp_url}`);
await endEarlierRun(stack.site_url, data);
const { client, provider } = await connect(stack.mcp_url, {
  clientName: "Demo assistant",
  decide: async (authorizationUrl) => {
    print(`  it registers itself and asks for permission at ${authorizationUrl.origin}${authorizationUrl.pathname}`);
    const answer = await decide(stack, { authorizationUrl, person, browser });
    print(`  ${email} signs in by mail and presses Allow`);
    return answer;
  },
}).catch((thrown) =>
  // fetch throws a TypeError if no server responds; the plan is then not the cause.
  fail(
    `The assistant could not connect: ${(thrown as Error).message}` +
      (thrown instanceof TypeError ? "" : `. See what its plan includes: ${stack.site_url}/account`),
  )
);
const { tools } = await client.listTools();
print(`  connected: ${tools.length} tools`);

const call = async (name: string, args: Record<string, unknown>): Promise<Envelope> =>
  (await client.callTool({ name, arguments: args })).structuredContent;
const earlier: Record<string, Envelope> = {};
for (const turn of TURNS) {
  const args = typeof turn.args === "function" ? turn.args(earlier) : turn.args;
  if (!args) continue;
  you(turn.you);
  toolCall(turn.tool, args);
  const envelope = await call(turn.tool, args);
  earlier[turn.tool] = envelope;
  assistant(envelope.ok ? turn.answer(envelope) : explain(envelope));
}
const mailed = await forwardInvoice(stack, { browser, person, call });
if (mailed) print(`\n${mailed}`);
await client.close();
await storeForNextRun(provider, data);
print(`\nThe same from your own assistant: claude mcp add --transport http expenses ${stack.mcp_url}`);
