/** @jsxImportSource hono/jsx */
/** A person's organizations, their plans and their pages; owners can rename theirs. */
import type { Child } from "hono/jsx";
import type { Account } from "../../../shared/db/identity_store.ts";
import { planText } from "./plan_text.ts";
import { DateText, Name, Notice } from "../../../shared/pages/components.tsx";
import { booksPath, organizationPath } from "../../../shared/urls.ts";
import type { PageFormat } from "../../../shared/words/page_format.ts";
import type { PageWords } from "../../../shared/words/page_words.ts";

interface OrganizationsView {
  organizations: Account["organizations"];
  /** Whether there are plans. */
  isSold: boolean;
  receivesMail: boolean;
  token: Child;
  words: PageWords;
  format: PageFormat;
}

export function Organizations(
  {
    organizations,
    isSold,
    receivesMail,
    token,
    words: { plan, organization: words, newOrganization, deleteOrganization, inbound },
    format,
  }: OrganizationsView,
) {
  return (
    <>
      {organizations.length === 0 && <p>{newOrganization.first}</p>}
      <ul class="rows">
        {organizations.map((organization) => (
          <li class="row">
            <div>
              <h3>
                <a href={booksPath(organization.id)}>
                  <Name>{organization.name}</Name>
                </a>
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
                    {isSold && organization.features_off.length > 0 && organization.rights.includes("plan:manage") && (
                      <p>
                        <a href={organizationPath(organization.id, "plan")}>{words.choosePlan}</a>
                      </p>
                    )}
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
              {receivesMail && organization.rights.includes("settings:write") && !organization.deletes_at && (
                <p>
                  <a href={organizationPath(organization.id, "mail")}>{inbound.link}</a>
                </p>
              )}
            </div>
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
