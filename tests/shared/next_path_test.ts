import { assertEquals } from "@std/assert";
import { safeNextPath, withNext } from "../../shared/next_path.ts";

Deno.test("safeNextPath() returns paths of this site unchanged", () => {
  for (
    const path of [
      "/",
      "/account",
      "/account?done=saved",
      "/account/disconnect?grant=0b0e",
      "/api/oauth/authorize?client_id=https%3A%2F%2Fclaude.ai%2Fmeta.json&redirect_uri=https://claude.ai/cb&state=a%2Fb//c",
      "/a~b/c_d-e.f?x=[1]&y=|^`{}",
      "/account#reminders",
    ]
  ) assertEquals(safeNextPath(path), path);
});

Deno.test("safeNextPath() rejects paths that a browser or proxy could read as another site", () => {
  for (
    const next of [
      "",
      "account",
      "//evil.example",
      "///evil.example",
      "////evil.example/%2f..",
      "/\\evil.example",
      "\\\\evil.example",
      "/\t/evil.example",
      "/\n/evil.example",
      "\t//evil.example",
      " //evil.example",
      "/ /evil.example",
      "/%2f%2fevil.example",
      "/%2F/evil.example",
      "/%5cevil.example",
      "/%09/evil.example",
      "/./evil.example",
      "/.//evil.example",
      "/..//evil.example",
      "/a/..//evil.example",
      "https://evil.example",
      "https:evil.example",
      "http:/\\evil.example",
      "javascript:alert(1)",
      "data:text/html,x",
      "/@evil.example",
      "/account:80",
      "/;//evil.example",
      "/account?x=\r\nSet-Cookie: a=b",
      "/account?x=\u0000",
      "/account?x=\\evil",
      "/account?x=ü",
      "/\u202eaccount",
      "/ａccount",
      "/account\u2028",
      `/${"a".repeat(9000)}`,
    ]
  ) assertEquals(safeNextPath(next), undefined, JSON.stringify(next));
  assertEquals(safeNextPath(undefined), undefined);
});

Deno.test("safeNextPath() returns only paths that stay on this site", () => {
  for (const path of ["/account", "/a?b=//c", "/api/oauth/authorize?redirect_uri=//x"]) {
    assertEquals(new URL(safeNextPath(path)!, "https://site.example").origin, "https://site.example");
  }
});

Deno.test("withNext() adds the encoded path", () => {
  assertEquals(withNext("/login", "/a?b=c&d"), "/login?next=%2Fa%3Fb%3Dc%26d");
  assertEquals(withNext("/login?sent=1", "/a"), "/login?sent=1&next=%2Fa");
  assertEquals(withNext("/login", undefined), "/login");
});
