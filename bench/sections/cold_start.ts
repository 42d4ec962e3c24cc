/**
 * The time from the start of a process to its first response, compared with a function that has only Hono. The
 * responses need no database. It runs on the Deno version of the platform's edge runtime. It measures both the source
 * with a compiled cache, where each start resolves every module and package again, and the bundle, as in a deployed
 * function.
 */
import { bundle } from "../measure/bundle.ts";
import { functionEnvironment } from "../hops/world.ts";
import { alternate, ratiosOf } from "../measure/rounds.ts";
import type { Options, Row } from "../measure/row.ts";
import { Connection, requestBytes } from "../measure/raw_http.ts";
import { start } from "../measure/processes.ts";
import { median } from "../measure/stats.ts";
import { type Slug, SLUGS } from "../../shared/routes.ts";
import { copy } from "../../tests/_support/copy.ts";
import { edgeDeno } from "../../tests/edge/edge_deno.ts";

const KINDS = ["from source", "bundled"] as const;
type Kind = typeof KINDS[number];

const nameOf = (slug: Slug, kind: Kind) => `cold start: ${slug}${kind === "bundled" ? ", bundled" : ""}`;
export const NAMES = KINDS.flatMap((kind) => SLUGS.map((slug) => nameOf(slug, kind)));

interface Question {
  method: string;
  path: string;
  status: number;
}
/** One request that reaches an endpoint of each function, and the expected status. */
const FIRST: Record<Slug, Question> = {
  "mcp": { method: "POST", path: "/api/mcp", status: 401 },
  "oauth": { method: "GET", path: "/.well-known/oauth-authorization-server", status: 200 },
  "payment-webhook": { method: "POST", path: "/api/payment/webhook", status: 401 },
  "auth-callback": { method: "GET", path: "/login", status: 200 },
  "cron-reminders": { method: "GET", path: "/api/cron/reminders", status: 401 },
  "cron-provider-sync": { method: "GET", path: "/api/cron/provider-sync", status: 401 },
  "inbound-mail": { method: "POST", path: "/api/mail/inbound", status: 401 },
};
const ROOT = new URL("../../", import.meta.url);
const PARTS = ["functions", "shared", "tests/edge", "bench/hops", "import_map.json"];

const EMPTY = "bench/hops/empty_function.ts";
const EMPTY_FIRST: Question = { method: "GET", path: "/", status: 200 };

export async function measureColdStart(options: Options): Promise<Row[]> {
  const { path: deno } = await edgeDeno();
  // This Deno version cannot read the project's settings and lock file, and the platform doesn't read them either.
  const folder = await Deno.makeTempDir({ prefix: "expense-cold-" });
  for (const parent of ["tests", "bench"]) await Deno.mkdir(`${folder}/${parent}`);
  for (const part of PARTS) await copy(new URL(part, ROOT).pathname, `${folder}/${part}`);
  try {
    const rows: Row[] = [];
    for (const kind of KINDS) rows.push(...await measureKind(kind, { ...options, deno, folder }));
    return rows;
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

async function measureKind(
  kind: Kind,
  { isShort, only, deno, folder }: Options & { deno: string; folder: string },
): Promise<Row[]> {
  const slugs = SLUGS.filter((slug) => nameOf(slug, kind).includes(only));
  const sideOf = async (module: string, first: Question) => {
    const started = kind === "bundled" ? await writeBundle(module, folder) : module;
    return () => startToAnswer({ deno, folder, module: started }, first);
  };
  const sides = { empty: await sideOf(EMPTY, EMPTY_FIRST) } as Record<Slug | "empty", () => Promise<number>>;
  for (const slug of slugs) sides[slug] = await sideOf(`functions/${slug}/index.ts`, FIRST[slug]);
  // Compiles the code, and fills the page cache.
  for (const side of Object.values(sides)) await side();
  const measured = await alternate(sides, isShort ? 5 : 15);
  return slugs.map((slug) => ({
    name: nameOf(slug, kind),
    against: "an empty Hono function",
    value: ratiosOf(measured[slug], measured.empty),
    unit: "times",
    detail: `${median(measured[slug]).toFixed(0)} ms; empty ${median(measured.empty).toFixed(0)} ms`,
    errors: 0,
  }));
}

/** @returns the bundle's entry point, from `folder`. */
async function writeBundle(module: string, folder: string): Promise<string> {
  const parent = `bundles/${module.replaceAll("/", "_")}`;
  const { outputFiles } = await bundle(module);
  for (const { path, contents } of outputFiles) {
    const file = `${folder}/${parent}/${path.slice(path.lastIndexOf("/bundle/") + 1)}`;
    await Deno.mkdir(file.slice(0, file.lastIndexOf("/")), { recursive: true });
    await Deno.writeFile(file, contents);
  }
  return `${parent}/bundle/entry.js`;
}

/** Milliseconds. */
async function startToAnswer(
  { deno, folder, module }: { deno: string; folder: string; module: string },
  { method, path, status }: Question,
): Promise<number> {
  const flags = ["--quiet", "--no-lock", "--no-prompt", `--import-map=${folder}/import_map.json`];
  const permissions = ["--allow-net", "--allow-env", "--allow-read"];
  const args = ["run", ...flags, ...permissions, `${folder}/tests/edge/boot.ts`, `file://${folder}/${module}`];
  // A closed port, which receives no requests.
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
