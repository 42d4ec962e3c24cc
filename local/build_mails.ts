/**
 * `deno task build`: writes the templates of the sign-in mails, which the platform reads as files. A test
 * rebuilds and compares them.
 */
import { wordsOf } from "../shared/words/words.ts";
import { MAIL_KINDS, signInTemplate } from "./auth/sign_in_template.tsx";

const TEMPLATES = new URL("../supabase/templates/", import.meta.url);

if (import.meta.main) {
  for (const kind of MAIL_KINDS) {
    await Deno.writeTextFile(new URL(`${kind}.html`, TEMPLATES), await signInTemplate(kind, wordsOf("en")));
  }
}
