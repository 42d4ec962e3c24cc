import { assertEquals } from "@std/assert";
import { type AskingClient, judgeClient } from "../../../shared/oauth/client_trust.ts";

const REGISTERED = "client_abc";
const CLAUDE = "https://claude.ai/api/mcp/auth_callback";
const judge = (name: string, redirectUri: string, clientId = REGISTERED) =>
  judgeClient({ clientId, name, redirectUri });
const doubtOf = (...client: Parameters<typeof judge>) => judge(...client).doubt;
const publisherOf = (...client: Parameters<typeof judge>) => {
  const { publisher } = judge(...client);
  return publisher.kind === "unconfirmed" ? publisher.kind : `${publisher.kind} ${publisher.host}`;
};
/** An unknown maker's callback, on a host. */
const at = (host: string) => `https://${host}/callback`;
const LOOPBACK = "http://127.0.0.1:33418/callback";
const CURSOR = "cursor://anysphere.cursor-mcp/oauth/callback";

Deno.test("judgeClient() verifies the callbacks that known apps' makers publish, for their own names", () => {
  const verified: [string, string, string][] = [
    ["Claude", CLAUDE, "Claude, by Anthropic: claude.ai"],
    ["Claude (expenses)", "https://claude.com/api/mcp/auth_callback", "Claude, by Anthropic: claude.com"],
    ["ChatGPT", "https://chatgpt.com/connector_platform_oauth_redirect", "ChatGPT, by OpenAI: chatgpt.com"],
    ["OpenAI API", "https://chatgpt.com/connector/oauth/OUbdUMlL15Ct", "ChatGPT, by OpenAI: chatgpt.com"],
    ["Cursor", "https://www.cursor.com/agents/mcp/oauth/callback", "Cursor, by Anysphere: www.cursor.com"],
    [
      "Mistral",
      "https://callback.mistral.ai/v1/integrations_auth/oauth2_callback",
      "Le Chat, by Mistral AI: callback.mistral.ai",
    ],
    [
      "Gemini Enterprise",
      "https://vertexaisearch.cloud.google.com/oauth-redirect",
      "Gemini Enterprise, by Google: vertexaisearch.cloud.google.com",
    ],
  ];
  for (const [name, redirectUri, expected] of verified) {
    const { publisher, doubt } = judge(name, redirectUri);
    const said = publisher.kind === "verified" && `${publisher.app}, by ${publisher.maker}: ${publisher.host}`;
    assertEquals([said, doubt], [expected, null], name);
  }
  const document = judge("Claude", CLAUDE, "https://claude.ai/oauth/mcp-oauth-client-metadata");
  assertEquals([document.publisher.kind, document.doubt], ["verified", null]);
});

Deno.test("judgeClient() verifies no other name, path or document, no app on a device and no forwarder", () => {
  const clients: AskingClient[] = [
    { clientId: REGISTERED, name: "Notes", redirectUri: CLAUDE },
    { clientId: REGISTERED, name: "Claude for ChatGPT", redirectUri: CLAUDE },
    { clientId: REGISTERED, name: "C1aude", redirectUri: CLAUDE },
    { clientId: REGISTERED, name: "Claude", redirectUri: "https://claude.ai/other" },
    { clientId: REGISTERED, name: "Claude", redirectUri: `${CLAUDE}?next=evil` },
    { clientId: REGISTERED, name: "ChatGPT", redirectUri: "https://chatgpt.com/connector/oauth/a/b" },
    { clientId: REGISTERED, name: "Claude Code", redirectUri: LOOPBACK },
    { clientId: REGISTERED, name: "Cursor", redirectUri: CURSOR },
    { clientId: REGISTERED, name: "Visual Studio Code", redirectUri: "https://vscode.dev/redirect" },
    { clientId: "https://client.example/c.json", name: "Claude", redirectUri: CLAUDE },
    { clientId: "https://chatgpt.com/oauth/client.json", name: "Claude", redirectUri: CLAUDE },
    { clientId: "https://claude.ai/oauth/claude-code-client-metadata", name: "Claude Code", redirectUri: LOOPBACK },
  ];
  for (const client of clients) {
    assertEquals(judgeClient(client).publisher.kind === "verified", false, JSON.stringify(client));
  }
});

Deno.test("judgeClient() names the publisher by the document's host; registered clients have none", () => {
  const published: [clientId: string, expected: string][] = [
    ["https://apps.example.net/c.json", "published example.net"],
    ["https://apps.acme.co.uk/c.json", "published acme.co.uk"],
    ["https://client.example:8443/c.json", "published client.example"],
    ["https://somebody.github.io/c.json", "published somebody.github.io"],
    ["https://claude.ai.evil.example/c.json", "published evil.example"],
    ["https://claude.ai/oauth/claude-code-client-metadata", "published claude.ai"],
    // A shared host doesn't vouch for one maker.
    ["https://claude.ai/public/artifacts/c.json", "unconfirmed"],
    ["https://sites.google.com/view/acme", "unconfirmed"],
    [REGISTERED, "unconfirmed"],
  ];
  for (const [clientId, expected] of published) {
    assertEquals(publisherOf("Acme Notes", LOOPBACK, clientId), expected, clientId);
  }
});

Deno.test("judgeClient() does not doubt names that match the host's domain, nor apps on the device", () => {
  const fitting: [string, string][] = [
    ["Acme Notes", at("notes.acme.example:8443")],
    ["Acme Notes", at("acme-notes.example")],
    ["Acme Notes for Teams", at("app.acmenotes.co.uk")],
    ["Cal.com", at("app.cal.com")],
    ["Simple Notes", at("simple.example")],
    ["Vercel AI", at("vercel.com")],
    ["Notizbuch", "com.example.notizbuch:/callback"],
    ["Cursor", CURSOR],
    ["Visual Studio Code", "vscode-insiders://vscode.mcp/callback"],
    ["Claude Code", LOOPBACK],
    ["Anything", LOOPBACK],
  ];
  for (const [name, redirectUri] of fitting) assertEquals(doubtOf(name, redirectUri), null, name);
});

Deno.test("judgeClient() doubts names of another or an unknown owner", () => {
  const borrowed: [string, string][] = [
    ["Claude", at("evil.example")],
    ["Claude", at("claude.ai.evil.example")],
    ["Claude", at("notclaude.ai")],
    ["Claude evil", at("evil.example")],
    ["Chat GPT", at("chat.example")],
    ["C l a u d e", at("evil.com")],
    ["CLAUDE", at("evil.com")],
    ["ClaudeEvil", at("claudeevil.com")],
    ["Cha1GPT ChatGPT", at("evil.com")],
    ["Anthropic Evil", at("evil.com")],
    ["Claude", CURSOR],
    ["ChatGPT", CLAUDE],
    ["Friendly helper", at("xn--80ak6aa92e.example")],
    ["The MCP app", at("app.mcp.example")],
    ["The MCP app", at("mcp.example")],
    // A domain suffix is not an owner's name.
    ["Notion.com", at("evil.com")],
    ["Notion.com", at("notion.evil.com")],
    ["Slack com", at("evil.com")],
    ["Slack co", at("evil.co.uk")],
    ["Evil of notion.so", at("evil.com")],
    ["Notion", at("notion.evil.com")],
    ["Notion", at("notion-login.com")],
    ["Notion", at("notionevil.com")],
    ["Notion.so", "com.example.evil:/callback"],
    ["Io", at("io.io")],
  ];
  for (const [name, redirectUri] of borrowed) assertEquals(doubtOf(name, redirectUri), "not_of_host", name);
  for (const redirectUri of [at("client.example"), CLAUDE, LOOPBACK]) {
    assertEquals(doubtOf("Claude", redirectUri, "https://client.example/c.json"), "not_of_host");
  }
});

Deno.test("judgeClient() lets a shared host vouch for no name", () => {
  const shared: [string, string][] = [
    ["Vercel AI", "anything.vercel.app"],
    ["Acme", "acme.vercel.app"],
    ["Supabase Assistant", "abcdefghijklmnop.supabase.co"],
    ["Replit Agent", "agent.replit.app"],
    ["Notion", "notion.github.io"],
    ["Netlify", "netlify.netlify.app"],
    ["Acme", "acme.workers.dev"],
    ["Github", "x.github.io"],
  ];
  for (const [name, host] of shared) {
    assertEquals(doubtOf(name, at(host)), "not_of_host", `${name} at ${host}`);
    assertEquals(doubtOf(name, LOOPBACK, `https://${host}/c.json`), "not_of_host", `${name} of ${host}`);
  }
  // Not on the public suffix list, but owned by a maker; only its published callbacks count.
  assertEquals(doubtOf("Google Gemini", LOOPBACK, "https://script.google.com/macros/c.json"), "not_of_host");
});

Deno.test("judgeClient() always doubts mixed scripts and look-alike letters of a known maker, even for apps on the device", () => {
  const alike = [
    "Ⲥlaude",
    "Сlaude",
    "Сlаudе",
    "С laude",
    "ＣＬＡＵＤＥ",
    "𝐂𝐥𝐚𝐮𝐝𝐞",
    "Ⓒlaude",
    "🄲🄻🄰🅄🄳🄴",
    "Ꮯlaude",
    "ꓚlaude",
    "Clаude",
    "Cláude",
    "C1aude",
    "C|aude",
    "C丨aude",
    "ᴄʟᴀᴜᴅᴇ",
    "Clɑude",
    "ChαtGPT",
    "0penAI",
    "Anthrοpic",
    "Mlcrosoft",
    "G00gle",
    "Rnistral",
    "Сursог",
    "Acmе Notes",
    "Ѕlack",
    "Νotion",
    "Զendesk",
    "Αcme",
  ];
  for (const name of alike) {
    for (const redirectUri of [at("evil.example"), CLAUDE, LOOPBACK, CURSOR]) {
      assertEquals(doubtOf(name, redirectUri), "look_alike", name);
    }
    assertEquals(doubtOf(name, LOOPBACK, "https://acme.example/c.json"), "look_alike", name);
    assertEquals(publisherOf(name, CLAUDE), "unconfirmed", name);
  }
});

Deno.test("judgeClient() accepts names in one script, in Japanese, Korean or accented Latin", () => {
  for (
    const name of [
      "Заметки",
      "Мои расходы 2",
      "メモ帳",
      "経費アシスタント",
      "LINEメモ",
      "家計簿アプリ",
      "가계부 앱",
      "大韓Notes",
      "مساعد المصاريف",
      "דפדפן",
      "Βιβλίο",
      "Ծախսեր",
      "ค่าใช้จ่าย",
      "खर्च",
      "Zoë’s Nötizen",
      "Łódź Straßenkasse",
      "Çağrı Işık",
      "Nguyễn",
      "Acme 3000™ (β)",
      "Бюджет & Notes 🇩🇪 👩‍💻",
    ]
  ) {
    assertEquals(doubtOf(name, LOOPBACK), null, name);
  }
});

Deno.test("judgeClient() warns about a forwarding callback, even for its own vendor's app", () => {
  for (const uri of ["https://vscode.dev/redirect", "https://insiders.vscode.dev/redirect"]) {
    for (const clientId of [REGISTERED, "https://vscode.dev/oauth/client-metadata.json"]) {
      assertEquals(doubtOf("Visual Studio Code", uri, clientId), "forwarded");
    }
    assertEquals(doubtOf("Claude", uri), "not_of_host");
    assertEquals(doubtOf("Acme", uri, "https://acme.example/c.json"), "forwarded");
  }
});
