import { assertEquals } from "@std/assert";
import { nameFitsTarget } from "../../../shared/oauth/client_trust.ts";
import type { RedirectTarget } from "../../../shared/oauth/redirect_uri.ts";

const https = (host: string): RedirectTarget => ({ kind: "https", host });
const app = (scheme: string): RedirectTarget => ({ kind: "app", scheme });

Deno.test("nameFitsTarget() is satisfied by the makers of well-known apps and by names that are in the host", () => {
  const fitting: [string, RedirectTarget][] = [
    ["Claude", https("claude.ai")],
    ["Claude", https("www.claude.com")],
    ["ChatGPT", https("chatgpt.com")],
    ["Cursor", app("cursor")],
    ["Cursor", https("www.cursor.com")],
    ["Visual Studio Code", https("vscode.dev")],
    ["Visual Studio Code", app("vscode-insiders")],
    ["Acme Notes", https("notes.acme.example:8443")],
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
  ];
  for (const [name, target] of borrowed) assertEquals(nameFitsTarget(name, target), false, name);
});
