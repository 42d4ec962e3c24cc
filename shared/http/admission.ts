/**
 * Sheds load before it overwhelms an instance: a fixed number of requests run at once, some wait a moment, and the
 * rest get 503 with `Retry-After` immediately. While places are free, this costs two comparisons. Otherwise
 * organizations take turns, so that no organization, client or address takes the places of the others. A request
 * occupies a place only while it works: its body is read first, and it releases the place while it waits for another
 * party (place.ts).
 */
import type { MiddlewareHandler } from "hono";
import { systemTimer, type Timer } from "../clock.ts";
import type { Config } from "../config.ts";
import { keep } from "../std/keep.ts";
import type { AppContext, AppEnv } from "./app.ts";
import { BodyReader, type Crowds, SHORT_BYTES } from "./body_reader.ts";
import { Crowd, type Identify } from "./crowd.ts";
import { currentRequest } from "./current_request.ts";
import { FairQueue, type FairQueueLimits, type Kind } from "./fair_queue.ts";
import { overloaded } from "./overloaded.ts";
import { Place } from "./place.ts";

interface Limits extends FairQueueLimits {
  /** How many short bodies are read at once, and how many long ones. */
  short: number;
  long: number;
}

/**
 * More requests run at once than an instance's processor and its share of database connections can use, because some
 * calls wait for others. The queue holds one second of arrivals, and a request waits only while it can still be
 * answered within two seconds. Bodies being read take about 100 MB at most.
 */
const LIMITS: Limits = { places: 24, unproven: 24, waiting: 160, waitMs: 1_200, short: 256, long: 8 };
/** The maximum number of remembered tokens with their organization; the newest remain. */
const MOST_KNOWN = 5_000;

interface Options {
  /** `unproven`: the limit for requests with an unknown token, if requests contain tokens. */
  limits?: Partial<Limits>;
  timer?: Timer;
  /** For bodies that the handler reads only after it has authenticated the sender. */
  isReadLater?: (c: AppContext) => boolean;
}

/** Middleware for one function. Add it after the middleware that sets the response headers. */
export function admission(
  config: Pick<Config, "frontDoorSecrets">,
  { limits: given, timer = systemTimer, isReadLater }: Options = {},
): MiddlewareHandler<AppEnv> {
  const limits = { ...LIMITS, ...given };
  const queue = new FairQueue(limits, timer);
  /** Organizations by the hash of a verified token, because anybody can invent tokens. */
  const known = new Map<string, string>();
  // Loads on demand, because most instances never need it.
  const identify = keep(async (): Promise<Identify> => {
    const { callerName, tokenHash } = await import("./whose_request.ts");
    return (headers) => {
      const organization = known.get(tokenHash(headers) ?? "");
      return { whose: organization ?? callerName(headers, config), isProven: organization !== undefined };
    };
  });
  const crowds: Crowds = { short: new Crowd(limits.short, identify), long: new Crowd(limits.long, identify) };

  /** @returns the place's kind. */
  async function enter(headers: Headers): Promise<Kind> {
    // While places are free, all requests are equal.
    if (queue.tryEnter("unproven")) return "unproven";
    const { whose, isProven } = (await identify())(headers);
    const kind = isProven ? "proven" : "unproven";
    if (!await queue.enter(kind, whose)) throw overloaded();
    return kind;
  }

  function remember(token: string | undefined, organization: string | undefined): void {
    if (!token || !organization) return;
    known.delete(token);
    known.set(token, organization);
    if (known.size > MOST_KNOWN) known.delete(known.keys().next().value!);
  }

  return async (c, next) => {
    // A preflight needs only memory.
    if (c.req.method === "OPTIONS") return await next();
    const body = c.req.method === "POST" ? new BodyReader(c.req.raw, crowds, timer) : undefined;
    if (body) {
      c.set("body", body);
      if (!isReadLater?.(c)) await body.readUpTo(SHORT_BYTES);
    }
    const kind = await enter(c.req.raw.headers);
    const place = new Place({ leave: () => queue.leave(kind), takeBack: () => queue.takeBack(kind) });
    const request = currentRequest();
    if (request) request.place = place;
    try {
      await next();
    } finally {
      place.end();
      await body?.close();
    }
    remember(c.get("tokenHash"), c.get("logged").organization_id);
  };
}
