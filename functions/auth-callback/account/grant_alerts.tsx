/** @jsxImportSource hono/jsx */
/** Connections that the service ended because a code or token was used twice. Shown until the person dismisses them. */
import type { Child } from "hono/jsx";
import type { GrantAlert } from "../../../shared/db/identity_store.ts";
import { shownClientName } from "../../../shared/oauth/client_name.ts";
import { DateText, Name, Notice } from "../../../shared/pages/components.tsx";
import type { PageFormat } from "../../../shared/words/page_format.ts";
import type { PageWords } from "../../../shared/words/page_words.ts";

interface AlertsView {
  alerts: readonly GrantAlert[];
  /** The hidden input that ties the form to the person. */
  token: Child;
  words: PageWords["alerts"];
  format: PageFormat;
}

export function GrantAlerts({ alerts, token, words, format }: AlertsView) {
  const [newest] = alerts;
  if (!newest) return null;
  return (
    <Notice kind="warning">
      <h2>{words.title}</h2>
      <ul>
        {alerts.map(({ client_name, organization_name, ended_at }) => (
          <li>
            {words.ended(
              <Name>{shownClientName(client_name)}</Name>,
              <Name>{organization_name}</Name>,
              <DateText at={ended_at} format={format} />,
            )}
          </li>
        ))}
      </ul>
      <p>{words.what} {words.why}</p>
      <form method="post" action="/account">
        {token}
        <input type="hidden" name="action" value="alerts_seen" />
        <input type="hidden" name="until" value={newest.ended_at} />
        <button type="submit">{words.seen}</button>
      </form>
    </Notice>
  );
}
