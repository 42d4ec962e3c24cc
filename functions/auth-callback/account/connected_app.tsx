/** @jsxImportSource hono/jsx */
/** Pages to limit or disconnect one connected app. Changes take effect on the app's next request. */
import type { Child } from "hono/jsx";
import type { ConnectedApp } from "../../../shared/db/connected_app.ts";
import { AppError } from "../../../shared/errors.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import { Access } from "../../../shared/oauth/access.ts";
import { Name, Notice, RadioList, Submit } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { livingIn } from "../../../shared/pages/reader.ts";
import type { PageWords } from "../../../shared/words/page_words.ts";
import { AppFacts, appName } from "./connected_apps.tsx";
import { tabsIn } from "./tabs_in.ts";
import { type Handler, type PageDeps, signedIn, signedInForm } from "../page_guards.ts";
import { isUuid } from "../page_params.ts";

/** @param fields the form's fields for the app that `?grant=` selects. */
const showForm = <Page extends "access" | "disconnect">(
  deps: PageDeps,
  page: Page,
  fields: (app: ConnectedApp, words: PageWords[Page]) => Child,
): Handler =>
  signedIn(deps, async (c, user) => {
    const { config, store, clock } = deps;
    const account = await store.readAccount({ userId: user.id, at: clock() });
    const app = account?.connected_apps.find(({ grant_id }) => grant_id === c.req.query("grant"));
    if (!account || !app) return c.redirect("/account", 303);
    const formToken = await createFormToken(config, { userId: user.id, at: clock() });
    const { words: { [page]: words, apps }, format } = livingIn(c, account.profile.country);
    const name = <Name>{appName(app)}</Name>;
    return await renderPage(c, {
      title: words.title,
      config,
      user,
      tabs: tabsIn(account, account.organizations.find(({ id }) => id === app.organization_id)),
      children: (
        <>
          <h1>{words.question(name)}</h1>
          <p class="lead">{words.lead(<Name>{app.organization_name}</Name>)}</p>
          <Notice>
            <AppFacts
              app={app}
              heading={<h2>{name}</h2>}
              timezone={account.profile.timezone}
              words={apps}
              format={format}
            />
          </Notice>
          <form class="stack" method="post" action={c.req.path + new URL(c.req.url).search}>
            <input type="hidden" name="form_token" value={formToken} />
            {fields(app, words)}
          </form>
        </>
      ),
    });
  });

/** @throws {AppError} `invalid_request` without an id. */
function grantOf(c: AppContext): string {
  const grantId = c.req.query("grant");
  if (isUuid(grantId)) return grantId;
  throw new AppError("invalid_request", "no grant id", { says: ({ unknownApp }) => unknownApp });
}

export const showDisconnect = (deps: PageDeps): Handler =>
  showForm(
    deps,
    "disconnect",
    (_, words) => <Submit kind="danger" even leave={{ href: "/account", words: words.no }}>{words.yes}</Submit>,
  );

export const postDisconnect = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user }) => {
    // If the grant has ended in the meantime, the app counts as disconnected.
    await deps.store.revokeGrant({ userId: user.id, grantId: grantOf(c), at: deps.clock() });
    return c.redirect("/account?done=disconnected", 303);
  });

export const showAccess = (deps: PageDeps): Handler =>
  showForm(deps, "access", (app, words) => (
    <>
      {!app.role_writes && <Notice kind="warning">{words.viewer}</Notice>}
      <RadioList
        name="access"
        legend={words.legend}
        choices={Access.options.toReversed().map((value) => ({ value, ...words.choices[value] }))}
        selected={app.access}
      />
      <Submit even leave={{ href: "/account", words: words.cancel }}>{words.save}</Submit>
    </>
  ));

export const postAccess = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user, form }) => {
    const access = Access.safeParse(form.get("access"));
    if (!access.success) {
      throw new AppError("invalid_request", "no access", { says: ({ unknownApp }) => unknownApp });
    }
    const changed = await deps.store.changeGrantAccess({
      userId: user.id,
      grantId: grantOf(c),
      access: access.data,
      at: deps.clock(),
    });
    // The app was disconnected in the meantime.
    if (changed.outcome === "unknown_grant") return c.redirect("/account", 303);
    return c.redirect(`/account?done=access_${access.data}`, 303);
  });
