/** A member's AI client: the MCP SDK's own, which reads the text of an answer and checks it against the data. */
import { assertEquals } from "@std/assert";
// The package maps its types without the file extension that the code needs.
// @ts-types="@modelcontextprotocol/sdk/client/streamableHttp"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { Client } from "@modelcontextprotocol/sdk/client";
import { type Json, MCP_URL, type Member } from "../connector_harness.ts";

export interface Assistant {
  email: string;
  /** Calls a tool that must succeed: the whole envelope. */
  ok(tool: string, args?: Record<string, unknown>): Promise<Json>;
  /** Calls a tool that must fail with this code: the error. */
  fails(code: string, tool: string, args?: Record<string, unknown>): Promise<Json>;
  close(): Promise<void>;
}

export async function connectAssistant({ email, fetch }: Member): Promise<Assistant> {
  const client = new Client({ name: "Assistant", version: "1.0.0" });
  await client.connect(new StreamableHTTPClientTransport(new URL(MCP_URL), { fetch }));
  const call = async (name: string, args: Record<string, unknown>): Promise<Json> => {
    const { content, structuredContent } = await client.callTool({ name, arguments: args });
    const said = JSON.parse((content as Json)[0].text);
    assertEquals(said, structuredContent, "the text and the data say the same");
    return said;
  };
  return {
    email,
    async ok(tool, args = {}) {
      const answer = await call(tool, args);
      assertEquals(answer.ok, true, `${tool} ${JSON.stringify(args)}\n${JSON.stringify(answer.error)}`);
      return answer;
    },
    async fails(code, tool, args = {}) {
      const answer = await call(tool, args);
      assertEquals(answer.error?.code, code, `${tool} ${JSON.stringify(args)}\n${JSON.stringify(answer)}`);
      return answer.error;
    },
    close: () => client.close(),
  };
}
