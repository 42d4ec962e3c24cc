/** @jsxImportSource hono/jsx */
/** A person's organizations and plans; owners can rename theirs. */
import type { Child } from "hono/jsx";
import type { Account } from "../../../shared/db/identity_store.ts";
import { planText } from "./plan_text.ts";
import { DateText, Name, Notice } from "../../../shared/pages/components.tsx";
import { createUrls } from "../../../shared/urls.ts";
import type { PageFormat } from "../../../shared/words/page_format.ts";
import type { Words } from "../../../shared/words/words.ts";
import type { PageDeps } from "../page_guards.ts";

interface OrganizationsView {
  organizations: Account["organizations"];
  token: Child;
  config: PageDeps["config"];
  words: Words["pages"];
  format: PageFormat;
}

export function Organizations(
  { organizations, token, config, words: { plan, organization: words, deleteOrganization: deletion }, format }:
    OrganizationsView,
) {
  const urls = createUrls(config);
  return (
    <ul class="rows">
      {organizations.map((organization) => (
        <li class="row">
          <div>
            <h3>
              <Name>{organization.name}</Name>
            </h3>
            <p>{planText(organization, { words: plan, format })}</p>
            {organization.deletes_at
              ? (
                <Notice kind="warning">
                  <p>{deletion.going(<DateText at={organization.deletes_at} format={format} />)}</p>
                </Notice>
              )
              : (
                <>
                  {organization.features_off.length > 0 && <p>{plan.off(organization.features_off)}</p>}
                  <HowToChange organization={organization} config={config} words={words} />
                </>
              )}
            <p class="muted small">
              {words[organization.role](organization.base_currency)}
              {config.pricingUrl && organization.role === "owner" && (
                <>
                  {" · "}
                  <a href={urls.plans(organization.id)}>{words.seePlans}</a>
                </>
              )}
              {organization.role === "owner" && (
                <>
                  {" · "}
                  <a href={`/organizations/${organization.id}/delete`}>
                    {organization.deletes_at ? deletion.takeBack : deletion.link}
                  </a>
                </>
              )}
            </p>
          </div>
          {organization.role === "owner" && (
            <details>
              <summary>{words.rename}</summary>
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
  );
}

interface WhoChanges {
  organization: Account["organizations"][number];
  config: PageDeps["config"];
  words: Words["pages"]["organization"];
}

/** How to upgrade when there is no plans page, or when somebody else decides. */
function HowToChange({ organization: { role, features_off }, config, words }: WhoChanges) {
  if (features_off.length === 0 || (role === "owner" && config.pricingUrl)) return null;
  if (role !== "owner") return <p>{words.ownerChangesPlan}</p>;
  return config.supportUrl
    ? <p>{words.toChangePlan((text) => <a href={config.supportUrl}>{text}</a>)}</p>
    : <p>{words.operatorChangesPlan}</p>;
}
