/**
 * From the start of a process to its first answer, beside a function that is Hono and nothing else. The answers need no
 * database. On the Deno of the platform's edge runtime, from source, with the compiled modules in its cache.
 */
import { functionEnvironment } from "../hops/world.ts";
import { alternate, ratiosOf } from "../measure/rounds.ts";
import type { Options, Row } from "../measure/row.ts";
import { Connection, requestBytes } from "../measure/raw_http.ts";
import { start } from "../measure/processes.ts";
import { median } from "../measure/stats.ts";
import { type Slug, SLUGS } from "../../shared/routes.ts";
import { copy } from "../../tests/_support/copy.ts";
import { edgeDeno } from "../../tests/edge/edge_deno.ts";

const nameOf = (slug: Slug) => `cold start: ${slug}`;
export const NAMES = SLUGS.map(nameOf);

interface Question {
  method: string;
  path: string;
  status: number;
}
/** One request to each that reaches an endpoint, and the status it gets. */
const FIRST: Record<Slug, Question> = {
  "mcp": { method: "POST", path: "/api/mcp", status: 401 },
  "oauth": { method: "GET", path: "/.well-known/oauth-authorization-server", status: 200 },
  "payment-webhook": { method: "POST", path: "/api/payment/webhook", status: 401 },
  "auth-callback": { method: "GET", path: "/login", status: 200 },
  "cron-reminders": { method: "GET", path: "/api/cron/reminders", status: 401 },
  "cron-provider-sync": { method: "GET", path: "/api/cron/provider-sync", status: 401 },
};
const ROOT = new URL("../../", import.meta.url);
const PARTS = ["functions", "shared", "tests/edge", "bench/hops", "import_map.json"];

export async function measureColdStart({ isShort, only }: Options): Promise<Row[]> {
  const slugs = SLUGS.filter((slug) => nameOf(slug).includes(only));
  const { path: deno } = await edgeDeno();
  // This Deno could not read the project's settings and lock file, and neither does the platform.
  const folder = await Deno.makeTempDir({ prefix: "expense-cold-" });
  for (const parent of ["tests", "bench"]) await Deno.mkdir(`${folder}/${parent}`);
  for (const part of PARTS) await copy(new URL(part, ROOT).pathname, `${folder}/${part}`);
  const sideOf = (module: string, first: Question) => () => startToAnswer({ deno, folder, module }, first);
  const sides = {
    empty: sideOf("bench/hops/empty_function.ts", { method: "GET", path: "/", status: 200 }),
    ...Object.fromEntries(slugs.map((slug) => [slug, sideOf(`functions/${slug}/index.ts`, FIRST[slug])])),
  } as Record<Slug | "empty", () => Promise<number>>;
  try {
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
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** Milliseconds. */
async function startToAnswer(
  { deno, folder, module }: { deno: string; folder: string; module: string },
  { method, path, status }: Question,
): Promise<number> {
  const flags = ["--quiet", "--no-lock", "--no-prompt", `--import-map=${folder}/import_map.json`];
  const permissions = ["--allow-net", "--allow-env", "--allow-read"];
  const args = ["run", ...flags, ...permissions, `${folder}/tests/edge/boot.ts`, `file://${folder}/${module}`];
  // Nothing listens there; nothing is asked either.
  const env = { ...functionEnvironment("http://127.0.0.1:9"), DENO_TLS_CA_STORE: "system" };
  const startedAt = performance.now();
  const server = await start(deno, args, { env, cwd: folder });
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
