/** Handles the methods of the events extension. Loads at the first call, because most clients don't use events. */
import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { createEventStore } from "../../../shared/db/event_store.ts";
import { sealCredential } from "../../../shared/credentials/envelope.ts";
import { cursorOf, occurrenceOf, placeOf } from "../../../shared/events/occurrence.ts";
import { keyOf } from "../../../shared/webhooks/standard.ts";
import type { EventCall, EventDeps, EventParams } from "./call.ts";
import { isEventName, listEvents } from "./catalog.ts";
import { challenge } from "./challenge.ts";

/** How often a client should poll: the jobs that cause most events run every quarter of an hour. */
const NEXT_POLL_MS = 300_000;
const MOST_EVENTS = 50;
const HOUR_MS = 3_600_000;
/** A subscription's lifetime unless the app renews it. */
const LIFETIME_MS = { least: HOUR_MS, usual: 24 * HOUR_MS, most: 7 * 24 * HOUR_MS };
const LONGEST_URL = 2048;

const NOT_FOUND = -32011;
const FORBIDDEN = -32012;
const RESOURCE_EXHAUSTED = -32013;
const UNSUPPORTED = -32014;
const CALLBACK_FAILED = -32015;

export function createEventMethods({ config, database, guardedFetch, resource, clock, words }: EventDeps) {
  const store = createEventStore({ database, resource });
  const { refusals } = words.eventMethods;

  function checked({ name, arguments: sent }: EventParams): string {
    if (!isEventName(words, name)) throw new ProtocolError(NOT_FOUND, refusals.unknownEvent, { kind: "event" });
    if (Object.keys(sent ?? {}).length > 0) throw invalid(refusals.badArguments);
    return name;
  }

  function placeIn({ cursor }: EventParams) {
    const after = cursor ? placeOf(cursor) : null;
    if (after === undefined) throw invalid(refusals.badCursor);
    return after;
  }

  function urlIn({ delivery }: EventParams): string {
    const url = delivery?.url ?? "";
    if (!url.startsWith("https://") || url.length > LONGEST_URL || !URL.canParse(url)) throw invalid(refusals.badUrl);
    return url;
  }

  /** The database checks again after the challenge. */
  function allowed<Answer extends { outcome: string }>(answer: Answer) {
    if (answer.outcome === "stopped") throw new ProtocolError(FORBIDDEN, refusals.stopped);
    if (answer.outcome === "too_many") {
      throw new ProtocolError(RESOURCE_EXHAUSTED, refusals.tooMany, { limit: "subscriptions", max: 10 });
    }
    return settled(answer);
  }

  return {
    list: () => ({ events: listEvents(words) }),

    async poll({ tokenHash }: EventCall, params: EventParams) {
      const name = checked(params);
      const atMost = Math.min(params.maxEvents ?? MOST_EVENTS, MOST_EVENTS);
      const polled = settled(await store.poll({ tokenHash, name, after: placeIn(params), atMost, at: clock() }));
      return {
        events: polled.events.map(occurrenceOf),
        cursor: cursorOf(polled.place),
        hasMore: polled.has_more,
        truncated: polled.truncated,
        nextPollMs: polled.has_more ? 0 : NEXT_POLL_MS,
      };
    },

    async subscribe({ tokenHash }: EventCall, params: EventParams) {
      const name = checked(params);
      const { mode = "", secret = "" } = params.delivery ?? {};
      if (mode !== "webhook") {
        throw new ProtocolError(UNSUPPORTED, refusals.webhooksOnly, { feature: "deliveryMode", value: mode });
      }
      const url = urlIn(params);
      if (!keyOf(secret)) throw invalid(refusals.badSecret);
      const after = placeIn(params);
      const at = clock();
      const { id } = allowed(await store.find({ tokenHash, name, url, at }));
      const reason = await challenge(guardedFetch, { subscriptionId: id, url, secret, at });
      if (reason) throw new ProtocolError(CALLBACK_FAILED, refusals.callbackFailed, { reason });
      const ms = Math.min(Math.max(params.ttlMs ?? LIFETIME_MS.usual, LIFETIME_MS.least), LIFETIME_MS.most);
      const expiresAt = new Date(at.getTime() + ms);
      const sealed = await sealCredential(config.credentialsKeys, id, { secret });
      const { place, truncated } = allowed(
        await store.keep({ tokenHash, name, url, secret: sealed, after, expiresAt, at }),
      );
      return { id, refreshBefore: expiresAt.toISOString(), cursor: cursorOf(place), truncated };
    },

    async unsubscribe({ tokenHash }: EventCall, params: EventParams) {
      const dropped = await store.drop({ tokenHash, name: checked(params), url: urlIn(params), at: clock() });
      if (dropped.outcome === "unknown") {
        throw new ProtocolError(NOT_FOUND, refusals.unknownSubscription, { kind: "subscription" });
      }
      settled(dropped);
      return {};
    },
  };
}

const invalid = (message: string) => new ProtocolError(ProtocolErrorCode.InvalidParams, message);

/** The caller had access before, so it has just ended; the next request returns the reason. */
function settled<Answer extends { outcome: string }>(answer: Answer): Extract<Answer, { outcome: "ok" }> {
  if (answer.outcome !== "ok") throw new ProtocolError(FORBIDDEN, "Access ended.");
  return answer as Extract<Answer, { outcome: "ok" }>;
}
