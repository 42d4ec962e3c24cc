/** The tools as clients see them: exactly the contract, within what hosts accept. */
import { assertEquals } from "@std/assert";
import contract from "../../conformance/tools.json" with { type: "json" };
import { ERA_NAMES, ERAS, type Json, messageOf, startConnector } from "./harness.ts";

async function listTools(era: (typeof ERA_NAMES)[number]): Promise<Json[]> {
  const { body, headers } = ERAS[era]("tools/list");
  return (await messageOf(await startConnector().post(body, { headers }))).result.tools;
}

const size = (value: unknown) => new TextEncoder().encode(JSON.stringify(value)).length;

for (const era of ERA_NAMES) {
  Deno.test(`tools/list shows the contract, in order (${era})`, async () => {
    const tools = await listTools(era);
    const names = tools.map(({ name }) => name);
    const expected = contract.tools.filter(({ name }) => names.includes(name));
    assertEquals(
      tools.map(({ name, title, description, annotations, inputSchema, _meta }) => ({
        name,
        title,
        annotations,
        ...(_meta.ui && { _meta: { ui: _meta.ui } }),
        description,
        inputSchema,
      })),
      expected as Json,
    );
    assertEquals(JSON.stringify(await listTools(era)), JSON.stringify(tools));
  });

  Deno.test(`tools/list stays within what hosts accept (${era})`, async () => {
    const tools = await listTools(era);
    assertEquals(size(tools) < 47_500, true, `${size(tools)} bytes`);
    for (const { name, title, annotations, inputSchema, outputSchema, _meta } of tools) {
      for (const schema of [inputSchema, outputSchema]) {
        assertEquals(schema.type, "object", name);
        assertEquals(["anyOf", "oneOf", "allOf"].filter((keyword) => keyword in schema), [], name);
      }
      assertEquals(size(inputSchema) < 16_384, true, name);
      assertEquals([typeof title, Object.keys(annotations).length], ["string", 4], name);
      assertEquals(outputSchema.required, ["ok"], name);
      assertEquals(_meta.securitySchemes, [{ type: "oauth2", scopes: ["expenses:rw"] }], name);
    }
  });
}
