/** mcp-remote, which bridges local-only clients to remote servers; it keeps its own registration and tokens. */
import { assertEquals } from "@std/assert";
// The package maps its types without the file extension that the code needs.
// @ts-types="@modelcontextprotocol/sdk/client/stdio"
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { Client } from "@modelcontextprotocol/sdk/client";
import { npmTool, watchForAuthorization } from "../../_support/npm_tool.ts";
import { readReadme } from "../../readme/commands.ts";
import { startStack } from "../../_support/stack.ts";
import { follow, type Json, newPerson } from "../person.ts";

Deno.test("mcp-remote signs in once, then lists and calls", async () => {
  // The README's settings, except for the URL.
  const [settings] = (await readReadme()).settings as {
    mcpServers: { expenses: { command: string; args: string[] } };
  }[];
  const { command, args: [yes, spec, ...args] } = settings!.mcpServers.expenses;
  assertEquals([command, yes, args], ["npx", "-y", ["http://127.0.0.1:7400/api/mcp"]]);
  const remote = await npmTool(spec!, "mcp-remote");
  const stack = await startStack({ args: ["--no-demo"] });
  const person = await newPerson(stack, "remote@example.com");
  const folder = await Deno.makeTempDir({ prefix: "mcp-remote-" });

  let signIns = 0;
  const open = async () => {
    const transport = new StdioClientTransport({
      command: remote.node,
      args: [remote.script, stack.mcp_url],
      env: { HOME: folder, PATH: Deno.env.get("PATH")!, MCP_REMOTE_CONFIG_DIR: folder, BROWSER: "true" },
      stderr: "pipe",
    });
    const watch = watchForAuthorization(async (url) => {
      signIns++;
      await follow(await person.decide(url));
    });
    let output = "";
    transport.stderr!.on("data", (chunk: Uint8Array) => watch(output += new TextDecoder().decode(chunk)));
    const client = new Client({ name: "Local client", version: "1.0.0" });
    await client.connect(transport);
    return client;
  };

  const first = await open();
  assertEquals((await first.listTools()).tools.some(({ name }) => name === "log_expenses"), true);
  const context = await first.callTool({ name: "get_context", arguments: {} }) as Json;
  assertEquals(context.structuredContent.data.user.email, person.email);
  await first.close();

  const second = await open();
  assertEquals((await second.listTools()).tools.length > 9, true);
  await second.close();
  assertEquals(signIns, 1);

  await Deno.remove(folder, { recursive: true });
  await stack.stop();
});
