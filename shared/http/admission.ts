/**
 * Sheds load before an instance drowns in it: so many requests run at once, some wait a moment, the others are answered
 * 503 with `Retry-After` at once. While there is room, that is two comparisons. When there is none, organizations take
 * turns: one of them, one client or one address can't take what is the others'. A place is taken for work only: the
 * body of a request is read before, and waiting for others gives it back (place.ts).
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
 * More run at once than an instance's processor and its share of the database's connections can use, since some calls
 * wait for others for long. As many wait as come in a pause of a second, and as long as leaves time to be answered
 * within two. The bodies that are being read take some 100 MB at most.
 */
const LIMITS: Limits = { places: 24, unproven: 24, waiting: 160, waitMs: 1_200, short: 256, long: 8 };
/** Tokens whose organization is remembered, the newest. */
const MOST_KNOWN = 5_000;

interface Options {
  /** `unproven`: where requests carry tokens, those whose token is not known get only some of the places. */
  limits?: Partial<Limits>;
  timer?: Timer;
  /** For bodies of which nothing may be read before the handler has judged their sender. */
  isReadLater?: (c: AppContext) => boolean;
}

/** For one function, after what sets the headers of its answers. */
export function admission(
  config: Pick<Config, "frontDoorSecrets">,
  { limits: given, timer = systemTimer, isReadLater }: Options = {},
): MiddlewareHandler<AppEnv> {
  const limits = { ...LIMITS, ...given };
  const queue = new FairQueue(limits, timer);
  /** Organizations by the hash of a token that was found good: anybody can invent tokens. */
  const known = new Map<string, string>();
  // Loaded when it is needed for the first time, which for most instances is never.
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
    // Those who come while there is room are not told apart.
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
    // A preflight is answered from memory.
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
