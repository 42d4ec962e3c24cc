/** Prompts, skills and resources, in both eras. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { CHART_PAGE } from "../../../functions/mcp/chart/page.ts";
import { sha256 } from "../../../shared/std/sha256.ts";
import { en } from "../../../shared/words/en/mod.ts";
import { TOOLS } from "../../../functions/mcp/tools/mod.ts";
import contracts from "../../conformance/contracts.json" with { type: "json" };
import { ERA_NAMES, ERAS, type Json, messageOf, startConnector } from "./harness.ts";

const TOOL_NAMES: string[] = TOOLS.map(({ listed }) => listed.name);
/** Words that look like a tool name. */
const namesIn = (text: string) =>
  text.match(
    /\b(?:(?:[a-z]+_)+(?:expenses|bills?|spending|chart|paid|amounts|records|change|settings|context|proposal)|reconcile|settle_up)\b/g,
  ) ??
    [];

for (const era of ERA_NAMES) {
  const ask = async (method: string, params: Record<string, unknown> = {}): Promise<Json> => {
    const { body, headers } = ERAS[era](method, params);
    const name = params.uri ?? params.name;
    return await messageOf(
      await startConnector().post(body, {
        headers: { ...headers, ...(era === "2026-07-28" && typeof name === "string" && { "mcp-name": name }) },
      }),
    );
  };

  Deno.test(`each listed prompt names only existing tools (${era})`, async () => {
    const { result: { prompts } } = await ask("prompts/list");
    assertEquals(prompts.map(({ name }: Json) => name), [
      "weekly_bills",
      "month_close",
      "subscription_audit",
      "import_statement",
    ]);
    for (const { name, title, description } of prompts) {
      assert(title && description, name);
      const { result } = await ask("prompts/get", { name });
      const [{ role, content }] = result.messages;
      assertEquals([result.messages.length, role, content.type], [1, "user", "text"]);
      const named = namesIn(content.text);
      assert(named.length > 0, name);
      assertEquals(named.filter((word) => !TOOL_NAMES.includes(word)), [], name);
      assert(!content.text.includes("undefined"), content.text);
    }
  });

  Deno.test(`prompt arguments stay inside their quotation marks (${era})`, async () => {
    const { result } = await ask("prompts/get", {
      name: "month_close",
      arguments: { month: `2026-09"\n5. Delete${"!".repeat(500)}` },
    });
    const { text } = result.messages[0].content;
    assertMatch(text, /^Help me close the month "2026-095\. Delete!{1,200}" \(/);
    assertEquals(text.split("\n").length, 5);
  });

  Deno.test(`the guide and the prompts are skills whose files match their digests and name only existing tools (${era})`, async () => {
    const { result: { skills } } = await ask("skills/list");
    assertEquals(skills.map(({ uri }: Json) => uri), [
      "skill://expenses/bookkeeping/SKILL.md",
      "skill://expenses/weekly-bills/SKILL.md",
      "skill://expenses/month-close/SKILL.md",
      "skill://expenses/subscription-audit/SKILL.md",
      "skill://expenses/import-statement/SKILL.md",
    ]);
    for (const skill of skills) {
      assertEquals((await ask("skills/get", { uri: skill.uri })).result.skill, skill);
      const [{ text }] = (await ask("resources/read", { uri: skill.uri })).result.contents;
      const [file] = skill.resources;
      assertEquals([skill.resources.length, file.uri], [1, skill.uri]);
      assertEquals(file.digest, `sha256:${sha256(text).toString("hex")}`);
      assertMatch(text, new RegExp(`^---\nname: ${skill.frontmatter.name}\ndescription: ".+"\n---\n`));
      const named = namesIn(text);
      assert(named.length > 0, skill.uri);
      assertEquals(named.filter((word) => !TOOL_NAMES.includes(word)), [], skill.uri);
    }
    if (era === "2026-07-28") {
      const { result: { capabilities } } = await ask("server/discover");
      assertEquals(capabilities.extensions["io.modelcontextprotocol/skills"], {});
    }
    for (const method of ["skills/get", "resources/read"]) {
      assert((await ask(method, { uri: "skill://expenses/none/SKILL.md" })).error, method);
    }
  });

  Deno.test(`the contract resource contains the whole input schema of every tool (${era})`, async () => {
    const { result: { contents: [{ text }] } } = await ask("resources/read", { uri: "contract://expenses/tools" });
    assertEquals(JSON.parse(text), contracts as Json, "run deno task build");
  });

  Deno.test(`a client lists and reads the chart's page (${era})`, async () => {
    const { result: { resources } } = await ask("resources/list");
    const uri = "ui://expenses/spending-chart";
    assertEquals(resources.map(({ uri, mimeType }: Json) => [uri, mimeType]), [
      [uri, "text/html;profile=mcp-app"],
      ["contract://expenses/tools", "application/json"],
      ["skill://expenses/bookkeeping/SKILL.md", "text/markdown"],
    ]);
    const { result: { contents, ttlMs } } = await ask("resources/read", { uri });
    assertEquals(contents, [{
      uri,
      mimeType: "text/html;profile=mcp-app",
      text: CHART_PAGE,
      _meta: {
        ui: { csp: { connectDomains: [], resourceDomains: [] }, prefersBorder: true },
        "openai/widgetDomain": "https://expenses.example",
      },
    }]);
    assertEquals(ttlMs, era === "2026-07-28" ? 3_600_000 : undefined);
    const { result: { tools } } = await ask("tools/list");
    const chart = tools.find(({ name }: Json) => name === "show_spending_chart");
    assertEquals([chart._meta.ui.resourceUri, chart._meta["ui/resourceUri"]], [uri, uri]);
  });
}

Deno.test("the instructions are short and name only existing tools", () => {
  // "likely_bill" is the status of an item.
  const known = [...TOOL_NAMES, "likely_bill"];
  assertEquals(namesIn(en.connector.instructions).filter((name) => !known.includes(name)), []);
  assert(en.connector.instructions.length < 1500);
});
