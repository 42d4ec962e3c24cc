import { assertEquals } from "@std/assert";
import fc from "fast-check";
import { knowCallbacks } from "../../../shared/oauth/known_makers.ts";
import { isRegistered, judgeRedirectUri, withParameters } from "../../../shared/oauth/redirect_uri.ts";

const judgement = (uri: string) => {
  const judged = judgeRedirectUri(uri);
  return judged.ok ? judged.target.kind : judged.reason;
};

Deno.test("judgeRedirectUri() accepts the URIs of real clients", () => {
  const registered = {
    "https://claude.ai/api/mcp/auth_callback": "https",
    "https://chatgpt.com/connector/oauth/abc_123": "https",
    "https://vscode.dev/redirect": "https",
    "https://www.cursor.com/agents/mcp/oauth/callback": "https",
    "https://cursor.com/agents/mcp/oauth/callback": "https",
    "https://platform.openai.com/apps-manage/oauth": "https",
    "https://grok.com/connectors-oauth-exchange-code": "https",
    "https://grok.com/connectors-oauth-exchange-code/": "https",
    "https://app.example:8443/cb?tenant=1": "https",
    "https://app.example:443/cb": "https",
    "https://app.example": "https",
    "https://googleish.example/cb": "https",
    "https://notgoogle.com/cb": "https",
    "http://127.0.0.1/": "loopback",
    "http://127.0.0.1": "loopback",
    "http://127.0.0.1:33418/": "loopback",
    "http://127.8.9.10:1/x": "loopback",
    "http://localhost:80/callback": "loopback",
    "http://localhost:3335/oauth/callback": "loopback",
    "http://[::1]:6274/oauth/callback": "loopback",
    "cursor://anysphere.cursor-mcp/oauth/callback": "app",
    "vscode://vscode.github-authentication/did-authenticate": "app",
    "vscode-insiders://x/y": "app",
    "com.example.app:/oauth": "app",
    "com.example.app://oauth/callback": "app",
  };
  for (const [uri, kind] of Object.entries(registered)) assertEquals(judgement(uri), kind, uri);
});

Deno.test("judgeRedirectUri() refuses near misses", () => {
  const refused = {
    "http://app.example/cb": "http_not_on_loopback",
    "http://127.0.0.1.evil.example/": "http_not_on_loopback",
    "http://localhost.evil.example/": "http_not_on_loopback",
    "http://notlocalhost/": "http_not_on_loopback",
    "http://128.0.0.1/": "http_not_on_loopback",
    "http://0.0.0.0/": "http_not_on_loopback",
    "http://10.0.0.1/": "http_not_on_loopback",
    "http://[::]/": "http_not_on_loopback",
    "http://[::ffff:7f00:1]/": "http_not_on_loopback",
    "http://localhost@evil.example/": "has_credentials",
    "https://user:pass@app.example/": "has_credentials",
    "https://@app.example/": "has_credentials",
    "cursor://user@host/": "has_credentials",
    "https://www.google.com/url": "not_published",
    "https://www.google.co.uk/url?q=https://evil.example": "not_published",
    "https://vscode.dev/redirect?url=https://evil.example": "not_published",
    "https://VSCODE.dev/other": "not_published",
    "https://platform.openai.com/apps-manage": "not_published",
    "https://grok.com/connectors-oauth-exchange-code/x": "not_published",
    "https://chatgpt.com/connector/oauth/": "not_published",
    "https://chatgpt.com/connector/oauth/a?b": "not_published",
    "https://claude.ai:8443/api/mcp/auth_callback": "not_published",
    "https://a;frame-ancestors/cb": "host_malformed",
    "https://a,b.example/cb": "host_malformed",
    "https://a'b.example/cb": "host_malformed",
    "https://a_b.example/cb": "host_malformed",
    "https://-a.example/cb": "host_malformed",
    "https://a..example/cb": "host_malformed",
    "https://[2001:db8::1]/cb": "host_malformed",
    "http://127.0.0.1:80:90/": "not_a_url",
    "http://127.0.0.1:70000/": "not_a_url",
    "https://": "not_a_url",
    "/callback": "not_a_url",
    "//app.example/cb": "not_a_url",
    "app.example/cb": "not_a_url",
    "http://[::ffff:127.0.0.1]/": "not_canonical",
    "http://2130706433/": "not_canonical",
    "http://0x7f.1/": "not_canonical",
    "http://127.1/": "not_canonical",
    "http://127.0.0.1:/": "not_canonical",
    "https://app.example./cb": "not_canonical",
    "https://app.example/a/../cb": "not_canonical",
    "https://app.example/%2e%2e/cb": "not_canonical",
    "https:/app.example/cb": "not_canonical",
    "https:app.example": "not_canonical",
    "https://app.example/cb#": "illegal_character",
    "https://app.example/cb#x": "illegal_character",
    "https://*.example/cb": "illegal_character",
    "https://app.example/*": "illegal_character",
    "https://app.example\\@evil.example/": "illegal_character",
    "https://app.example/a b": "illegal_character",
    "https://app.example/\r\nLocation:x": "illegal_character",
    "https://app.example/\u202e": "illegal_character",
    "https://аpp.example/cb": "illegal_character",
    " https://app.example/cb": "illegal_character",
    "": "illegal_character",
    [`https://app.example/${"a".repeat(2048)}`]: "too_long",
    "javascript:alert(1)": "scheme_not_allowed",
    "data:text/html,x": "scheme_not_allowed",
    "file:///etc/passwd": "scheme_not_allowed",
    "blob:https://app.example/1": "scheme_not_allowed",
    "vbscript:x": "scheme_not_allowed",
    "about:blank": "scheme_not_allowed",
    "ws://app.example/": "scheme_not_allowed",
    "ftp://app.example/": "scheme_not_allowed",
    "intent://x/": "scheme_not_allowed",
    "myapp://callback": "scheme_not_allowed",
    "cursors://x/y": "scheme_not_allowed",
    "com.:/x": "scheme_not_allowed",
    "urn:ietf:wg:oauth:2.0:oob": "scheme_not_allowed",
  };
  for (const [uri, reason] of Object.entries(refused)) assertEquals(judgement(uri), reason, uri);
});

Deno.test("judgeRedirectUri() accepts an operator's redirect URIs exactly, and no other on their domains", () => {
  const added = "https://claude.ai/new/callback";
  const other = "https://assistant.example/oauth/callback";
  try {
    knowCallbacks([["Claude", added], ["Other App", other]]);
    assertEquals(judgement(added), "https");
    assertEquals(judgement(`${added}2`), "not_published");
    assertEquals(judgement("https://claude.ai/api/mcp/auth_callback"), "https");
    assertEquals(judgement(other), "https");
    assertEquals(judgement("https://assistant.example/share"), "not_published");
  } finally {
    knowCallbacks([]);
  }
  assertEquals(judgement(added), "not_published");
});

Deno.test("judgeRedirectUri() never sends http to another computer", () => {
  const noise = fc.oneof(fc.constant(""), fc.stringMatching(/^[a-z0-9.@:\[\]%-]{1,8}$/));
  const loopback = fc.constantFrom("localhost", "127.0.0.1", "127.1", "[::1]", "2130706433");
  fc.assert(
    fc.property(noise, loopback, noise, fc.webPath(), (before, host, after, path) => {
      const uri = `http://${before}${host}${after}${path}`;
      if (!judgeRedirectUri(uri).ok) return true;
      return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(uri).hostname);
    }),
    { numRuns: 2000 },
  );
});

Deno.test("judgeRedirectUri() accepts no https host that could inject a directive into a policy", () => {
  const host = fc.stringMatching(/^[A-Za-z0-9.\-_~!$&'()+,;=%]{1,20}$/);
  fc.assert(fc.property(host, fc.webPath(), (host, path) => {
    const judged = judgeRedirectUri(`https://${host}${path}`);
    return !judged.ok || judged.target.kind === "https" && /^[a-z0-9.-]+$/.test(judged.target.host);
  }));
});

Deno.test("isRegistered() compares exactly, except for the port on loopback", () => {
  const registered = [
    "http://localhost/callback",
    "http://127.0.0.1:33418/",
    "https://app.example/cb?x=1",
    "http://[::1]/cb",
    "cursor://anysphere.cursor-mcp/oauth/callback",
  ];
  const same = [
    "http://localhost:54123/callback",
    "http://localhost/callback",
    "http://127.0.0.1:50000/",
    "http://127.0.0.1:50000",
    "http://[::1]:9/cb",
    "https://app.example/cb?x=1",
    "cursor://anysphere.cursor-mcp/oauth/callback",
  ];
  const other = [
    "http://127.0.0.1:54123/callback",
    "http://localhost:54123/callback/",
    "http://localhost:54123/Callback",
    "http://localhost:54123/callback?x=1",
    "https://localhost:54123/callback",
    "http://127.0.0.2:33418/",
    "https://app.example/cb",
    "https://app.example/cb?x=1&y=2",
    "https://app.example/cb?x=2",
    "https://app.example:8443/cb?x=1",
    "https://APP.example/cb?x=1",
    "https://app.example/CB?x=1",
    "cursor://anysphere.cursor-mcp/oauth/callback2",
    "cursor://anysphere.cursor-mcp:1/oauth/callback",
  ];
  for (const uri of same) assertEquals(isRegistered(uri, registered), true, uri);
  for (const uri of other) assertEquals(isRegistered(uri, registered), false, uri);
});

Deno.test("withParameters() keeps the URI and its query, and omits absent parameters", () => {
  const cases = {
    "https://app.example/cb": "https://app.example/cb?code=a%20b&iss=i",
    "https://app.example/cb?": "https://app.example/cb?code=a%20b&iss=i",
    "https://app.example/cb?x=1": "https://app.example/cb?x=1&code=a%20b&iss=i",
    "com.example.app:/cb": "com.example.app:/cb?code=a%20b&iss=i",
  };
  for (const [uri, expected] of Object.entries(cases)) {
    assertEquals(withParameters(uri, { code: "a b", state: undefined, iss: "i" }), expected);
  }
});

Deno.test("withParameters() returns any state unchanged and affects no other parameter", () => {
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), (state) => {
    const { hostname, pathname, searchParams } = new URL(withParameters("https://app.example/cb?x=1", { state }));
    assertEquals([hostname, pathname, searchParams.get("x"), searchParams.get("state")], [
      "app.example",
      "/cb",
      "1",
      state,
    ]);
    assertEquals([...searchParams.keys()], ["x", "state"]);
  }));
});
