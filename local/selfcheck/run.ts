/** All checks of a deployment, ordered so that one fault explains the next. */
import type { Slug } from "../../shared/routes.ts";
import { type Check, type Line, note, type Site, wrong } from "./check.ts";
import { connector, directAddress } from "./connector.ts";
import { authorizationServer, forgedHost, protectedResource, unknownAddresses } from "./discovery.ts";
import { health, jobs, methods, preflights, tokenEndpoint, webhook } from "./endpoints.ts";
import { askFunctions } from "./functions.ts";
import { mail } from "./mail.ts";
import { pages } from "./pages.ts";
import { schedule } from "./schedule.ts";
import { signInSettings } from "./sign_in_settings.ts";
import { transport } from "./transport.ts";

/** Checks and the functions they concern. */
const CHECKS: readonly (readonly [Check, ...Slug[]])[] = [
  [transport],
  [health, "oauth"],
  [authorizationServer, "oauth"],
  [forgedHost, "oauth"],
  [protectedResource, "mcp"],
  [connector, "mcp"],
  [directAddress, "mcp"],
  [unknownAddresses],
  [pages],
  [tokenEndpoint],
  [webhook],
  [jobs],
  [schedule, "cron-reminders"],
  [mail, "cron-reminders"],
  [signInSettings],
  [methods],
  [preflights],
];

/**
 * Runs every check and yields a line per finding; changes nothing in the deployment, and sends a mail where an address
 * is given.
 */
export async function* checkDeployment(site: Site): AsyncIterable<Line> {
  let answering: Slug[];
  try {
    const asked = await askFunctions(site);
    yield* asked.lines;
    answering = asked.answering;
  } catch (thrown) {
    yield wrong((thrown as Error).message);
    return;
  }
  const reachable: Site = { ...site, slugs: answering };
  for (const [check, ...slugs] of CHECKS) {
    if (!slugs.every((slug) => answering.includes(slug))) continue;
    try {
      yield* check(reachable);
    } catch (thrown) {
      yield wrong((thrown as Error).message);
    }
  }
  if (answering.length > 0) {
    yield note(
      `The length of keys cannot be seen from outside. A function won’t start with a key that’s too short; all of these started: ` +
        answering.join(", "),
    );
  }
}
