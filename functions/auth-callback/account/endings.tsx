/** @jsxImportSource hono/jsx */
/** The last section of the account page: deleting the account or an organization. */
import type { Account } from "../../../shared/db/identity_store.ts";
import { Name } from "../../../shared/pages/components.tsx";
import { organizationPath } from "../../../shared/urls.ts";
import type { PageWords } from "../../../shared/words/page_words.ts";

interface EndingsView {
  organizations: Account["organizations"];
  words: PageWords["endings"];
}

export function Endings({ organizations, words }: EndingsView) {
  const own = organizations.filter(({ rights }) => rights.includes("organization:manage"));
  return (
    <ul class="bare">
      {own.map(({ id, name }) => (
        <li>
          <a class="danger" href={organizationPath(id, "delete")}>{words.organization(<Name>{name}</Name>)}</a>
        </li>
      ))}
      <li>
        <a class="danger" href="/account/delete">{words.account}</a>
      </li>
    </ul>
  );
}
