/** @jsxImportSource hono/jsx */
/** Removes a bill's provider connection, including the credential, after a confirmation. */
import { AppError } from "../../../../shared/errors.ts";
import { createFormToken } from "../../../../shared/http/form_post.ts";
import { Name, Submit } from "../../../../shared/pages/components.tsx";
import { renderPage } from "../../../../shared/pages/layout.tsx";
import { type Handler, type PageDeps, signedIn, signedInForm } from "../../page_guards.ts";
import { tabsIn } from "../tabs_in.ts";
import { removePath } from "./addresses.ts";
import { changeLink } from "./change_link.ts";
import { providerName } from "./provider_name.ts";

/** `?link=` selects it. */
export const showRemove = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const { config, store, clock, providers } = deps;
    const account = await store.readAccount({ userId: user.id, at: clock() });
    const link = account?.provider_links.find(({ id }) => id === c.req.query("link"));
    if (!account || !link || link.role !== "owner") return c.redirect("/account", 303);
    const formToken = await createFormToken(config, { userId: user.id, at: clock() });
    const { removeProvider: words } = c.get("reader").words;
    return await renderPage(c, {
      title: words.title,
      config,
      user,
      tabs: tabsIn(account, account.organizations.find(({ id }) => id === link.organization_id)),
      children: (
        <>
          <h1>{words.question(providerName(providers, link.provider_key), <Name>{link.bill}</Name>)}</h1>
          <p class="lead">{words.lead(<Name>{link.account_label}</Name>)}</p>
          <form method="post" action={removePath(link.id)}>
            <input type="hidden" name="form_token" value={formToken} />
            <Submit kind="danger" even leave={{ href: "/account", words: words.no }}>{words.yes}</Submit>
          </form>
        </>
      ),
    });
  });

export const postRemove = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user }) => {
    const linkId = c.req.query("link");
    if (!linkId) {
      throw new AppError("invalid_request", "no link id", { says: ({ unknownConnection }) => unknownConnection });
    }
    await changeLink(deps, { user, linkId, action: "remove" });
    return c.redirect("/account?done=link_removed", 303);
  });
