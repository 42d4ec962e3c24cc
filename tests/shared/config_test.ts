import { assertEquals, assertThrows } from "@std/assert";
import { ConfigError, readConfig } from "../../shared/config.ts";

const problemsOf = (env: Record<string, string>, needs: Parameters<typeof readConfig>[1]) =>
  assertThrows(() => readConfig(env, needs), ConfigError).problems;

Deno.test("readConfig() accepts only public addresses of https, or http on loopback", () => {
  for (
    const siteUrl of ["https://expenses.example", "http://127.0.0.1:8000", "http://localhost:3000", "http://[::1]"]
  ) {
    assertEquals(readConfig({ NEXT_PUBLIC_SITE_URL: siteUrl }, ["siteUrl"]).siteUrl, siteUrl);
  }
  for (
    const siteUrl of [
      "http://expenses.example",
      "http://127.0.0.1.evil.example",
      "https://user@expenses.example",
      "https://expenses.example/path",
      "https://expenses.example/?q",
      "ftp://expenses.example",
      "expenses.example",
    ]
  ) {
    assertEquals(problemsOf({ NEXT_PUBLIC_SITE_URL: siteUrl }, ["siteUrl"]).length, 1, siteUrl);
  }
});

Deno.test("readConfig() names every missing or malformed setting at once, without values", () => {
  const problems = problemsOf(
    { OAUTH_CODE_SECRET: "canary-too-short", RATE_LIMITS: '{"register":"canary"}' },
    ["siteUrl", "codeSecrets"],
  );
  assertEquals(problems.length, 3);
  assertEquals(problems.join().includes("canary"), false);
});

Deno.test("readConfig() accepts only signing secrets of 32 bytes or more, each in a list", () => {
  const long = "x".repeat(32);
  assertEquals(readConfig({ OAUTH_CODE_SECRET: `${long}, ${long}y` }, ["codeSecrets"]).codeSecrets.length, 2);
  assertEquals(readConfig({}, []).frontDoorSecrets, []);
  assertEquals(readConfig({}, []).paymentWebhookSecrets, []);
  for (const secret of ["x".repeat(31), `${long},short`, ","]) {
    assertEquals(problemsOf({ OAUTH_CODE_SECRET: secret }, ["codeSecrets"]).length, 1);
    assertEquals(problemsOf({ FRONT_DOOR_SECRET: secret }, []).length, 1);
    assertEquals(problemsOf({ PAYMENT_WEBHOOK_SECRET: secret }, []), [
      "PAYMENT_WEBHOOK_SECRET has an entry shorter than 32 bytes",
    ]);
  }
});

Deno.test("readConfig() accepts limits that are on, off or set by name", () => {
  assertEquals(readConfig({}, []).rateLimits, "on");
  assertEquals(readConfig({ RATE_LIMITS: "off" }, []).rateLimits, "off");
  assertEquals(readConfig({ RATE_LIMITS: '{"register":99}' }, []).rateLimits, { register: 99 });
  for (const limits of ["0", "[]", '{"register":0}', '{"register":-1}', "yes"]) {
    assertEquals(problemsOf({ RATE_LIMITS: limits }, []).length, 1, limits);
  }
});

Deno.test("readConfig() accepts alternative provider URLs only where it may send a credential", () => {
  assertEquals(readConfig({}, []).providerBases, {});
  const bases = "openai=https://proxy.example/openai/, http_json=https://x.example,github=http://127.0.0.1:8000/github";
  assertEquals(readConfig({ PROVIDER_BASES: bases }, []).providerBases, {
    openai: "https://proxy.example/openai",
    http_json: "https://x.example",
    github: "http://127.0.0.1:8000/github",
  });
  for (
    const wrong of [
      "openai",
      "openai=",
      "=https://proxy.example",
      "openai=http://proxy.example",
      "openai=proxy.example",
      "openai=ftp://127.0.0.1",
      "openai=https://user@proxy.example",
      "openai=https://proxy.example/?key=1",
      "Open AI=https://proxy.example",
    ]
  ) {
    assertEquals(problemsOf({ PROVIDER_BASES: wrong }, []).length, 1, wrong);
  }
});

Deno.test("readConfig() accepts redirect URIs of known apps only as exact https URLs", () => {
  assertEquals(readConfig({}, []).knownApps, []);
  const apps = "Claude=https://claude.ai/new/callback, Other App=https://app.example/cb?client=1";
  assertEquals(readConfig({ KNOWN_APPS: apps }, []).knownApps, [
    ["Claude", "https://claude.ai/new/callback"],
    ["Other App", "https://app.example/cb?client=1"],
  ]);
  for (
    const wrong of [
      "https://app.example/cb",
      "App=http://app.example/cb",
      "App=https://app.example",
      "App=https://app.example/*",
      "App=https://app.example/cb#token",
      "App=https://app example/cb",
      "=https://app.example/cb",
    ]
  ) {
    assertEquals(problemsOf({ KNOWN_APPS: wrong }, []).length, 1, wrong);
  }
});

Deno.test("readConfig() accepts only a proof for OpenAI of one word", () => {
  const read = (value: string) => readConfig({ OPENAI_APPS_CHALLENGE: value }, []).openaiAppsChallenge;
  assertEquals(read(" abc_DEF-123 "), "abc_DEF-123");
  for (const wrong of ["short", "two words of it", "x".repeat(401), "naïve-token"]) {
    assertEquals(problemsOf({ OPENAI_APPS_CHALLENGE: wrong }, []), [
      "OPENAI_APPS_CHALLENGE is not one word of 8 to 400 characters",
    ]);
  }
});
