/** @jsxImportSource hono/jsx */
/** A person's organizations, their plans and their pages; owners can rename theirs. */
import type { Child } from "hono/jsx";
import type { Account } from "../../../shared/db/identity_store.ts";
import { planText } from "./plan_text.ts";
import { DateText, Name, Notice } from "../../../shared/pages/components.tsx";
import { activityPath, booksPath, organizationPath } from "../../../shared/urls.ts";
import type { PageFormat } from "../../../shared/words/page_format.ts";
import type { Words } from "../../../shared/words/words.ts";

interface OrganizationsView {
  organizations: Account["organizations"];
  /** Whether there are plans. */
  isSold: boolean;
  token: Child;
  words: Words["pages"];
  format: PageFormat;
}

export function Organizations(
  { organizations, isSold, token, words: { plan, organization: words, newOrganization, deleteOrganization }, format }:
    OrganizationsView,
) {
  return (
    <>
      {organizations.length === 0 && <p>{newOrganization.first}</p>}
      <ul class="rows">
        {organizations.map((organization) => (
          <li class="row">
            <div>
              <h3>
                <Name>{organization.name}</Name>
              </h3>
              {organization.deletes_at
                ? (
                  <Notice kind="warning">
                    <p>
                      {deleteOrganization.going(<DateText at={organization.deletes_at} format={format} />)}{" "}
                      <a href={organizationPath(organization.id, "delete")}>{deleteOrganization.takeBack}</a>
                    </p>
                  </Notice>
                )
                : (
                  <>
                    {isSold && <p>{planText(organization, { words: plan, format })}</p>}
                    {organization.features_off.length > 0 && <p>{plan.off(organization.features_off)}</p>}
                  </>
                )}
              {organization.proposals_waiting > 0 && (
                <p>
                  <a href={organizationPath(organization.id, "approvals")}>
                    {words.waiting(organization.proposals_waiting)}
                  </a>
                </p>
              )}
              <p class="muted small">{words[organization.role](organization.base_currency)}</p>
            </div>
            <OrganizationLinks organization={organization} isSold={isSold} words={words} />
            {organization.rights.includes("organization:manage") && !organization.deletes_at && (
              <details>
                <summary aria-label={words.renameOf(organization.name)}>{words.rename}</summary>
                <form method="post" action="/account">
                  {token}
                  <input type="hidden" name="action" value="rename" />
                  <input type="hidden" name="organization_id" value={organization.id} />
                  <label class="hidden" for={`name-${organization.id}`}>{words.newName}</label>
                  <input
                    id={`name-${organization.id}`}
                    name="name"
                    type="text"
                    value={organization.name}
                    required
                    maxlength={120}
                    dir="auto"
                  />
                  <button type="submit">{words.saveName}</button>
                </form>
              </details>
            )}
          </li>
        ))}
      </ul>
      <p class="after-rows">
        <a href="/organizations/new">{words.create}</a>
      </p>
    </>
  );
}

interface LinksView {
  organization: Account["organizations"][number];
  isSold: boolean;
  words: Words["pages"]["organization"];
}

/** The pages of an organization, except deletion, which is at the end of the account page. */
function OrganizationLinks({ organization: { id, name, rights, features_off }, isSold, words }: LinksView) {
  const links = [
    ...(isSold ? ["plan" as const] : []),
    "members" as const,
    "activity" as const,
    ...(rights.includes("books:write") ? ["approvals" as const] : []),
    ...(rights.includes("books:export") ? ["export" as const] : []),
  ];
  const isMissed = features_off.length > 0 && rights.includes("plan:manage");
  return (
    <nav class="actions" aria-label={words.pagesOf(name)}>
      <a href={booksPath(id)}>{words.pages.books}</a>
      {links.map((page) => (
        <a href={page === "activity" ? activityPath(id) : organizationPath(id, page)}>
          {page === "plan" && isMissed ? words.choosePlan : words.pages[page]}
        </a>
      ))}
    </nav>
  );
}
