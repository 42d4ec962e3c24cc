/** The tools for clients: exactly the contract, within the limits of hosts. */
import { assert, assertEquals } from "@std/assert";
import { encode } from "gpt-tokenizer/encoding/o200k_base";
import type { JsonSchema } from "../../../shared/connector/schema.ts";
import contract from "../../conformance/tools.json" with { type: "json" };
import { en } from "../../../shared/words/en/mod.ts";
import { ERA_NAMES, ERAS, type Json, messageOf, startConnector } from "./harness.ts";

async function listTools(era: (typeof ERA_NAMES)[number], userAgent = "any"): Promise<Json[]> {
  const { body, headers } = ERAS[era]("tools/list");
  const more = { ...headers, "user-agent": userAgent };
  return (await messageOf(await startConnector().post(body, { headers: more }))).result.tools;
}

/** Every schema in a schema, including itself. */
function schemasIn(schema: JsonSchema): JsonSchema[] {
  const below = [...Object.values(schema.properties ?? {}), ...(schema.items ? [schema.items] : [])];
  return [schema, ...below.flatMap(schemasIn)];
}

/** The part of a tool that a model reads. */
const tokensOf = ({ name, description, inputSchema }: Json) =>
  encode(JSON.stringify({ name, description, input_schema: inputSchema })).length;

const SHORTEN = "shorten descriptions, or leave a field out of a second tool's list (listedIn)";

const size = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;

for (const era of ERA_NAMES) {
  Deno.test(`tools/list shows the contract, in order (${era})`, async () => {
    const tools = await listTools(era);
    const listed = tools.map(({ name, title, description, annotations, inputSchema, _meta }) => (
      { name, title, annotations, ...(_meta.ui && { _meta: { ui: _meta.ui } }), description, inputSchema }
    ));
    assertEquals(listed, contract.tools as Json, "run deno task build");
    assertEquals(JSON.stringify(await listTools(era)), JSON.stringify(tools));
  });

  Deno.test(`tools/list stays within what hosts accept (${era})`, async () => {
    const tools = await listTools(era);
    assert(
      size(tools) < 35_000,
      `${size(tools)} bytes, at most 35,000 with output schemas and annotations: ${SHORTEN}`,
    );
    for (const { name, title, description, annotations, inputSchema, outputSchema, _meta } of tools) {
      assert(description.length <= 200, `${name}: a description has at most 200 characters`);
      for (const schema of [inputSchema, outputSchema]) {
        assertEquals(schema.type, "object", name);
        assertEquals(["anyOf", "oneOf", "allOf"].filter((keyword) => keyword in schema), [], name);
      }
      assert(size(inputSchema) < 16_384, `${name}: its schema has at most 16 KB`);
      assertEquals([annotations.title, Object.keys(annotations).length], [title, 5], name);
      assertEquals(outputSchema.required, ["ok"], name);
      assertEquals(_meta.securitySchemes, [{ type: "oauth2", scopes: ["expenses:rw"] }], name);
    }
  });
}

Deno.test("tools/list with the instructions fits in 5,294 tokens, and each tool in 600", async () => {
  const tools = await listTools("2026-07-28");
  const rows = [...tools.map((tool) => [tool.name, tokensOf(tool)]), [
    "instructions",
    encode(en.connector.instructions).length,
  ]];
  const total = rows.reduce((sum, [, tokens]) => sum + tokens, 0);
  // deno-lint-ignore no-console -- CI prints the cost of each tool
  console.log(rows.map(([name, tokens]) => `${String(tokens).padStart(6)} ${name}`).join("\n"), `\n${total} tokens`);
  assertEquals(rows.filter(([, tokens]) => tokens > 600), [], SHORTEN);
  assert(total <= 5_294, `${total} tokens of at most 5294: ${SHORTEN}`);
});

Deno.test("tools/list shows the argument for a file only to ChatGPT, which fills it, beyond the usual limits", async () => {
  for (const era of ERA_NAMES) {
    const [usual, own] = [await listTools(era), await listTools(era, "openai-mcp/1.0.0")];
    const named = (tools: Json[]) => tools.filter(({ _meta }) => _meta["openai/fileParams"]).map(({ name }) => name);
    assertEquals([named(usual), named(own)], [[], ["attach_document"]]);
    const text = { type: "string" };
    const [plain, shown] = [usual, own].map((tools) => tools.find(({ name }) => name === "attach_document")!);
    const rest = (tools: Json[]) => tools.filter(({ name }) => name !== "attach_document");
    assertEquals(rest(own), rest(usual));
    assertEquals(shown._meta["openai/fileParams"], ["file"]);
    // The argument has no description of its own, to save space.
    assert(/\bfile\b/.test(shown.description) && !/\bfile\b/.test(plain.description), shown.description);
    assertEquals(shown.inputSchema.properties, {
      ...plain.inputSchema.properties,
      file: {
        type: "object",
        properties: { download_url: text, file_id: text, mime_type: text, file_name: text },
        required: ["download_url", "file_id"],
      },
    });
    assert(tokensOf(shown) - tokensOf(plain) <= 50, `${tokensOf(shown) - tokensOf(plain)} tokens`);
    assert(size(own) - size(usual) <= 300, `${size(own) - size(usual)} bytes`);
  }
});

Deno.test("tools/list uses no keyword that a widely used client rejects", async () => {
  // The common subset of Gemini, OpenAI's strict mode and Claude; Gemini requires objects with properties, and text
  // choices.
  const ACCEPTED = ["type", "enum", "description", "properties", "items", "required"];
  for (const { name, inputSchema } of await listTools("2026-07-28")) {
    for (const schema of schemasIn(inputSchema)) {
      assertEquals(Object.keys(schema).filter((keyword) => !ACCEPTED.includes(keyword)), [], name);
      assert(
        schema.type !== "object" || Object.keys(schema.properties!).length > 0,
        `${name}: Gemini rejects an object without properties; give the tool an argument`,
      );
      assert(schema.enum === undefined || schema.type === "string", `${name}: Gemini accepts only texts in an enum`);
    }
  }
});
