/** @jsxImportSource hono/jsx */
/** The person's choice of mails for each organization. Members choose; owners can resubscribe. */
import type { Child } from "hono/jsx";
import type { Account } from "../../../shared/db/identity_store.ts";
import { Name } from "../../../shared/pages/components.tsx";
import type { PageWords } from "../../../shared/words/page_words.ts";

type MailWords = PageWords["reminders"]["mails"];
type Organization = Account["organizations"][number];

interface MailsView {
  organizations: Organization[];
  token: Child;
  words: PageWords["reminders"];
}

export function OrganizationMails({ organizations, token, words: { mails: words } }: MailsView) {
  // Owners get every mail, so the choice appears only after they unsubscribe.
  const shown = organizations.filter(({ role, mails }) => role === "member" || mails === "none");
  if (shown.length === 0) return null;
  return (
    <ul class="rows">
      {shown.map((organization) => (
        <li class="row">
          <p>{text(organization, words)}</p>
          <form method="post" action="/account" class="press">
            {token}
            <input type="hidden" name="action" value="mails" />
            <input type="hidden" name="organization_id" value={organization.id} />
            {organization.role === "owner"
              ? <input type="hidden" name="mails" value="mine" />
              : <Choice organization={organization} words={words} />}
            <button type="submit">{organization.role === "owner" ? words.resume : words.save}</button>
          </form>
        </li>
      ))}
    </ul>
  );
}

const text = ({ role, name }: Organization, words: MailWords) =>
  role === "owner" ? words.ended(<Name>{name}</Name>) : words.about(<Name>{name}</Name>);

function Choice({ organization: { id, mails: chosen }, words }: { organization: Organization; words: MailWords }) {
  return (
    <>
      <label class="hidden" for={`mails-${id}`}>{words.choose}</label>
      <select id={`mails-${id}`} name="mails">
        {(["mine", "all", "none"] as const).map((mails) => (
          <option value={mails} selected={mails === chosen}>{words.choices[mails]}</option>
        ))}
      </select>
    </>
  );
}
