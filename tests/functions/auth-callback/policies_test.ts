/**
 * The privacy policy and the terms match the service's settings and retention, and are templates until the settings
 * complete them.
 */
import { assertEquals, assertFalse, assertStringIncludes } from "@std/assert";
import { type Config, readConfig } from "../../../shared/config.ts";
import { RETENTION } from "../../../shared/retention.ts";
import { LANGUAGES } from "../../../shared/words/page_words.ts";
import { answering, createPages } from "./harness.ts";

const OPERATOR = { operatorName: "Example Ltd", operatorContact: "privacy@example.com", operatorCountry: "Germany" };
const words = LANGUAGES.en.pages.policies;
const read = async (path: string, config = {}) =>
  await (await createPages(answering({}), config).browser().get(path)).text();

Deno.test("without an operator both pages call themselves templates, and no page links to them", async () => {
  for (const path of ["/privacy", "/terms"]) assertStringIncludes(await read(path), words.template);
  assertFalse((await read("/")).includes('href="/privacy"'));
  assertEquals(readConfig({ OPERATOR_NAME: "A", OPERATOR_COUNTRY: "B" }, []).privacyUrl, undefined);
});

Deno.test("an operator's settings complete both pages, which are linked unless others replace them", async () => {
  for (const path of ["/privacy", "/terms"]) {
    const page = await read(path, OPERATOR);
    assertFalse(page.includes(words.template));
    for (const value of Object.values(OPERATOR)) assertStringIncludes(page, value);
  }
  const env = {
    NEXT_PUBLIC_SITE_URL: "https://expenses.example",
    OPERATOR_NAME: "Example Ltd",
    OPERATOR_CONTACT: "privacy@example.com",
    OPERATOR_COUNTRY: "Germany",
  };
  const { privacyUrl, termsUrl } = readConfig(env, []);
  assertEquals([privacyUrl, termsUrl], ["https://expenses.example/privacy", "https://expenses.example/terms"]);
  const own = "https://example.com/privacy";
  assertEquals(readConfig({ ...env, PRIVACY_URL: own }, []).privacyUrl, own);
});

Deno.test("the privacy page names every period, and only the configured processors", async () => {
  const page = await read("/privacy", OPERATOR);
  for (const [what, keep] of Object.entries(RETENTION)) {
    assertStringIncludes(page, `<dt>${words.kept[what]}</dt><dd>${keep}</dd>`);
  }
  assertStringIncludes(page, "Sending emails: Resend");
  assertStringIncludes(page, "database and sign-in: project.example");
  assertFalse(page.includes("Payments:"));
  const sold = await read("/privacy", {
    checkoutUrl: "https://pay.example/{organization_id}",
    mailUrl: "smtps://u:secret@mail.example:465",
    authProviders: ["google"],
  });
  for (const said of ["Payments: pay.example", "Sending emails: mail.example", "google"]) {
    assertStringIncludes(sold, said);
  }
  assertFalse(sold.includes("secret"));
});

Deno.test("on one server the privacy page names the configured host, and never Supabase", async () => {
  const hosting = async (config: Partial<Config>) =>
    /Hosting, database and sign-in: ([^<]*)</.exec(await read("/privacy", { ...OPERATOR, ...config }))![1];
  const oneServer = { siteUrl: "https://expenses.example", supabaseUrl: "https://expenses.example" };
  assertEquals(await hosting(oneServer), "a server that the operator runs");
  const { operatorHosting } = readConfig({ OPERATOR_HOSTING: "Example Hosting, Germany" }, []);
  assertEquals(await hosting({ ...oneServer, operatorHosting }), "Example Hosting, Germany");
  assertEquals(await hosting({ supabaseUrl: "https://ref.supabase.co", operatorHosting }), "Supabase");
});
