/** `deno task demo`: a scripted AI client connects to the running stack and keeps somebody's books. */
import { parseArgs } from "node:util";
import { connect } from "./demo/client.ts";
import { decide } from "./demo/consent.ts";
import { type Envelope, explain, TURNS } from "./demo/conversation.ts";
import { assistant, say, toolCall, you } from "./demo/transcript.ts";
import type { RunningStack } from "./running_stack.ts";

const { data } = parseArgs({ args: Deno.args, options: { data: { type: "string", default: ".local" } } }).values;

/** The stack that left word of itself in the folder, if it still answers. */
async function findStack(): Promise<RunningStack | undefined> {
  const running: RunningStack | undefined = await Deno.readTextFile(`${data}/running.json`).then(JSON.parse)
    .catch(() => undefined);
  const health = running && await fetch(`${running.site_url}/local/health`).catch(() => undefined);
  await health?.body?.cancel();
  return health?.ok ? running : undefined;
}

function fail(message: string): never {
  say(message);
  Deno.exit(1);
}

const stack = await findStack() ??
  fail(`No stack is running on the folder ${data}. Start one in another terminal: deno task start`);
const { email, organization_id: organizationId } = stack.demo ??
  fail("The running stack has no demo data. Stop it and start one with: deno task start --fresh");

say(`Connecting a scripted AI client to ${stack.mcp_url}`);
const { client } = await connect(stack.mcp_url, {
  clientName: "Demo assistant",
  decide: async (authorizationUrl) => {
    say(`  it registers itself and asks for permission at ${authorizationUrl.origin}${authorizationUrl.pathname}`);
    const answer = await decide(stack, { authorizationUrl, person: { email, organizationId } });
    say(`  ${email} signs in by mail and presses Allow`);
    return answer;
  },
});
const { tools } = await client.listTools();
say(`  connected: ${tools.length} tools`);

const earlier: Record<string, Envelope> = {};
for (const turn of TURNS) {
  const args = typeof turn.args === "function" ? turn.args(earlier) : turn.args;
  if (!args) continue;
  you(turn.you);
  toolCall(turn.tool, args);
  const { structuredContent } = await client.callTool({ name: turn.tool, arguments: args });
  const envelope = structuredContent as Envelope;
  earlier[turn.tool] = envelope;
  assistant(envelope.ok ? turn.answer(envelope) : explain(envelope));
}
await client.close();
say(`\nThe same from your own assistant: claude mcp add --transport http expenses ${stack.mcp_url}`);
