/**
 * From the start of a process to its first answer, beside a function that is Hono and nothing else. The answers need no
 * database. From source, with the compiled modules in the cache, on this Deno.
 */
import { functionEnvironment, functionModule, startModule } from "../hops/world.ts";
import { alternate, ratiosOf } from "../measure/rounds.ts";
import type { Options, Row } from "../measure/row.ts";
import { Connection, requestBytes } from "../measure/raw_http.ts";
import { median } from "../measure/stats.ts";
import { type Slug, SLUGS } from "../../shared/routes.ts";

const nameOf = (slug: Slug) => `cold start: ${slug}`;
export const NAMES = SLUGS.map(nameOf);

/** One request to each that reaches an endpoint, and the status it gets. */
const FIRST: Record<Slug, { method: string; path: string; status: number }> = {
  "mcp": { method: "POST", path: "/api/mcp", status: 401 },
  "oauth": { method: "GET", path: "/.well-known/oauth-authorization-server", status: 200 },
  "payment-webhook": { method: "POST", path: "/api/payment/webhook", status: 401 },
  "auth-callback": { method: "GET", path: "/login", status: 200 },
  "cron-reminders": { method: "GET", path: "/api/cron/reminders", status: 401 },
  "cron-provider-sync": { method: "GET", path: "/api/cron/provider-sync", status: 401 },
};
const EMPTY = new URL("../hops/empty_function.ts", import.meta.url).href;

export async function measureColdStart({ isShort, only }: Options): Promise<Row[]> {
  const slugs = SLUGS.filter((slug) => nameOf(slug).includes(only));
  const sides = {
    empty: () => startToAnswer(EMPTY, { method: "GET", path: "/", status: 200 }),
    ...Object.fromEntries(slugs.map((slug) => [slug, () => startToAnswer(functionModule(slug), FIRST[slug])])),
  } as Record<Slug | "empty", () => Promise<number>>;
  // Compiles, and fills the page cache.
  for (const side of Object.values(sides)) await side();
  const measured = await alternate(sides, isShort ? 5 : 15);
  return slugs.map((slug) => ({
    name: nameOf(slug),
    against: "an empty Hono function",
    value: ratiosOf(measured[slug], measured.empty),
    unit: "times",
    detail: `${median(measured[slug]).toFixed(0)} ms; empty ${median(measured.empty).toFixed(0)} ms`,
    errors: 0,
  }));
}

/** Milliseconds. */
async function startToAnswer(
  module: string,
  { method, path, status }: { method: string; path: string; status: number },
): Promise<number> {
  // Nothing listens there; nothing is asked either.
  const env = functionEnvironment("http://127.0.0.1:9");
  const startedAt = performance.now();
  const server = await startModule(module, { env });
  const connection = new Connection(server.port);
  const answer = await connection.send(requestBytes({ method, path }));
  const ms = performance.now() - startedAt;
  connection.close();
  await server.stop();
  if (answer.status !== status) {
    throw new Error(`${module} answered ${answer.status} instead of ${status}: ${answer.body}`);
  }
  return ms;
}
