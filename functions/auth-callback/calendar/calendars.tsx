/** @jsxImportSource hono/jsx */
/** The calendar of each organization on the account page. */
import type { Child } from "hono/jsx";
import type { Account, AccountOrganization } from "../../../shared/db/identity_store.ts";
import { DateText, Name, Row } from "../../../shared/pages/components.tsx";
import type { PageFormat } from "../../../shared/words/page_format.ts";
import type { PageWords } from "../../../shared/words/page_words.ts";

/** The values of the form's field `action`. */
export type CalendarAction = "create" | "show_amounts" | "hide_amounts" | "end";

interface CalendarsView {
  organizations: Account["organizations"];
  /** The hidden input that ties a form to the person. */
  token: Child;
  words: PageWords["calendars"];
  format: PageFormat;
}

export function Calendars({ organizations, token, words, format }: CalendarsView) {
  return (
    <>
      <p>{words.lead}</p>
      <ul class="rows">
        {organizations.map((organization) => (
          <Row action={<Actions organization={organization} token={token} words={words} />}>
            <h3>
              <Name>{organization.name}</Name>
            </h3>
            <State organization={organization} words={words} format={format} />
          </Row>
        ))}
      </ul>
    </>
  );
}

const mayRead = ({ features_off }: AccountOrganization) => !features_off.includes("ai:connector");

function State({ organization, words, format }: Omit<CalendarsView, "organizations" | "token"> & OfOne) {
  const { calendar } = organization;
  return (
    <>
      {!mayRead(organization) && <p>{calendar ? words.stopped : words.notInPlan}</p>}
      {calendar
        ? (
          <p class="muted small">
            {words.since(<DateText at={calendar.created_at} format={format} />)}
            {" · "}
            {calendar.show_amounts ? words.withAmounts : words.withoutAmounts}
          </p>
        )
        : mayRead(organization) && <p class="muted small">{words.noAddress}</p>}
    </>
  );
}

interface OfOne {
  organization: AccountOrganization;
}

function Actions({ organization, token, words }: Omit<CalendarsView, "organizations" | "format"> & OfOne) {
  const { id, name, calendar } = organization;
  const button = (action: CalendarAction, label: string) => (
    <form method="post" action="/account/calendar">
      {token}
      <input type="hidden" name="action" value={action} />
      <input type="hidden" name="organization_id" value={id} />
      <button class={action === "end" ? "link danger" : "link"} type="submit" aria-label={words.labelOf(label, name)}>
        {label}
      </button>
    </form>
  );
  if (!calendar) return mayRead(organization) ? button("create", words.create) : null;
  return (
    <div class="actions">
      {calendar.show_amounts ? button("hide_amounts", words.hideAmounts) : button("show_amounts", words.showAmounts)}
      {button("end", words.end)}
    </div>
  );
}
