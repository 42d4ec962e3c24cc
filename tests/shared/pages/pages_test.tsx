/** @jsxImportSource hono/jsx */
import { assert, assertEquals, assertMatch, assertNotMatch, assertStringIncludes } from "@std/assert";
import type { ErrorCode } from "../../../shared/error_codes.ts";
import { AppError } from "../../../shared/errors.ts";
import { createDatabase } from "../../../shared/db/client.ts";
import { createApp } from "../../../shared/http/app.ts";
import { type CurrentRequest, currentRequest } from "../../../shared/http/current_request.ts";
import { createLog } from "../../../shared/log.ts";
import { Name, Notice, RadioList, SelectField, TextField } from "../../../shared/pages/components.tsx";
import { ConnectSteps } from "../../../shared/pages/connect_steps.tsx";
import { pageErrors } from "../../../shared/pages/error_page.tsx";
import { livingIn, readers } from "../../../shared/pages/reader.ts";
import { LANGUAGES } from "../../../shared/words/page_words.ts";
import { type PageOptions, renderPage } from "../../../shared/pages/layout.tsx";

const { en } = LANGUAGES;

const CONFIG = {
  siteUrl: "https://site.example",
  frontDoorSecrets: [],
  codeSecrets: ["a-secret-of-more-than-thirty-two-bytes"],
};
/** An app whose pages know their reader. */
function createPageApp() {
  const app = createApp("auth-callback", FRAME, pageErrors(CONFIG));
  app.use(readers());
  return app;
}

const FRAME = { config: CONFIG, log: createLog(() => {}) };
const BAD = `<script>alert("1")</script>`;

/** The response for a page with these options. */
async function render(options: Partial<PageOptions> & { formAction?: string[] }, method = "GET"): Promise<Response> {
  const app = createPageApp();
  app.get("/login", (c) => renderPage(c, { title: "A page", config: CONFIG, children: "", ...options }));
  return await app.request("https://site.example/login", { method });
}

const html = async (children: PageOptions["children"]) => await (await render({ children })).text();

Deno.test("renderPage() allows its one stylesheet, its own forms and nothing else", async () => {
  const response = await render({ title: BAD });
  const policy = response.headers.get("content-security-policy")!;
  const [, nonce] = /style-src 'nonce-([^']+)'/.exec(policy)!;
  assertEquals(
    policy,
    `default-src 'none'; style-src 'nonce-${nonce}'; img-src data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
  );
  const page = await response.text();
  assertStringIncludes(page, `<style nonce="${nonce}">`);
  assertNotMatch(page, /<script|style="/);
  assertStringIncludes(page, "&lt;script&gt;");
  assert(nonce !== /nonce-([^']+)'/.exec((await render({})).headers.get("content-security-policy")!)![1]);
});

Deno.test("renderPage() adds form targets, a script with the nonce, and configured links", async () => {
  const response = await render({
    formAction: ["https://claude.ai"],
    script: "1 < 2 && 3",
    config: { ...CONFIG, supportUrl: "mailto:help@site.example" },
    user: { email: "mira@example.com" },
  });
  const policy = response.headers.get("content-security-policy")!;
  assertStringIncludes(policy, "form-action 'self' https://claude.ai;");
  const [, nonce] = /script-src 'nonce-([^']+)'/.exec(policy)!;
  const page = await response.text();
  assertStringIncludes(page, `<script nonce="${nonce}">1 < 2 && 3</script>`);
  assertStringIncludes(page, '<a href="mailto:help@site.example">Support</a>');
  assertNotMatch(page, /Privacy|Terms/);
  assertStringIncludes(page, 'action="/logout"');
});

Deno.test("renderPage() responds to HEAD with only the headers", async () => {
  const response = await render({}, "HEAD");
  assertEquals([response.status, await response.text()], [200, ""]);
  assertEquals(response.headers.get("content-type"), "text/html; charset=utf-8");
});

Deno.test("fields link label, reason and error to their control, and escape values", async () => {
  const page = await html(
    <>
      <TextField name="email" label="E-mail" reason="why" error="wrong" value={BAD} type="email" />
      <SelectField
        name="zone"
        label="Zone"
        options={[{ value: "a", label: "A", "data-x": "1" }, { value: "b", label: "B" }]}
        selected="b"
        unchosen="Pick one"
      />
    </>,
  );
  assertMatch(page, /<label for="email">E-mail<\/label>/);
  assertMatch(
    page,
    /<input id="email" name="email" type="email" aria-describedby="email-reason email-error" aria-invalid="true"/,
  );
  assertNotMatch(page, /<script/);
  assertStringIncludes(page, '<option value="a" data-x="1">A</option><option value="b" selected="">B</option>');
});

Deno.test("SelectField() requires a choice when the selection is not an option", async () => {
  const page = await html(
    <SelectField
      name="zone"
      label="Zone"
      options={[{ value: "a", label: "A" }]}
      selected="x"
      unchosen="Pick one"
      required
    />,
  );
  assertStringIncludes(page, '<option value="" selected="">Pick one</option>');
});

Deno.test("RadioList() shows disabled options, with the reason", async () => {
  const page = await html(
    <RadioList
      name="organization_id"
      legend="Which"
      choices={[{ value: "a", title: <Name>{BAD}</Name> }, {
        value: "b",
        title: "B",
        disabledReason: "needs the Pro plan",
      }]}
      selected="a"
    />,
  );
  assertMatch(page, /value="a" required="" checked=""\/>/);
  assertMatch(page, /value="b" required="" disabled=""\/>.*needs the Pro plan/s);
  assertMatch(page, /<bdi>&lt;script/);
});

Deno.test("ConnectSteps() links to Claude only when Claude can reach the site", async () => {
  const linksOf = async (connectorUrl: string) =>
    [...(await html(<ConnectSteps connectorUrl={connectorUrl} words={en.pages.connecting} />))
      .matchAll(/href="([^"]+)">Add to (Claude|Cursor|VS Code)</g)].map(([, href, client]) => [client, href]);
  const deployed = await linksOf("https://site.example/api/mcp");
  assertEquals(deployed.map(([client]) => client), ["Claude", "Cursor", "VS Code"]);
  assertEquals(
    deployed[0]![1]!.replaceAll("&amp;", "&"),
    "https://claude.ai/customize/connectors?modal=add-custom-connector&connectorName=expenses" +
      "&connectorUrl=https%3A%2F%2Fsite.example%2Fapi%2Fmcp",
  );
  const embedded = await linksOf("http://127.0.0.1:7400/api/mcp");
  assertEquals(embedded.map(([client]) => client), ["Cursor", "VS Code"]);
});

Deno.test("Notice() is announced, and failures are announced assertively", async () => {
  assertStringIncludes(await html(<Notice kind="failure">x</Notice>), '<div class="notice failure" role="alert">');
  assertStringIncludes(await html(<Notice>x</Notice>), '<div class="notice plain" role="status">');
});

Deno.test("a page has ten seconds for all of its database calls, until its response", async () => {
  const app = createPageApp();
  let request: CurrentRequest | undefined;
  let atFirst: number | undefined;
  app.get("/account", (c) => {
    request = currentRequest();
    atFirst = request?.databaseMs;
    return c.text("");
  });
  await app.request("https://site.example/account");
  assertEquals([atFirst, request!.databaseMs], [10_000, undefined]);
});

Deno.test("pageErrors() explains the failure, its effect and the next step for every code", async () => {
  const codes: ErrorCode[] = [
    "invalid_request",
    "unauthorized",
    "forbidden",
    "suspended",
    "not_found",
    "method_not_allowed",
    "request_timeout",
    "payload_too_large",
    "unsupported_media_type",
    "rate_limited",
    "internal",
    "unavailable",
  ];
  for (const code of codes) {
    const app = createPageApp();
    app.get("/account", () => {
      throw new AppError(code, `for the log: ${BAD}`, { cause: new Error("secret detail") });
    });
    const response = await app.request("https://site.example/account?a=%22%3E%3Cb%3E");
    const page = await response.text();
    assertEquals(response.status, new AppError(code, "").status);
    assertMatch(page, /<h1>[A-Z].+<\/h1><p class="lead">.+\.<\/p>/);
    // A missing page needs no hint about changes.
    assertEquals(page.includes('<p class="muted">'), code !== "not_found");
    assertMatch(page, /<a class="button primary" href="\/[^"]*">/);
    assertStringIncludes(page, response.headers.get("x-request-id")!);
    assertNotMatch(page, /<script|<b>|secret detail|for the log/);
  }
});

Deno.test("a page shows an error's details, in the reader's language", async () => {
  const app = createPageApp();
  app.get("/account", () => {
    throw new AppError("forbidden", "for the log", { says: ({ onlyOwnerRenames }) => onlyOwnerRenames });
  });
  const page = await (await app.request("https://site.example/account")).text();
  assertStringIncludes(page, '<p class="lead">Only the owner can rename an organization.</p>');
});

Deno.test("dates on pages follow the reader's country from the profile, or before that the browser's English", async () => {
  const app = createPageApp();
  const at = "2026-11-22T09:05:00Z";
  app.get("/login", (c) => {
    const country = c.req.query("country");
    const { format } = country ? livingIn(c, country) : c.get("reader");
    return c.text([format.date(at), format.time(at, "UTC"), format.month("2026-11-01")].join("; "));
  });
  const read = async (path: string, languages?: string) => {
    const headers = languages === undefined ? undefined : { "accept-language": languages };
    const response = await app.request(`https://site.example${path}`, headers && { headers });
    return (await response.text()).replaceAll("\u202f", " ");
  };
  const american = "November 22, 2026; November 22, 2026 at 9:05 AM; November 2026";
  const british = "22 November 2026; 22 November 2026 at 09:05; November 2026";
  const international = "22 November 2026; 22 November 2026 at 9:05 am; November 2026";
  assertEquals(await read("/login", "de-AT,en-US;q=0.9,en-GB;q=0.8"), american);
  assertEquals(await read("/login", "en-GB,en-US;q=0.8"), british);
  assertEquals(await read("/login"), international);
  assertEquals(await read("/login", "en-XX;q=nonsense"), international);
  assertEquals(await read("/login?country=US", "en-GB"), american);
  assertEquals(await read("/login?country=DE", "en-US"), british);
});

Deno.test("the 503 page makes no claim about changes or the signed-in person", async () => {
  const fetch = () => Promise.reject(new TypeError("connection refused"));
  const database = createDatabase({ url: "https://project.supabase.example", key: "key", fetch });
  const app = createPageApp();
  app.get("/email/unsubscribe", async (c) => c.json(await database.call("ping", {})));
  const response = await app.request("https://site.example/email/unsubscribe");
  const page = await response.text();
  assertEquals([response.status, response.headers.get("retry-after")], [503, "5"]);
  assertStringIncludes(page, "We can’t reach our database right now. Try again in a few minutes.");
  assertStringIncludes(page, "If you were saving something, check before trying again.");
  assertNotMatch(page, /signed in|Nothing was changed/i);
});
