/** The built files match the tools, and those for directories respect the limits of the forms. */
import { assert, assertEquals } from "@std/assert";
import { buildListing, ROOT } from "../local/build_listing.ts";
import { APP, COUNTEREXAMPLES, EXAMPLES } from "../local/listing/texts.ts";
import { TOOLS } from "../functions/mcp/tools/mod.ts";

const files = buildListing();

Deno.test("the built files match the tools", async () => {
  for (const [path, text] of Object.entries(files)) {
    assertEquals(await Deno.readTextFile(new URL(path, ROOT)), text, `${path}: run deno task build`);
  }
});

Deno.test("a submission to ChatGPT justifies each tool hint and tests existing tools", () => {
  const { tools, app_info, test_cases, negative_test_cases } = JSON.parse(
    files["docs/listing/chatgpt-app-submission.json"]!,
  );
  const names = TOOLS.map(({ listed }) => listed.name);
  assertEquals(Object.keys(tools), names);
  for (const { annotations, justifications } of Object.values<Record<string, Record<string, unknown>>>(tools)) {
    assertEquals(Object.values(annotations!).map((hint) => typeof hint), ["boolean", "boolean", "boolean"]);
    assertEquals(Object.keys(justifications!).length, 3);
    assert(
      annotations!.destructiveHint === /overwrite or remove/.test(String(justifications!.destructive_justification)),
    );
  }
  assert(app_info.subtitle.length <= 30, app_info.subtitle);
  assert(test_cases.length === EXAMPLES.length && EXAMPLES.length <= 5);
  assert(negative_test_cases.length === COUNTEREXAMPLES.length && COUNTEREXAMPLES.length <= 3);
  for (const { tools_triggered } of test_cases) {
    for (const name of tools_triggered.split(", ")) assert((names as string[]).includes(name), name);
  }
});

Deno.test("the texts fit the forms of Claude and of the registry", () => {
  const entry = JSON.parse(files["docs/listing/server.json"]!);
  assert(APP.tagline.length <= 55, String(APP.tagline.length));
  assert(entry.description.length <= 100 && entry.title.length <= 100);
  assert(/^[a-zA-Z0-9.-]+\/[a-zA-Z0-9._-]+$/.test(entry.name), entry.name);
  assertEquals(entry.name, "com.example.expenses/expenses");
  assertEquals(entry.remotes, [{ type: "streamable-http", url: "https://expenses.example.com/api/mcp" }]);
});
