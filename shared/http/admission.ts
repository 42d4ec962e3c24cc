/**
 * Sheds load before an instance drowns in it: so many requests run at once, some wait a moment, the others are answered
 * 503 with `Retry-After` at once. While there is room, that is two comparisons. When there is none, organizations take
 * turns: one of them, one client or one address can't take what is the others'.
 */
import type { MiddlewareHandler } from "hono";
import type { Config } from "../config.ts";
import { AppError } from "../errors.ts";
import type { AppEnv } from "./app.ts";
import { FairQueue, type FairQueueLimits } from "./fair_queue.ts";

/**
 * More run at once than an instance's processor and its share of the database's connections can use, since some calls
 * wait for others for long. As many wait as come in a pause of a second, and as long as leaves time to be answered
 * within two.
 */
const LIMITS: FairQueueLimits = { places: 24, waiting: 160, waitMs: 1_200 };
/** What waits is over by then, and clients that were turned away do not come back in step with one another. */
const RETRY_SECONDS = { least: 1, most: 3 };
/** Tokens whose organization is remembered, the newest. */
const MOST_KNOWN = 5_000;

/** For one function, after what sets the headers of its answers. @param limits for tests. */
export function admission(
  config: Pick<Config, "frontDoorSecrets">,
  limits: FairQueueLimits = LIMITS,
): MiddlewareHandler<AppEnv> {
  const queue = new FairQueue(limits);
  /** Organizations by the hash of a token that was found good: anybody can invent tokens. */
  const known = new Map<string, string>();

  return async (c, next) => {
    // A preflight is answered from memory.
    if (c.req.method === "OPTIONS") return await next();
    let token: string | undefined;
    if (!queue.tryEnter()) {
      // Loaded when it is needed for the first time, which for most instances is never.
      const { callerName, tokenHash } = await import("./whose_request.ts");
      token = tokenHash(c.req.raw.headers);
      const whose = (token && known.get(token)) ?? callerName(c.req.raw.headers, config);
      if (!await queue.enter(whose)) throw overloaded();
    }
    try {
      await next();
    } finally {
      queue.leave();
    }
    const organization = token && c.get("logged").organization_id;
    if (!organization) return;
    known.delete(token!);
    known.set(token!, organization);
    if (known.size > MOST_KNOWN) known.delete(known.keys().next().value!);
  };
}

function overloaded(): AppError {
  const { least, most } = RETRY_SECONDS;
  const seconds = least + Math.floor(Math.random() * (most - least + 1));
  return new AppError("overloaded", "There are more requests than can be answered right now. Nothing was done.", {
    headers: { "retry-after": String(seconds) },
  });
}
