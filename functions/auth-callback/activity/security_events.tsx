/** @jsxImportSource hono/jsx */
/** Events of accounts, members, apps and the plan. */
import type { ActivityPage, EventDetail, SecurityEvent } from "../../../shared/db/activity_store.ts";
import { shownClientName } from "../../../shared/oauth/client_name.ts";
import { Name, Row, TimeText } from "../../../shared/pages/components.tsx";
import { proposalPath } from "../../../shared/urls.ts";
import type { Reader } from "../../../shared/words/reader.ts";

/** App names are untrusted text. */
const named = ({ client_name: name, ...detail }: EventDetail): EventDetail => ({
  ...detail,
  ...(name && { client_name: shownClientName(name) }),
});

export function SecurityEvents({ events, page: { timezone }, reader: { words: { activity: words }, format } }: {
  events: SecurityEvent[];
  page: Pick<ActivityPage, "timezone">;
  reader: Reader;
}) {
  return (
    <section>
      <h2>{words.events}</h2>
      {events.length === 0 && <p>{words.noEvents}</p>}
      <ul class="rows">
        {events.map(({ at, event, by, detail }) => (
          <Row>
            <h3>
              {detail.proposal_id
                ? <a href={proposalPath(detail.proposal_id)}>{words.event(event, named(detail))}</a>
                : words.event(event, named(detail))}
            </h3>
            <p class="muted small">
              {by !== null && (
                <>
                  <Name>{by}</Name> ·{" "}
                </>
              )}
              <TimeText at={at} timezone={timezone} format={format} />
            </p>
          </Row>
        ))}
      </ul>
    </section>
  );
}
