/** The MCP Inspector's command line, with its own OAuth flow, discovery order and schema checks. */
import { assertEquals } from "@std/assert";
import { npmTool } from "../../_support/npm_tool.ts";
import { readmeCommand } from "../../readme/commands.ts";
import { startStack } from "../../_support/stack.ts";
import { follow, newPerson } from "../person.ts";

Deno.test("the Inspector signs in, lists without a complaint about a schema, and calls", async () => {
  const inspector = await npmTool((await readmeCommand("@modelcontextprotocol/inspector")).spec, "mcp-inspector");
  const stack = await startStack({ args: ["--no-demo"] });
  const person = await newPerson(stack, "inspector@example.com");
  const home = await Deno.makeTempDir({ prefix: "inspector-" });
  const env = { HOME: home, MCP_INSPECTOR_SECRET_STORE: "file", MCP_AUTO_OPEN_ENABLED: "true" };
  const signIn = { env, onAuthorization: async (url: string) => await follow(await person.decide(url)) };
  const target = ["--cli", stack.mcp_url, "--format", "json"];

  for (const era of ["legacy", "modern"]) {
    const options = [...target, "--protocol-era", era];
    const listed = await inspector.run([...options, "--method", "tools/list", "--strict"], signIn);
    assertEquals([listed.code, JSON.parse(listed.stdout).result.tools.length > 9], [0, true], listed.stderr);
  }

  // The second program finds the first one's tokens, so no second consent is needed.
  const called = await inspector.run(
    [...target, "--stored-auth-only", "--method", "tools/call", "--tool-name", "get_context"],
    { env },
  );
  assertEquals(called.code, 0, called.stderr);
  assertEquals(JSON.parse(called.stdout).result.structuredContent.data.user.email, person.email);

  await Deno.remove(home, { recursive: true });
  await stack.stop();
});
