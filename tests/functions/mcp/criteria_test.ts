/**
 * The criteria that Claude's and ChatGPT's directories publish, as rules over the server's responses. Each rule also
 * runs over a response that violates it.
 */
import { assertEquals } from "@std/assert";
import { LONGEST_DAYS } from "../../../local/reviewer/access.ts";
import { CHART_URI } from "../../../functions/mcp/chart/uri.ts";
import { judgeRedirectUri } from "../../../shared/oauth/redirect_uri.ts";
import { answering, createPages } from "../auth-callback/harness.ts";
import { ERAS, type Json, messageOf, startConnector } from "./harness.ts";

interface Served {
  info: Json;
  tools: Json[];
  chart: Json;
  callbacks: Record<string, boolean>;
  /** Status codes of the links in a submission. */
  pages: Record<string, number>;
  reviewDays: number;
}

/** Orders to the model, and praise. */
const FORBIDDEN =
  /\b(always|never|must|should|instead of|do not|don't|call (?:this|it|once)|ask the user|best|official|leading|#1)\b/i;

/** The violations of each rule, by name; empty without any. */
const RULES: Record<string, (served: Served) => string[]> = {
  "a tool has a title, in its annotations too": ({ tools }) =>
    namesOf(tools, ({ title, annotations }) => !title || annotations?.title !== title),
  "a tool states all three hints": ({ tools }) =>
    namesOf(
      tools,
      ({ annotations }) =>
        ["readOnlyHint", "destructiveHint", "openWorldHint"].some((hint) => typeof annotations?.[hint] !== "boolean"),
    ),
  "a reading tool is not marked destructive": ({ tools }) =>
    namesOf(tools, ({ annotations }) => annotations?.readOnlyHint && annotations.destructiveHint),
  "a tool that updates or deletes is marked destructive": ({ tools }) =>
    namesOf(tools, ({ name, annotations }) => /^(update|delete)_/.test(name) && !annotations?.destructiveHint),
  "a name has at most 64 characters": ({ tools }) => namesOf(tools, ({ name }) => !/^[a-z_]{1,64}$/.test(name)),
  "a description has at most 200 characters": ({ tools }) =>
    namesOf(tools, ({ description }) => !description || description.length > 200),
  "a description gives no orders and no praise": ({ tools }) =>
    namesOf(tools, ({ description }) => FORBIDDEN.test(description)),
  "a tool has an output schema": ({ tools }) => namesOf(tools, ({ outputSchema }) => !outputSchema),
  "no tool asks for a credential": ({ tools }) =>
    namesOf(
      tools,
      ({ inputSchema }) => /"(password|api_key|secret|card_number|iban|otp)"/.test(JSON.stringify(inputSchema)),
    ),
  "the server has icons of both kinds for both backgrounds, and a website": ({ info }) => {
    const kinds = (info.icons ?? []).map(({ theme, mimeType }: Json) => `${theme} ${mimeType}`);
    const wanted = ["light image/png", "light image/svg+xml", "dark image/png", "dark image/svg+xml"];
    return [...wanted.filter((kind) => !kinds.includes(kind)), ...info.websiteUrl ? [] : ["websiteUrl"]];
  },
  "the chart names its domain and allows no other origin": ({ chart: { _meta, text } }) => [
    ..._meta.ui.domain ? [] : ["domain"],
    ..._meta.ui.csp.connectDomains.length + _meta.ui.csp.resourceDomains.length > 0 ? ["csp"] : [],
    .../default-src 'none'/.test(text) ? [] : ["page"],
  ],
  "the callbacks of the directories are accepted": ({ callbacks }) => keysWhere(callbacks, (accepted) => !accepted),
  "every link of a submission works": ({ pages }) => keysWhere(pages, (status) => status !== 200),
  "a demo account works without a mailbox for at least 30 days": ({ reviewDays }) =>
    reviewDays >= 30 ? [] : ["reviewDays"],
};

const namesOf = (tools: Json[], isWrong: (tool: Json) => unknown): string[] =>
  tools.filter(isWrong).map(({ name }) => name);
const keysWhere = <Value>(record: Record<string, Value>, isWrong: (value: Value) => boolean): string[] =>
  Object.entries(record).filter(([, value]) => isWrong(value)).map(([key]) => key);

const failing = (served: Served): string[] =>
  Object.entries(RULES).flatMap(([rule, find]) => find(served).map((name) => `${rule}: ${name}`));

const CALLBACKS = [
  "https://claude.ai/api/mcp/auth_callback",
  "https://claude.com/api/mcp/auth_callback",
  "https://chatgpt.com/connector_platform_oauth_redirect",
  "https://platform.openai.com/apps-manage/oauth",
  "https://grok.com/connectors-oauth-exchange-code",
  "https://grok.com/connectors-oauth-exchange-code/",
  "https://cursor.com/agents/mcp/oauth/callback",
];

async function ask(): Promise<Served> {
  const { post } = startConnector();
  const send = async (method: string, params: Json = {}) => {
    const { body, headers } = ERAS["2026-07-28"](method, params);
    return (await messageOf(await post(body, { headers: { ...headers, "user-agent": "openai-mcp/1.0.0" } }))).result;
  };
  const info = (await send("server/discover"))._meta["io.modelcontextprotocol/serverInfo"];
  const browser = createPages(answering({}), { reviewSignIn: true, openaiAppsChallenge: "a-token-of-openai" })
    .browser();
  const paths = [
    "/",
    "/review",
    "/.well-known/openai-apps-challenge",
    ...info.icons.map(({ src }: { src: string }) => new URL(src).pathname),
  ];
  const pages: Record<string, number> = {};
  for (const path of paths) pages[path] = (await browser.get(path)).status;
  return {
    info,
    tools: (await send("tools/list")).tools,
    chart: (await send("resources/read", { uri: CHART_URI, name: CHART_URI })).contents[0],
    callbacks: Object.fromEntries(CALLBACKS.map((uri) => [uri, judgeRedirectUri(uri).ok])),
    pages,
    reviewDays: LONGEST_DAYS,
  };
}

const served = await ask();

Deno.test("the server meets the published criteria of the directories", () => {
  assertEquals(failing(served), []);
});

Deno.test("test of the test: every rule names its violation", () => {
  const bad = {
    name: "update_Everything",
    description: `Always call this first. ${"x".repeat(200)}`,
    annotations: { readOnlyHint: true, destructiveHint: true },
    inputSchema: { properties: { password: {} } },
  };
  const open = { name: "delete_all", title: "A", description: "Deletes.", annotations: { destructiveHint: false } };
  const broken: Served = {
    info: { icons: [] },
    tools: [bad, open],
    chart: { text: "", _meta: { ui: { csp: { connectDomains: ["https://example.com"], resourceDomains: [] } } } },
    callbacks: { "https://example.com": false },
    pages: { "/review": 404 },
    reviewDays: 7,
  };
  const broke = new Set(failing(broken).map((line) => line.slice(0, line.indexOf(": "))));
  assertEquals(Object.keys(RULES).filter((rule) => !broke.has(rule)), []);
});
