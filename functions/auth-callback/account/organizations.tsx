/** @jsxImportSource hono/jsx */
/** The organizations of a person with what their plan means today; an owner can rename theirs. */
import type { Child } from "hono/jsx";
import type { Account } from "../../../shared/db/identity_store.ts";
import { offText, planText } from "./plan_text.ts";
import { Name } from "../../../shared/pages/components.tsx";
import { createUrls } from "../../../shared/urls.ts";
import type { PageDeps } from "../page_guards.ts";

export function Organizations({ organizations, token, config }: {
  organizations: Account["organizations"];
  token: Child;
  config: PageDeps["config"];
}) {
  const urls = createUrls(config);
  return (
    <ul class="rows">
      {organizations.map((organization) => (
        <li class="row">
          <div>
            <h3>
              <Name>{organization.name}</Name>
            </h3>
            <p>{planText(organization)}</p>
            {organization.features_off.length > 0 && <p>{offText(organization.features_off)}</p>}
            <HowToChange organization={organization} config={config} />
            <p class="muted small">
              You are {organization.role === "owner" ? "the owner" : "a member"} · totals in{" "}
              {organization.base_currency}
              {config.pricingUrl && organization.role === "owner" && (
                <>
                  {" · "}
                  <a href={urls.plans(organization.id)}>See the plans</a>
                </>
              )}
            </p>
          </div>
          {organization.role === "owner" && (
            <details>
              <summary>Rename</summary>
              <form method="post" action="/account">
                {token}
                <input type="hidden" name="action" value="rename" />
                <input type="hidden" name="organization_id" value={organization.id} />
                <label class="hidden" for={`name-${organization.id}`}>New name</label>
                <input
                  id={`name-${organization.id}`}
                  name="name"
                  type="text"
                  value={organization.name}
                  required
                  maxlength={120}
                  dir="auto"
                />
                <button type="submit">Save the name</button>
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
}

/** How an organization gets back what its plan leaves out, where no page sells plans or somebody else decides. */
function HowToChange({ organization: { role, features_off }, config }: WhoChanges) {
  if (features_off.length === 0 || (role === "owner" && config.pricingUrl)) return null;
  if (role !== "owner") return <p>Its owner can change the plan.</p>;
  return config.supportUrl
    ? (
      <p>
        To change the plan, <a href={config.supportUrl}>write to us</a>.
      </p>
    )
    : <p>Whoever runs this service for you can change the plan.</p>;
}
