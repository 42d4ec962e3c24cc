/** The connector's information about itself: sent once, and for the chart in each host's format. */
import { assert, assertEquals } from "@std/assert";
import { createHash } from "node:crypto";
import { CHART_URI } from "../../../functions/mcp/chart/uri.ts";
import { ERA_NAMES, ERAS, type Json, messageOf, SITE, startConnector, SUPABASE } from "./harness.ts";

const IDENTITY = "io.modelcontextprotocol/serverInfo";
const { post, request } = startConnector();

async function ask(
  era: keyof typeof ERAS,
  method: string,
  params: Json = {},
  more: { agent?: string; path?: string } = {},
) {
  const { body, headers } = ERAS[era](method, params);
  const response = await post(body, {
    headers: { ...headers, "user-agent": more.agent },
    path: more.path ?? "/api/mcp",
  });
  return (await messageOf(response)).result;
}

Deno.test("initialize returns the site and an icon for each background", async () => {
  const { serverInfo } = await ask("2025-11-25", "initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  });
  const discovered = (await ask("2026-07-28", "server/discover"))._meta[IDENTITY];
  const card = await (await request("GET", { headers: { accept: "application/json" } })).json();
  assertEquals(discovered, serverInfo);
  assertEquals([card.icons, card.websiteUrl], [serverInfo.icons, SITE]);
  assertEquals(serverInfo.websiteUrl, SITE);
  const kinds = serverInfo.icons.map(({ theme, mimeType }: Json) => `${theme} ${mimeType}`);
  assertEquals(kinds, ["light image/svg+xml", "light image/png", "dark image/svg+xml", "dark image/png"]);
  for (const { src } of serverInfo.icons) assert(src.startsWith(`${SITE}/icons/`), src);
});

Deno.test("other responses repeat no links", async () => {
  const listed = await ask("2026-07-28", "tools/list");
  const called = await ask("2026-07-28", "tools/call", { name: "get_context", arguments: {} });
  for (const { _meta } of [listed, called]) {
    assertEquals(Object.keys(_meta[IDENTITY]), ["name", "title", "version"]);
  }
});

Deno.test("the chart's page has the origin that its host defines, and no origin for other hosts", async () => {
  const claude = (url: string) => `${createHash("sha256").update(url).digest("hex").slice(0, 32)}.claudemcpcontent.com`;
  const cases: [agent: string | undefined, path: string, domain: string | undefined][] = [
    ["Claude-User", "/api/mcp", claude(`${SITE}/api/mcp`)],
    ["Claude-User", "/", claude(`${SUPABASE}/functions/v1/mcp`)],
    ["openai-mcp/1.0.0", "/api/mcp", SITE],
    ["Visual Studio Code/1.110", "/api/mcp", undefined],
    [undefined, "/api/mcp", undefined],
  ];
  for (const era of ERA_NAMES) {
    for (const [agent, path, domain] of cases) {
      const more = { path, ...agent && { agent } };
      const { resources } = await ask(era, "resources/list", {}, more);
      const read = await ask(era, "resources/read", { uri: CHART_URI, name: CHART_URI }, more);
      const metas = [resources.find(({ uri }: Json) => uri === CHART_URI), read.contents[0]].map((one) => one._meta);
      assertEquals(metas.map(({ ui }) => ui.domain), [domain, domain], agent);
      assertEquals(metas.map((meta) => meta["openai/widgetDomain"]), [SITE, SITE]);
    }
  }
});
