/** @jsxImportSource hono/jsx */
/** The organizations of a person with what their plan means today; an owner can rename theirs. */
import type { Child } from "hono/jsx";
import type { Account } from "../../../shared/db/identity_store.ts";
import { offText, planText } from "../../../shared/identity/plan_text.ts";
import { Name } from "../../../shared/pages/components.tsx";

export function Organizations({ organizations, token, pricingUrl }: {
  organizations: Account["organizations"];
  token: Child;
  pricingUrl: string | undefined;
}) {
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
            <p class="muted small">
              You are {organization.role === "owner" ? "the owner" : "a member"} · totals in{" "}
              {organization.base_currency}
              {pricingUrl && organization.role === "owner" && (
                <>
                  {" · "}
                  <a href={planUrl(pricingUrl, organization.id)}>See the plans</a>
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

/** The payment page puts the organization into the notes of the subscription, by which the first payment finds it. */
export function planUrl(pricingUrl: string, organizationId: string): string {
  const url = new URL(pricingUrl);
  url.searchParams.set("organization_id", organizationId);
  return url.href;
}
