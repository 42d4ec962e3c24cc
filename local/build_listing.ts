/**
 * `deno task build`: writes the files that are generated from the tools: the submission files of connector directories
 * (docs/listing.md), and the lists of tools and contracts that show a reviewer the changes for clients. A test
 * rebuilds and compares them.
 */
import { listTools } from "../functions/mcp/server.ts";
import { serverInfo } from "../functions/mcp/server_info.ts";
import { TOOLS } from "../functions/mcp/tools/mod.ts";
import { type Words, wordsOf } from "../shared/words/words.ts";
import { APP, COUNTEREXAMPLES, EXAMPLES, SITE } from "./listing/texts.ts";

export const ROOT = new URL("../", import.meta.url);

interface Hints {
  readOnlyHint: boolean;
  destructiveHint: boolean;
  openWorldHint: boolean;
}

/** The files by path. */
export function buildListing(words: Words = wordsOf("en")): Record<string, string> {
  return {
    "docs/listing/server.json": json(registryEntry(words)),
    "docs/listing/chatgpt-app-submission.json": json(chatgptSubmission(words)),
    "docs/listing/claude.md": claudeTexts(words),
    "tests/conformance/tools.json": json({
      tools: listTools(words, false, false).map(({ name, title, annotations, _meta, description, inputSchema }) => (
        { name, title, annotations, ...(_meta?.ui ? { _meta: { ui: _meta.ui } } : {}), description, inputSchema }
      )),
    }),
    "tests/conformance/contracts.json": json(
      Object.fromEntries(TOOLS.map(({ listed: { name, inputSchema } }) => [name, inputSchema])),
    ),
  };
}

const json = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`;

/** The entry in the MCP registry (schema of 2025-12-11): a remote server under its domain's name. */
function registryEntry(words: Words) {
  const { hostname } = new URL(SITE);
  return {
    "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
    name: `${hostname.split(".").reverse().join(".")}/expenses`,
    title: APP.name,
    description: APP.summary,
    version: serverInfo(words).version,
    websiteUrl: SITE,
    remotes: [{ type: "streamable-http", url: `${SITE}/api/mcp` }],
  };
}

function chatgptSubmission({ tools }: Words) {
  return {
    "$schema": "https://developers.openai.com/apps-sdk/schemas/chatgpt-app-submission.v1.json",
    schema_version: 1,
    app_info: {
      display_name: APP.name,
      subtitle: APP.subtitle,
      description: APP.description,
      category: APP.category,
    },
    tools: Object.fromEntries(TOOLS.map(({ listed: { name, annotations } }) => {
      const { readOnlyHint, openWorldHint, destructiveHint } = annotations as Hints;
      const { title } = tools[name];
      return [name, {
        annotations: { readOnlyHint, openWorldHint, destructiveHint },
        justifications: justify(title, { readOnlyHint, openWorldHint, destructiveHint }),
      }];
    })),
    test_cases: EXAMPLES.map((example) => ({ ...example, file_attachment_urls: null, expected_output_url: null })),
    negative_test_cases: COUNTEREXAMPLES.map((example) => ({
      ...example,
      file_attachment_urls: null,
      tools_triggered: null,
      expected_output_url: null,
    })),
  };
}

function justify(title: string, { readOnlyHint, openWorldHint, destructiveHint }: Hints) {
  return {
    read_only_justification: readOnlyHint
      ? `“${title}” only reads the books of the organization that the person connected, and changes no record.`
      : `“${title}” writes to the books of the organization that the person connected, and logs the change.`,
    open_world_justification: openWorldHint
      ? `“${title}” asks the providers that the person connected for amounts; it sends them no records.`
      : `“${title}” works on the organization's own books, and neither publishes nor sends anything to other services.`,
    destructive_justification: destructiveHint
      ? `“${title}” can overwrite or remove what is recorded; every such change can be undone for 30 days.`
      : readOnlyHint
      ? `“${title}” changes nothing, so nothing can be lost.`
      : `“${title}” adds records and overwrites none; each addition can be undone for 30 days.`,
  };
}

function claudeTexts({ tools, connector }: Words): string {
  const rows = TOOLS.map(({ listed: { name, annotations } }) => {
    const { readOnlyHint, destructiveHint } = annotations as Hints;
    const kind = readOnlyHint ? "reads" : destructiveHint ? "overwrites or deletes" : "adds";
    return `| \`${name}\` | ${tools[name].title} | ${kind} |`;
  });
  return [
    "<!-- Built by `deno task build`; do not edit. -->",
    "",
    "# Texts for the form of Claude's directory",
    "",
    `- **Name**: ${APP.name}`,
    `- **Tagline**: ${APP.tagline}`,
    `- **Description**: ${APP.description}`,
    `- **Server URL**: ${SITE}/api/mcp (streamable HTTP, OAuth with client id metadata documents or registration)`,
    `- **Use cases**: ${EXAMPLES.map(({ user_prompt }) => `“${user_prompt}”`).join(" ")}`,
    `- **Server description**: ${connector.title}. ${connector.description}`,
    "",
    "| Tool | Title | Effect on records |",
    "|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

if (import.meta.main) {
  for (const [path, text] of Object.entries(buildListing())) await Deno.writeTextFile(new URL(path, ROOT), text);
}
