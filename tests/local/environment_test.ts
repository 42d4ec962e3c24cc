import { assertEquals } from "@std/assert";
import { isFunctionSetting } from "../../local/deploy/settings.ts";
import { functionEnvironment } from "../../local/environment.ts";

const EXAMPLE = new URL("../../.env.example", import.meta.url);

const stack = {
  siteUrl: "http://127.0.0.1:7400",
  supabaseUrl: "http://127.0.0.1:7400",
  db: "embedded",
  localUrl: "http://127.0.0.1:7401/secret",
  demoRates: false,
  mailboxUrl: "smtp://127.0.0.1:1025",
  secrets: {} as Parameters<typeof functionEnvironment>[0]["secrets"],
};

Deno.test("functionEnvironment() passes on every setting in .env.example except generated ones", async () => {
  const text = await Deno.readTextFile(EXAMPLE);
  const names = [...text.matchAll(/^(?:# )?([A-Z][A-Z0-9_]*)=/gm)].map(([, name]) => name!).filter(isFunctionSetting);
  const given = Object.fromEntries(names.map((name) => [name, name === "RATE_LIMITS" ? "off" : `own ${name}`]));
  const made = functionEnvironment({ ...stack, own: given }) as Record<string, string>;
  assertEquals(Object.fromEntries(names.map((name) => [name, made[name]])), {
    ...given,
    NEXT_PUBLIC_SITE_URL: stack.siteUrl,
    DATABASE_SERVICE_ROLE_KEY: undefined,
  });
  assertEquals([names.includes("CHECKOUT_URL"), names.includes("CREDENTIALS_KEY")], [true, true]);
});
