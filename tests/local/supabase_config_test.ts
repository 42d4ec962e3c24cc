/** `supabase/config.toml` and its mail templates: the platform's exposed schemas, and the embedded stack's mails. */
import { assertEquals, assertMatch, assertThrows } from "@std/assert";
import { parse } from "smol-toml";
import { renderMail } from "../../local/auth/mail_template.ts";
import { readAuthSettings } from "../../local/auth/settings.ts";

const ROOT = new URL("../../", import.meta.url);
const config = parse(await Deno.readTextFile(new URL("supabase/config.toml", ROOT))) as Record<
  string,
  Record<string, unknown>
>;

Deno.test("only schema public is exposed", () => assertEquals(config.api!.schemas, ["public"]));

Deno.test("signing in by mail is on, without auth.email.enable_signup, which v4 of the CLI drops", () => {
  const { enabled, enable_signup } = config.auth!.email as Record<string, unknown>;
  assertEquals([enabled, enable_signup], [true, undefined]);
});

Deno.test("an address change also needs confirmation from the old address", async () => {
  assertEquals((config.auth!.email as Record<string, unknown>).double_confirm_changes, true);
  assertMatch(
    await Deno.readTextFile(new URL("SECURITY.md", ROOT)),
    /`double_confirm_changes` in\s+`supabase\/config.toml`/,
  );
});

Deno.test("each sign-in mail contains one link, to our own page, and the digits", async () => {
  const { templates } = await readAuthSettings();
  const values = {
    SiteURL: "https://expenses.example.com",
    RedirectTo: "https://expenses.example.com/auth/callback?next=%2Faccount%3Fa%3D1&sb_flow_id=f",
    TokenHash: "pkce_abc",
    Token: "012345",
    Email: `"<b>"@example.com`,
  };
  for (const template of [templates.magic_link, templates.confirmation]) {
    const { html, text } = renderMail(template, values);
    assertEquals(text.match(/https:.*/g), [`${values.RedirectTo}&token_hash=pkce_abc&type=email`]);
    assertMatch(text, /"<b>"@example\.com.*: 012345\n/s);
    const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href!.replaceAll("&amp;", "&"));
    assertEquals(links, [`${values.RedirectTo}&token_hash=pkce_abc&type=email`]);
    assertMatch(html, />012345</);
    assertMatch(html, /&#34;&lt;b&gt;&#34;@example\.com/);

    // The identity provider's replacement for a forbidden redirect.
    const fallback = renderMail(template, { ...values, RedirectTo: values.SiteURL });
    assertMatch(
      fallback.html,
      /href="https:\/\/expenses\.example\.com\/auth\/callback\?token_hash=pkce_abc&amp;type=email"/,
    );
  }
});

Deno.test("the mail about a new address contains one link, to the page that confirms it, and names both addresses", async () => {
  const { templates: { email_change: template } } = await readAuthSettings();
  const values = {
    SiteURL: "https://expenses.example.com",
    RedirectTo: "https://expenses.example.com/account/email/confirm?for=signed",
    TokenHash: "pkce_abc",
    Token: "012345",
    Email: "old@example.com",
    NewEmail: "new@example.com",
  };
  const { html } = renderMail(template, values);
  const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href!.replaceAll("&amp;", "&"));
  assertEquals(links, [`${values.RedirectTo}&token_hash=pkce_abc&type=email_change`]);
  assertMatch(html, /old@example\.com.*new@example\.com/);
  const fallback = renderMail(template, { ...values, RedirectTo: values.SiteURL });
  assertMatch(fallback.html, /example\.com\/account\/email\/confirm\?token_hash=pkce_abc&amp;type=email_change"/);
});

Deno.test("renderMail() refuses unknown template syntax instead of mailing it", () => {
  const values = { SiteURL: "s", RedirectTo: "r", TokenHash: "h", Token: "t", Email: "e" };
  const render = (html: string) => renderMail({ subject: "", html, text: "" }, values).html;
  assertEquals(render("{{ if eq .SiteURL .RedirectTo }}same{{ else }}{{ .Token }}{{ end }}"), "t");
  for (const unknown of ["{{ .Data }}", "{{ range .Items }}", "{{.Token}}", "{{ if .Email }}x{{ end }}"]) {
    assertThrows(() => render(unknown), Error, "is not supported");
  }
});
