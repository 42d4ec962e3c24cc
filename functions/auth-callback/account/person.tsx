/** @jsxImportSource hono/jsx */
/** Who is signed in, and where they live. */
import type { Child } from "hono/jsx";
import type { Account } from "../../../shared/db/identity_store.ts";
import { COUNTRIES } from "../profile/country.ts";
import { Name } from "../../../shared/pages/components.tsx";

export function Person({ email, profile, token }: { email: string; profile: Account["profile"]; token: Child }) {
  return (
    <ul class="rows">
      <li class="row">
        <div>
          <p class="muted">
            Signed in as <Name>{email}</Name>
          </p>
          <p class="muted small">{COUNTRIES.find(({ code }) => code === profile.country)?.name ?? profile.country}</p>
        </div>
        <details>
          <summary>Change country</summary>
          <form method="post" action="/account">
            {token}
            <input type="hidden" name="action" value="country" />
            <label class="hidden" for="country">Country</label>
            <select id="country" name="country" autocomplete="country">
              {COUNTRIES.map(({ code, name }) => (
                <option value={code} selected={code === profile.country}>{name}</option>
              ))}
            </select>
            <button type="submit">Save the country</button>
          </form>
        </details>
      </li>
    </ul>
  );
}
