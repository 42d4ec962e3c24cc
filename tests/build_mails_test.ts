/** Checks that the committed sign-in mails, which the platform reads as files, match the catalog. */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { readAuthSettings } from "../local/auth/settings.ts";
import { MAIL_KINDS, signInTemplate } from "../local/auth/sign_in_template.tsx";
import { wordsOf } from "../shared/words/words.ts";
import { accented, plainWords } from "./_support/accented_mails.ts";

const english = wordsOf("en");

Deno.test("the sign-in mails and their subjects match the catalog", async () => {
  const { templates, otpExpirySeconds } = await readAuthSettings();
  for (const kind of MAIL_KINDS) {
    assertEquals(templates[kind].subject, english.mails.signIn[kind].subject);
    assert(templates[kind].html === await signInTemplate(kind, english), "run deno task build");
    assertStringIncludes(templates[kind].html, "Expires in 1 hour.", "the words that name otpExpirySeconds");
  }
  assertEquals(otpExpirySeconds, 3600, "the mails say 1 hour");
});

Deno.test("every word of a sign-in mail comes from the catalog: all are accented in en-XA", async () => {
  for (const kind of MAIL_KINDS) {
    const html = (await signInTemplate(kind, accented(english))).replace("<!doctype html>", "");
    const shown = html.replaceAll(/{{.*?}}/g, "").replaceAll(/<[^>]+>/g, " ");
    assertEquals(plainWords(shown, []), [], kind);
  }
});
