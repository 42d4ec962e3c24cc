/** @jsxImportSource hono/jsx */
/** Lets an app read, or read and write; takes effect on the app's next request. */
import { AppError } from "../../../shared/errors.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import { Access } from "../../../shared/oauth/access.ts";
import { Buttons, Name, Notice, RadioList } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { livingIn } from "../../../shared/pages/reader.ts";
import { AppFacts, appName } from "./connected_apps.tsx";
import { type Handler, type PageDeps, signedIn, signedInForm } from "../page_guards.ts";
import { isUuid } from "../page_params.ts";

/** `?grant=` selects it. */
export const showAccess = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const { config, store, clock } = deps;
    const account = await store.readAccount({ userId: user.id, at: clock() });
    const app = account?.connected_apps.find(({ grant_id }) => grant_id === c.req.query("grant"));
    if (!app) return c.redirect("/account", 303);
    const formToken = await createFormToken(config, { userId: user.id, at: clock() });
    const { words: { access: words, apps }, format } = livingIn(c, account!.profile.country);
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
          <form class="stack" method="post" action={c.req.path + new URL(c.req.url).search}>
            <input type="hidden" name="form_token" value={formToken} />
            {!app.role_writes && <Notice kind="warning">{words.viewer}</Notice>}
            <RadioList
              name="access"
              legend={words.legend}
              choices={Access.options.toReversed().map((value) => ({ value, ...words.choices[value] }))}
              selected={app.access}
            />
            <Buttons even>
              <button class="primary" type="submit">{words.save}</button>
              <a class="button" href="/account">{words.cancel}</a>
            </Buttons>
          </form>
        </>
      ),
    });
  });

export const postAccess = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user, form }) => {
    const grantId = c.req.query("grant") ?? "";
    const access = Access.safeParse(form.get("access"));
    if (!isUuid(grantId) || !access.success) {
      throw new AppError("invalid_request", "no grant id or access", { says: ({ unknownApp }) => unknownApp });
    }
    const changed = await deps.store.changeGrantAccess({
      userId: user.id,
      grantId,
      access: access.data,
      at: deps.clock(),
    });
    // It was disconnected meanwhile.
    if (changed.outcome === "unknown_grant") return c.redirect("/account", 303);
    return c.redirect(`/account?done=access_${access.data}`, 303);
  });
