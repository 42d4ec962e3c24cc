import { assertEquals } from "@std/assert";
import { isWellKnownHost, nameFitsTarget } from "../../../shared/oauth/client_trust.ts";
import type { RedirectTarget } from "../../../shared/oauth/redirect_uri.ts";

const https = (host: string): RedirectTarget => ({ kind: "https", host });
const app = (scheme: string): RedirectTarget => ({ kind: "app", scheme });

Deno.test("nameFitsTarget() is satisfied by the makers of well-known apps and by names that the host is registered by", () => {
  const fitting: [string, RedirectTarget][] = [
    ["Claude", https("claude.ai")],
    ["Claude", https("www.claude.com")],
    ["ChatGPT", https("chatgpt.com")],
    ["Cursor", app("cursor")],
    ["Cursor", https("www.cursor.com")],
    ["Visual Studio Code", https("vscode.dev")],
    ["Visual Studio Code", app("vscode-insiders")],
    ["Acme Notes", https("notes.acme.example:8443")],
    ["Acme Notes", https("acme-notes.example")],
    ["Acme Notes for Teams", https("app.acmenotes.co.uk")],
    ["Cal.com", https("app.cal.com")],
    ["Le Chat", https("callback.mistral.ai")],
    ["OpenAI API", https("chatgpt.com")],
    ["Simple Notes", https("simple.example")],
    ["Notizbuch", app("com.example.notizbuch")],
    ["Claude Code", { kind: "loopback", host: "127.0.0.1" }],
  ];
  for (const [name, target] of fitting) assertEquals(nameFitsTarget(name, target), true, name);
});

Deno.test("nameFitsTarget() objects to names that belong to somebody else or to nobody we can tell", () => {
  const borrowed: [string, RedirectTarget][] = [
    ["Claude", https("evil.example")],
    ["Claude", https("claude.ai.evil.example")],
    ["Claude", https("notclaude.ai")],
    ["Claude evil", https("evil.example")],
    ["ＣＬＡＵＤＥ", https("evil.example")],
    ["Cláude", https("evil.example")],
    ["Сlaude", https("claude-login.example")],
    ["Chat GPT", https("chat.example")],
    ["Claude", app("cursor")],
    ["Friendly helper", https("xn--80ak6aa92e.example")],
    ["The MCP app", https("app.mcp.example")],
    ["The MCP app", https("mcp.example")],
    // What a host ends with is nobody's name.
    ["C1aude.com", https("evil.com")],
    ["Notion.com", https("evil.com")],
    ["Notion.com", https("notion.evil.com")],
    ["Slack com", https("evil.com")],
    ["Slack co", https("evil.co.uk")],
    ["Evil of notion.so", https("evil.com")],
    ["Notion．com evil", https("evil.com")],
    ["Notion", https("notion.evil.com")],
    ["Notion", https("notion-login.com")],
    ["Notion", https("notion.github.io")],
    ["Notion", https("notionevil.com")],
    ["Notion.so", app("com.example.evil")],
    ["Io", https("io.io")],
    // Drawn like the name of a maker, at a host of the same drawing.
    ["C1aude", https("c1aude.com")],
    ["Сlаudе", https("claude-evil.com")],
    ["C l a u d e", https("evil.com")],
    ["CLAUDE", https("evil.com")],
    ["ClaudeEvil", https("claudeevil.com")],
    ["Cha1GPT ChatGPT", https("evil.com")],
    ["0penAI", https("0penai.com")],
    ["Anthrοpic", https("evil.com")],
    ["Anthropic Evil", https("evil.com")],
    ["Mlcrosoft", https("mlcrosoft.com")],
    ["G00gle", https("g00gle.com")],
    ["Microsoft", https("rnicrosoft.com")],
    ["Rnistral", https("rnistral.com")],
  ];
  for (const [name, target] of borrowed) assertEquals(nameFitsTarget(name, target), false, name);
});

Deno.test("isWellKnownHost() knows makers by the end of their hosts only", () => {
  for (const host of ["claude.ai", "www.cursor.com"]) assertEquals(isWellKnownHost(host), true, host);
  for (const host of ["claude.ai.evil.example", "notclaude.ai", "evil.example"]) {
    assertEquals(isWellKnownHost(host), false, host);
  }
});
