/** @jsxImportSource hono/jsx */
/** Deletes an organization after the owner types its name. The owner can cancel during the grace period. */
import { AppError } from "../../../shared/errors.ts";
import { createFormToken } from "../../../shared/http/form_post.ts";
import type { SignedInUser } from "../../../shared/http/session.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import type { DeletableOrganization, Deletion } from "../../../shared/db/deletion_store.ts";
import { DateText, Name, Notice, Submit, TextField } from "../../../shared/pages/components.tsx";
import { renderPage } from "../../../shared/pages/layout.tsx";
import { pagesFor } from "../../../shared/pages/tabs.tsx";
import { livingIn } from "../../../shared/pages/reader.ts";
import { createUrls } from "../../../shared/urls.ts";
import { pageFormat } from "../../../shared/words/page_format.ts";
import { wordsOf } from "../../../shared/words/words.ts";
import { type Handler, type PageDeps, signedIn, signedInForm } from "../page_guards.ts";
import { tell } from "./tell.ts";

export const showDeleteOrganization = (deps: PageDeps): Handler =>
  signedIn(deps, async (c, user) => {
    const deletion = await deps.deletions.read(user.id);
    const organization = deletion.organizations.find(({ id }) => id === c.req.param("id"));
    // Members see the day of deletion; another organization looks like an unknown one.
    if (!organization || !(organization.may_delete || organization.deletes_at)) return c.redirect("/account", 303);
    return await render(c, deps, { user, deletion, organization });
  });

interface View {
  user: SignedInUser;
  deletion: Deletion;
  organization: DeletableOrganization;
  wrongName?: boolean;
}

async function render(
  c: AppContext,
  { config, clock }: PageDeps,
  { user, deletion, organization, wrongName }: View,
): Promise<Response> {
  const { words: { deleteOrganization: words }, format } = livingIn(c, deletion.country ?? "");
  const token = await createFormToken(config, { userId: user.id, at: clock() });
  const name = <Name>{organization.name}</Name>;
  const { id, writes = false, exports = false } = organization;
  const { organizations, plans } = deletion;
  return await renderPage(c, {
    title: words.title,
    config,
    user,
    ...(plans !== undefined && {
      tabs: {
        id,
        name: organization.name,
        organizations,
        pages: pagesFor({ writes, exports, plans }),
        current: undefined,
      },
    }),
    ...(wrongName && { status: 422 as const }),
    children: organization.deletes_at
      ? (
        <>
          <h1>{words.goingTitle(name)}</h1>
          <Notice kind="warning">
            <p>{words.going(<DateText at={organization.deletes_at} format={format} />)}</p>
          </Notice>
          {organization.may_delete
            ? (
              <form method="post" action={c.req.path}>
                <input type="hidden" name="form_token" value={token} />
                <input type="hidden" name="action" value="keep" />
                <Submit leave={{ href: "/account", words: words.back }}>{words.takeBack}</Submit>
              </form>
            )
            : <p>{words.ownerTakesBack}</p>}
        </>
      )
      : (
        <>
          <h1>{words.question(name)}</h1>
          <p class="lead">{words.lead}</p>
          <ul>
            {words.goes(organization.members).map((line) => <li>{line}</li>)}
          </ul>
          <p>{words.grace}</p>
          {organization.is_paid && (
            <Notice kind="warning">
              <p>{words.cancelFirst}</p>
            </Notice>
          )}
          {organization.members > 0 && (
            <p>
              <a href={`/organizations/${organization.id}/members`}>{words.handOver}</a>
            </p>
          )}
          <form method="post" action={c.req.path}>
            <input type="hidden" name="form_token" value={token} />
            <input type="hidden" name="action" value="delete" />
            <TextField
              name="name"
              label={words.typeName(name)}
              error={wrongName ? words.wrongName : undefined}
              required
              maxlength={120}
              autocomplete="off"
              dir="auto"
            />
            <Submit kind="danger" even leave={{ href: "/account", words: words.no }}>{words.yes}</Submit>
          </form>
        </>
      ),
  });
}

export const postDeleteOrganization = (deps: PageDeps): Handler =>
  signedInForm(deps, async (c, { user, form }) => {
    const asked = { userId: user.id, organizationId: c.req.param("id") ?? "", at: deps.clock() };
    const url = createUrls(deps.config).deleteOrganization(asked.organizationId);
    const mails = wordsOf("en").mails.deletion;
    switch (form.get("action")) {
      case "delete": {
        const answer = await deps.deletions.deleteOrganization({ ...asked, name: form.get("name") ?? "" });
        if (answer.outcome === "forbidden") throw notTheirs();
        if (answer.outcome === "wrong_name") {
          const deletion = await deps.deletions.read(user.id);
          const organization = deletion.organizations.find(({ id }) => id === asked.organizationId);
          if (!organization) throw notTheirs();
          return await render(c, deps, { user, deletion, organization, wrongName: true });
        }
        if (answer.outcome === "scheduled") {
          const on = pageFormat("en-GB").date(answer.deletes_at);
          const said = { organization: answer.name, on, url };
          await tell(c, deps, { people: [user.email], mail: mails.goingAsAsked(said) });
          await tell(c, deps, { people: answer.members, mail: mails.going({ ...said, owner: user.email }) });
        }
        return c.redirect(c.req.path, 303);
      }
      case "keep": {
        const answer = await deps.deletions.keepOrganization(asked);
        if (answer.outcome === "forbidden") throw notTheirs();
        if (answer.outcome === "too_late") {
          throw new AppError("forbidden", "the grace is over", { says: ({ deletionFinal }) => deletionFinal });
        }
        if (answer.outcome === "kept") {
          await tell(c, deps, { people: answer.members, mail: mails.stays({ organization: answer.name }) });
        }
        return c.redirect("/account?done=organization_kept", 303);
      }
      default:
        throw new AppError("invalid_request", "unknown action", { says: ({ unknownChange }) => unknownChange });
    }
  });

const notTheirs = () =>
  new AppError("forbidden", "may not delete it", { says: ({ onlyOwnerDeletes }) => onlyOwnerDeletes });
