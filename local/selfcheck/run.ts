/** All checks of a deployment, ordered so that the first fault explains later ones. */
import type { Slug } from "../../shared/routes.ts";
import { type Check, type Line, note, type Site, wrong } from "./check.ts";
import { mail, schedule, signInSettings } from "./inside.ts";
import * as outside from "./outside.ts";

/** The checks, and the function that each concerns. */
const CHECKS: readonly (readonly [Check, Slug?])[] = [
  [outside.transport],
  [outside.health, "oauth"],
  [outside.authorizationServer, "oauth"],
  [outside.connector, "mcp"],
  [outside.unknownAddresses],
  [outside.policies],
  [outside.pages],
  [outside.refusals],
  [schedule, "cron-reminders"],
  [mail, "cron-reminders"],
  [signInSettings],
  [outside.preflights],
];

/** Runs every check and yields one line per finding. Changes nothing, and sends a mail only if an address is given. */
export async function* checkDeployment(site: Site): AsyncIterable<Line> {
  try {
    const { answering, lines } = await outside.askFunctions(site);
    yield* lines;
    for (const [check, slug] of CHECKS) {
      if (!slug || answering.includes(slug)) yield* told(check, { ...site, slugs: answering });
    }
    if (answering.length > 0) {
      yield note(
        "The length of keys cannot be seen from outside. A function won’t start with a key that’s too short; all of " +
          `these started: ${answering.join(", ")}`,
      );
    }
  } catch (thrown) {
    yield wrong((thrown as Error).message);
  }
}

async function* told(check: Check, site: Site): AsyncIterable<Line> {
  try {
    yield* check(site);
  } catch (thrown) {
    yield wrong((thrown as Error).message);
  }
}
