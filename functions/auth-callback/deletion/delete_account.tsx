/** @jsxImportSource hono/jsx */
/**
 * Deletes a person's account after they type their address. Signing in during the grace period cancels the deletion.
 */
import type { Deletion } from "../../../shared/db/deletion_store.ts";
import { AppError } from "../../../shared/errors.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import { type SignedInUser, signOutEverywhere } from "../../../shared/http/session.ts";
import { Buttons, DateText, Name, Notice, Submit, TextField } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { livingIn } from "../../../shared/pages/reader.ts";
import { type Handler, type PageDeps, signedIn, signedInForm } from "../page_guards.ts";

export const showDeleteAccount = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => await render(c, deps, { user, deletion: await deps.deletions.read(user.id) }));

interface View {
  user: SignedInUser;
  deletion: Deletion;
  wrongAddress?: boolean;
}

async function render(
  c: AppContext,
  { config, clock }: PageDeps,
  { user, deletion, wrongAddress }: View,
): Promise<Response> {
  const { words: { deleteAccount: words }, format } = livingIn(c, deletion.country ?? "");
  const token = await createFormToken(config, { userId: user.id, at: clock() });
  const owned = deletion.organizations.filter(({ is_owner, deletes_at }) => is_owner && !deletes_at);
  const left = deletion.organizations.filter(({ is_owner }) => !is_owner);
  const form = (action: string) => (
    <>
      <input type="hidden" name="form_token" value={token} />
      <input type="hidden" name="action" value={action} />
    </>
  );
  const body = () => {
    if (deletion.deletes_at) {
      return (
        <>
          <h1>{words.goingTitle}</h1>
          <Notice kind="warning">
            <p>{words.going(<DateText at={deletion.deletes_at} format={format} />)}</p>
          </Notice>
          {deletion.organizations.length > 0 && (
            <>
              <p>{words.stillDownload}</p>
              <ul>
                {deletion.organizations.map(({ id, name }) => (
                  <li>
                    <a href={`/organizations/${id}/export`}>
                      <Name>{name}</Name>
                    </a>
                  </li>
                ))}
              </ul>
            </>
          )}
          <form method="post" action={c.req.path}>
            {form("keep")}
            <Submit>{words.takeBack}</Submit>
          </form>
        </>
      );
    }
    if (owned.length > 0) {
      return (
        <>
          <h1>{words.title}</h1>
          <p class="lead">{words.ownsFirst}</p>
          <ul class="rows">
            {owned.map(({ id, name, members }) => (
              <li class="row">
                <div>
                  <h2>
                    <Name>{name}</Name>
                  </h2>
                </div>
                <div class="press">
                  {members > 0 && <a class="button" href={`/organizations/${id}/members`}>{words.handOver}</a>}
                  <a class="button danger" href={`/organizations/${id}/delete`}>{words.deleteIt}</a>
                </div>
              </li>
            ))}
          </ul>
          <Buttons>
            <a class="button" href="/account">{words.no}</a>
          </Buttons>
        </>
      );
    }
    return (
      <>
        <h1>{words.question}</h1>
        <p class="lead">{words.lead}</p>
        {left.length > 0 && (
          <>
            <p>{words.leaves}</p>
            <ul>
              {left.map(({ name }) => (
                <li>
                  <Name>{name}</Name>
                </li>
              ))}
            </ul>
          </>
        )}
        <p>{words.grace}</p>
        <form method="post" action={c.req.path}>
          {form("delete")}
          <TextField
            name="address"
            label={words.typeAddress(<Name>{user.email}</Name>)}
            error={wrongAddress ? words.wrongAddress : undefined}
            required
            maxlength={320}
            autocomplete="off"
            inputmode="email"
          />
          <Submit kind="danger" even leave={{ href: "/account", words: words.no }}>{words.yes}</Submit>
        </form>
      </>
    );
  };
  return await renderPage(c, {
    title: words.title,
    config,
    user,
    ...(wrongAddress && { status: 422 as const }),
    children: body(),
  });
}

export const postDeleteAccount = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user, form }) => {
    const at = deps.clock();
    switch (form.get("action")) {
      case "delete": {
        const typed = (form.get("address") ?? "").trim().toLowerCase();
        if (typed !== user.email.toLowerCase()) {
          return await render(c, deps, { user, deletion: await deps.deletions.read(user.id), wrongAddress: true });
        }
        const answer = await deps.deletions.deleteAccount({ userId: user.id, email: user.email, at });
        // The person received an organization by hand-over in the meantime; the page names it.
        if (answer.outcome !== "scheduled") return c.redirect("/account/delete", 303);
        await signOutEverywhere(c, deps);
        const { words: { deleteAccount: words }, format } = c.get("reader");
        return await renderPage(c, {
          title: words.title,
          config: deps.config,
          children: (
            <>
              <h1>{words.doneTitle}</h1>
              <p class="lead">{words.done(<DateText at={answer.deletes_at} format={format} />)}</p>
            </>
          ),
        });
      }
      case "keep":
        await deps.deletions.keepAccount({ userId: user.id, at });
        return c.redirect("/account", 303);
      default:
        throw new AppError("invalid_request", "unknown action", { says: ({ unknownChange }) => unknownChange });
    }
  });
