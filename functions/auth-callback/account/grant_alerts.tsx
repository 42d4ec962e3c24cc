/** @jsxImportSource hono/jsx */
/** Connections that we ended because a login of theirs was used twice. Shown until the person says that they have seen it. */
import type { Child } from "hono/jsx";
import type { GrantAlert } from "../../../shared/db/identity_store.ts";
import { shownClientName } from "../../../shared/oauth/client_name.ts";
import { DateText, Name, Notice } from "../../../shared/pages/components.tsx";

/** @param token the hidden input that ties the form to the person. */
export function GrantAlerts({ alerts, token }: { alerts: readonly GrantAlert[]; token: Child }) {
  const [newest] = alerts;
  if (!newest) return null;
  return (
    <Notice kind="warning">
      <h2>We disconnected an app to be safe</h2>
      <ul>
        {alerts.map(({ client_name, organization_name, ended_at }) => (
          <li>
            <Name>{shownClientName(client_name)}</Name> in <Name>{organization_name}</Name>, on{" "}
            <DateText at={ended_at} />
          </li>
        ))}
      </ul>
      <p>
        A login of it that had been used already was used once more. Mostly that is a fault of the app; it can also mean
        that somebody copied the login. Nothing can be done with it any more. If you still use the app, connect it
        again; if you do not know it, look at the recent changes in that organization.
      </p>
      <form method="post" action="/account">
        {token}
        <input type="hidden" name="action" value="alerts_seen" />
        <input type="hidden" name="until" value={newest.ended_at} />
        <button type="submit">I have seen this</button>
      </form>
    </Notice>
  );
}
