/** @jsxImportSource hono/jsx */
/** The signed-in person: sign-in address, country, and other browsers. */
import type { Child } from "hono/jsx";
import type { Account } from "../../../shared/db/identity_store.ts";
import { countriesByName } from "../profile/country.ts";
import { Name } from "../../../shared/pages/components.tsx";
import type { PageFormat } from "../../../shared/words/page_format.ts";
import type { PageWords } from "../../../shared/words/page_words.ts";

interface PersonView {
  email: string;
  profile: Account["profile"];
  /** The hidden input that ties a form to the person. */
  token: Child;
  words: PageWords["person"];
  format: PageFormat;
}

export function Person({ email, profile, token, words, format }: PersonView) {
  return (
    <ul class="rows">
      <li class="row">
        <div>
          <h3>{words.address}</h3>
          <p>
            <Name>{email}</Name>
          </p>
        </div>
        <div>
          <a href="/account/email">{words.changeAddress}</a>
        </div>
      </li>
      <li class="row">
        <div>
          <h3>{words.country}</h3>
          <p>{format.country(profile.country)}</p>
          <p class="muted small">{words.countryReason}</p>
        </div>
        <details>
          <summary>{words.changeCountry}</summary>
          <form method="post" action="/account">
            {token}
            <input type="hidden" name="action" value="country" />
            <label class="hidden" for="country">{words.country}</label>
            <select id="country" name="country" autocomplete="country">
              {countriesByName(format).map(({ code, name }) => (
                <option value={code} selected={code === profile.country}>{name}</option>
              ))}
            </select>
            <button type="submit">{words.saveCountry}</button>
          </form>
        </details>
      </li>
      <li class="row">
        <div>
          <h3>{words.elsewhere}</h3>
          <p class="muted small">{words.elsewhereReason}</p>
        </div>
        <form method="post" action="/account">
          {token}
          <input type="hidden" name="action" value="sign_out_elsewhere" />
          <button class="link" type="submit">{words.signOutElsewhere}</button>
        </form>
      </li>
    </ul>
  );
}
