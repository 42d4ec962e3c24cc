/** @jsxImportSource hono/jsx */
/**
 * The page behind the confirmation link. It asks for a click, since mail scanners follow links. It works without a
 * session, since the mail may be read on another device.
 */
import { readForm } from "../../../shared/http/form_post.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { Name, Submit } from "../../../shared/pages/components.tsx";
import { renderProblem } from "../../../shared/pages/error_page.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import type { Handler, PageDeps } from "../page_guards.ts";
import { readConfirmation } from "./reminder_confirmation.ts";

const confirmationOf = (c: AppContext, deps: PageDeps) => readConfirmation(deps, c.req.query("t") ?? "");

export const showReminderEmail = (deps: PageDeps): Handler => async (c) => {
  const asked = await confirmationOf(c, deps);
  if (!asked) return await refuse(c, deps);
  const { reminderEmail: words } = c.get("reader").words;
  return await renderPage(c, {
    title: words.title,
    config: deps.config,
    children: (
      <>
        <h1>{words.question}</h1>
        <p class="lead">{words.lead(<Name>{asked.address}</Name>)}</p>
        <form method="post" action={c.req.path + new URL(c.req.url).search}>
          <Submit>{words.yes}</Submit>
        </form>
      </>
    ),
  });
};

export const postReminderEmail = (deps: PageDeps): Handler => async (c) => {
  await readForm(c, deps.config);
  const asked = await confirmationOf(c, deps);
  if (!asked) return await refuse(c, deps);
  const { outcome } = await deps.store.confirmReminderEmail({
    userId: asked.userId,
    reminderEmail: asked.address,
    at: deps.clock(),
  });
  if (outcome === "stale") return await refuse(c, deps);
  const { reminderEmail: words, frame } = c.get("reader").words;
  return await renderPage(c, {
    title: words.doneTitle,
    config: deps.config,
    children: (
      <>
        <h1>{words.done}</h1>
        <p class="lead">{words.doneLead(<Name>{asked.address}</Name>)}</p>
        <p>
          <a href="/account">{frame.goToAccount}</a>
        </p>
      </>
    ),
  });
};

function refuse(c: AppContext, { config }: PageDeps) {
  const { reminderEmail: words, problems, frame } = c.get("reader").words;
  const problem = {
    title: words.stale,
    message: words.staleMessage,
    changed: problems.unchanged,
    next: { label: frame.goToAccount, href: "/account" },
  };
  return renderProblem(c, { config, status: 400, problem });
}
