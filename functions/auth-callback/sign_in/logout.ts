/** Ends the session of this browser. */
import { readVisitorForm } from "../../../shared/http/form_post.ts";
import { signOut } from "../../../shared/http/session.ts";
import { safeNextPath, withNext } from "../../../shared/next_path.ts";
import type { Handler, OpenPageDeps } from "../page_guards.ts";

/** Keeps `next` for "not you?", which signs in another person. */
export const postLogout = (deps: OpenPageDeps): Handler => async (c) => {
  const form = await readVisitorForm(c, deps.config);
  await signOut(c, deps);
  const next = safeNextPath(form.get("next"));
  return c.redirect(next ? withNext("/login", next) : "/", 303);
};
