/** The whole site as a client sees it, in process: connector and authorization server behind the front door. */
import { createFrontDoor } from "../../../local/front_door/front_door.ts";
import { createMcpApp } from "../../../functions/mcp/app.ts";
import { type Config, readConfig } from "../../../shared/config.ts";
import { createLog } from "../../../shared/log.ts";
import type { GuardedFetch } from "../../../shared/net/guarded_fetch.ts";
import type { TestDatabase } from "../../_support/database.ts";
import { createHarness, over, type Person, SITE } from "./harness.ts";

const unexpected: GuardedFetch = () => Promise.reject(new Error("unexpected"));

/** @param guardedFetch of the connector */
export function createSite(
  database: TestDatabase,
  config: Partial<Config> = { rateLimits: "off" },
  guardedFetch = unexpected,
) {
  const harness = createHarness(over(database), config);
  const log: string[] = harness.log;
  const connector = createMcpApp({
    config: {
      ...readConfig({
        NEXT_PUBLIC_SITE_URL: SITE,
        SUPABASE_URL: "https://ref.supabase.example",
        OAUTH_CODE_SECRET: "a-secret-of-more-than-thirty-two-bytes",
      }, []),
      ...config,
    },
    database: over(database),
    clock: () => harness.clock.now,
    log: createLog((line) => log.push(line)),
    fetch: () => Promise.reject(new Error("unexpected")),
    guardedFetch,
  });
  const frontDoor = createFrontDoor({
    functionsUrl: "https://ref.supabase.example/functions/v1",
    fetch: async (request) =>
      await (new URL(request.url).pathname.startsWith("/functions/v1/mcp/") ? connector : harness.app).fetch(request),
  });
  /** A `fetch` that reaches no other site. */
  const siteFetch = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const request = new Request(input, init);
    if (new URL(request.url).origin !== SITE) throw new TypeError(`There is no ${request.url} here`);
    return await frontDoor(request, { address: "198.51.100.7" });
  };
  /** Opens an authorization URL as a signed-in person who clicks Allow; returns the browser's redirect. */
  const allow = async (authorizationUrl: URL, person: Person & { organizations: string[] }): Promise<URL> => {
    const page = await harness.get(authorizationUrl.pathname + authorizationUrl.search, person);
    const text = await page.text();
    if (page.status !== 200) throw new Error(`consent page: ${page.status} ${page.headers.get("location")} ${text}`);
    const fields = { action: "approve", organization_id: person.organizations[0] };
    return new URL((await harness.decide(text, fields, person)).headers.get("location")!);
  };
  return { harness, fetch: siteFetch, allow };
}
