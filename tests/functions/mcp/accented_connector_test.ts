/**
 * The connector's texts besides tool answers, in the test language en-XA: a word without an accent is hard-coded. Only
 * the contracts' descriptions of arguments remain in English.
 */
import { assert, assertEquals } from "@std/assert";
import { accented, plainWords, stringsIn } from "../../_support/accented.ts";
import { en } from "../../../shared/words/en/mod.ts";
import { TOOLS } from "../../../functions/mcp/tools/mod.ts";
import { ERA_NAMES, ERAS, type Json, messageOf, startConnector } from "./harness.ts";

const start = () => startConnector({}, {}, { words: accented });

/** Keys whose values are not language: names, versions, URLs and types. */
const NO_WORDS =
  /^(name|version|uri|websiteUrl|mimeType|ui|_meta|icons|role|type|resultType|annotations|inputSchema|outputSchema|cacheScope)$/;

/** Every text in a message that people or models read. */
function textsIn(value: Json): string[] {
  if (typeof value === "string") return [value];
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, part]) => NO_WORDS.test(key) ? [] : textsIn(part));
}

/** @returns the texts, all of which come from the catalog */
function assertAccented(value: Json, facts: string[] = []): string[] {
  const texts = textsIn(value);
  for (const text of texts) assertEquals(plainWords(text, facts), [], text);
  return texts;
}

for (const era of ERA_NAMES) {
  const ask = async (method: string, params: Record<string, unknown> = {}): Promise<Json> => {
    const { body, headers } = ERAS[era](method, params);
    return await messageOf(await start().post(body, { headers }));
  };

  Deno.test(`en-XA: tools, prompts and resources have no hard-coded word (${era})`, async () => {
    const { tools } = (await ask("tools/list")).result;
    assertEquals(assertAccented(tools).length, 2 * TOOLS.length, "a title and a description each");
    for (const { name, title } of tools) assertEquals(title, accented.tools[name as "add_bill"].title);
    const { prompts } = (await ask("prompts/list")).result;
    assert(assertAccented(prompts).length >= 2 * prompts.length);
    for (const { name } of prompts) assertAccented((await ask("prompts/get", { name })).result.messages);
    assertEquals(assertAccented((await ask("resources/list")).result.resources).length, 6);
    for (const { frontmatter } of (await ask("skills/list")).result.skills) {
      assertEquals(plainWords(frontmatter.description, []), [], frontmatter.name);
    }
  });

  Deno.test(`en-XA: refusals of the protocol have no hard-coded word (${era})`, async () => {
    const { unknownTool, unknownPrompt } = accented.connector.refusals;
    assertEquals((await ask("tools/call", { name: "no_such_tool", arguments: {} })).error.message, unknownTool);
    assertEquals((await ask("prompts/get", { name: "no_such_prompt" })).error.message, unknownPrompt);
  });
}

Deno.test("en-XA: the instructions and the server's name have no hard-coded word", async () => {
  const params = {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  };
  const { result } = await messageOf(
    await start().post({ jsonrpc: "2.0", id: 1, method: "initialize", params }, {
      headers: { "mcp-protocol-version": undefined },
    }),
  );
  const { instructions, serverInfo } = result;
  assertEquals(instructions, accented.connector.instructions);
  assertEquals(serverInfo.title, accented.connector.title);
  assertAccented({ instructions, serverInfo });

  const discovered = await messageOf(
    await start().post(ERAS["2026-07-28"]("server/discover").body, {
      headers: ERAS["2026-07-28"]("server/discover").headers,
    }),
  );
  assertEquals(discovered.result.instructions, accented.connector.instructions);
});

Deno.test("en-XA: refusals of a request have no hard-coded word", async () => {
  const connector = start();
  const { refusals } = accented.connector;
  const nested = `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":${"[".repeat(120)}${"]".repeat(120)}}`;
  const responses = {
    foreignOrigin: await connector.post({}, { headers: { origin: "null" } }),
    notBearer: await connector.post({}, { headers: { authorization: "Bearer a b" } }),
    notSignedIn: await connector.post({}, { headers: { authorization: undefined } }),
    tokenNotValid: await connector.post({}, { headers: { authorization: "Bearer of-another-service" } }),
    noEventStreams: await connector.request("GET", { headers: { accept: "text/event-stream" } }),
    tooDeep: await connector.post(nested),
    batch: await connector.post([]),
    tooLarge: await connector.post("x".repeat(70_000)),
  };
  for (const [name, response] of Object.entries(responses)) {
    const { message } = (await response.json()).error;
    const expected = refusals[name as keyof typeof responses];
    assertEquals(message, typeof expected === "string" ? expected : expected(65_536), name);
    assertEquals(plainWords(message, []), [], name);
  }
  assertEquals(
    Object.keys(en.connector.refusals).toSorted(),
    [...Object.keys(responses), "unknownPrompt", "unknownTool"].toSorted(),
  );
});

Deno.test("en-XA: the card and the protected resource's name have no hard-coded word", async () => {
  const card = await (await start().request("GET", { headers: { accept: "application/json" } })).json();
  assertEquals([card.title, card.description], [accented.connector.title, accented.connector.description]);
  assertEquals(assertAccented({ title: card.title, description: card.description }).length, 2);
  const path = "/api/mcp/.well-known/oauth-protected-resource";
  assertEquals((await (await start().request("GET", { path })).json()).resource_name, accented.connector.title);
});

Deno.test("every tool has a title and a description, and no unknown name has one", () => {
  assertEquals(TOOLS.map(({ listed }) => listed.name as string).toSorted(), Object.keys(en.tools).toSorted());
  for (const text of stringsIn(en.tools)) assert(text.length > 3, text);
});

Deno.test("test of the test: finds a hard-coded word and ignores names", () => {
  const planted = { tools: [{ name: "add_bill", title: "Add bill", inputSchema: { description: "Its name." } }] };
  assertEquals(textsIn(planted), ["Add bill"]);
  assertEquals(plainWords("Add bill", []), ["Add", "bill"]);
});
