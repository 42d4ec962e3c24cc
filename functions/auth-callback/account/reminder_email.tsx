/** @jsxImportSource hono/jsx */
/** The link of the confirmation mail: asks for one press, since mail scanners follow links, and needs no session, since the address may be read elsewhere. */
import { readForm } from "../../../shared/http/form_post.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { Buttons, Name } from "../../../shared/pages/components.tsx";
import { renderProblem } from "../../../shared/pages/error_page.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import type { Handler, PageDeps } from "../page_guards.ts";
import { readConfirmation } from "./reminder_confirmation.ts";

const confirmationOf = (c: AppContext, deps: PageDeps) => readConfirmation(deps, c.req.query("t") ?? "");

export const showReminderEmail = (deps: PageDeps): Handler => async (c) => {
  const asked = await confirmationOf(c, deps);
  if (!asked) return await refuse(c, deps);
  return await renderPage(c, {
    title: "Reminders to this address",
    config: deps.config,
    children: (
      <>
        <h1>Send reminders to this address?</h1>
        <p class="lead">
          Reminders of bills that fall due will come to{" "}
          <strong>
            <Name>{asked.address}</Name>
          </strong>, at most one mail a day.
        </p>
        <form method="post" action={c.req.path + new URL(c.req.url).search}>
          <Buttons>
            <button class="primary" type="submit">Yes, send them here</button>
          </Buttons>
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
  return await renderPage(c, {
    title: "Reminders will come here",
    config: deps.config,
    children: (
      <>
        <h1>Done: reminders will come here</h1>
        <p class="lead">
          The next one goes to{" "}
          <strong>
            <Name>{asked.address}</Name>
          </strong>. You can close this page.
        </p>
        <p>
          <a href="/account">Go to your account</a>
        </p>
      </>
    ),
  });
};

const refuse = (c: AppContext, { config }: PageDeps) =>
  renderProblem(c, {
    config,
    status: 400,
    problem: {
      title: "This link no longer works",
      message: "It is more than seven days old, or another address was chosen since.",
      changed: "Nothing was changed.",
      next: { label: "Go to your account", href: "/account" },
    },
  });
