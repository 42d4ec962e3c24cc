/** @jsxImportSource hono/jsx */
/** The URLs that receive an app's events, with buttons to stop and to allow them. */
import type { Child } from "hono/jsx";
import type { ConnectedApp } from "../../../shared/db/connected_app.ts";
import { DateText } from "../../../shared/pages/components.tsx";
import type { PageFormat } from "../../../shared/words/page_format.ts";
import type { PageWords } from "../../../shared/words/page_words.ts";
import type { Words } from "../../../shared/words/words.ts";

interface SubscriptionsView {
  app: ConnectedApp;
  appName: string;
  /** The hidden input that ties the form to the person. */
  token: Child;
  words: PageWords["apps"];
  /** Titles by event. */
  events: Words["events"];
  format: PageFormat;
}

export function Subscriptions({ app, appName, token, words, events, format }: SubscriptionsView) {
  if (app.may_subscribe && app.subscriptions.length === 0) return null;
  const change = app.may_subscribe
    ? { action: "stop_events", label: words.stopEvents, ofApp: words.stopEventsTo(appName) }
    : { action: "allow_events", label: words.allowEvents, ofApp: words.allowEventsTo(appName) };
  return (
    <>
      {hostsOf(app).map(([host, sent]) => (
        <p class="muted small">
          {words.sent(
            [...new Set(sent.map(({ name }) => events[name as keyof typeof events]?.title ?? name))].join(", "),
            host,
            <DateText at={sent.map(({ expires_at }) => expires_at).toSorted().at(-1)!} format={format} />,
          )}
        </p>
      ))}
      {!app.may_subscribe && <p class="muted small">{words.stopped}</p>}
      <form method="post" action="/account">
        {token}
        <input type="hidden" name="action" value={change.action} />
        <input type="hidden" name="grant_id" value={app.grant_id} />
        <button class="link" type="submit" aria-label={change.ofApp}>{change.label}</button>
      </form>
    </>
  );
}

/** Hides the path, because a webhook's path can contain a secret. */
const hostsOf = ({ subscriptions }: ConnectedApp) => [...Map.groupBy(subscriptions, ({ url }) => new URL(url).host)];
