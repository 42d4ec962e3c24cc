/** @jsxImportSource hono/jsx */
/** Disconnects an app after a confirmation; takes effect on the app's next request. */
import { AppError } from "../../../shared/errors.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import { Buttons, Name, Notice } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { livingIn } from "../../../shared/pages/reader.ts";
import { AppFacts, appName } from "./connected_apps.tsx";
import { type Handler, type PageDeps, signedIn, signedInForm } from "../page_guards.ts";
import { isUuid } from "../page_params.ts";

/** `?grant=` selects it. */
export const showDisconnect = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const { config, store, clock } = deps;
    const account = await store.readAccount({ userId: user.id, at: clock() });
    const app = account?.connected_apps.find(({ grant_id }) => grant_id === c.req.query("grant"));
    if (!app) return c.redirect("/account", 303);
    const formToken = await createFormToken(config, { userId: user.id, at: clock() });
    const { words: { disconnect: words, apps }, format } = livingIn(c, account!.profile.country);
    return await renderPage(c, {
      title: words.title,
      config,
      user,
      children: (
        <>
          <h1>{words.question(<Name>{appName(app)}</Name>)}</h1>
          <p class="lead">{words.lead(<Name>{app.organization_name}</Name>)}</p>
          <Notice>
            <AppFacts
              app={app}
              heading={
                <h2>
                  <Name>{appName(app)}</Name>
                </h2>
              }
              timezone={account!.profile.timezone}
              words={apps}
              format={format}
            />
          </Notice>
          <form method="post" action={c.req.path + new URL(c.req.url).search}>
            <input type="hidden" name="form_token" value={formToken} />
            <Buttons even>
              <button class="danger" type="submit">{words.yes}</button>
              <a class="button" href="/account">{words.no}</a>
            </Buttons>
          </form>
        </>
      ),
    });
  });

export const postDisconnect = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user }) => {
    const grantId = c.req.query("grant") ?? "";
    if (!isUuid(grantId)) {
      throw new AppError("invalid_request", "no grant id", { says: ({ unknownApp }) => unknownApp });
    }
    // A grant that has ended meanwhile counts as disconnected.
    await deps.store.revokeGrant({ userId: user.id, grantId, at: deps.clock() });
    return c.redirect("/account?done=disconnected", 303);
  });
