/**
 * Stands in for PostgREST: `POST /rest/v1/rpc/<function>` runs one prepared statement as `service_role` and returns
 * its JSON. It checks no key and parses no result, so it adds only one hop, for both the service and its floor.
 *
 * deno run -A bench/hops/stand_in.ts postgres://authenticator@…/database [http://127.0.0.1:…]
 *
 * With a second URL, it proxies every other path to the rest of the platform, such as the identity provider.
 *
 * `/under-way` returns the number of running calls, including those whose callers have disconnected.
 */
import postgres from "postgres";
import { type Signature, SIGNATURES, statementOf } from "./statement.ts";

const CONNECTIONS = 10;
/**
 * A request waits for the first free connection. By default, the driver queues it behind the longest-running
 * statement, so a webhook would wait for a job. The driver's types lack this option.
 */
const IN_LINE = { max_pipeline: 0 };
const [url, rest] = Deno.args;
if (!url) throw new Error("Pass the URL of a database.");
const client = postgres(url, {
  max: CONNECTIONS,
  ...IN_LINE,
  onnotice: () => {},
  connection: { role: "service_role", "request.jwt.claims": '{"role":"service_role"}' } as Record<string, string>,
});
const signatures = new Map<string, Signature>();
/** The callable functions. Read again after a migration, as PostgREST reloads its schema cache. */
async function readSignatures(): Promise<void> {
  for (const one of await client.unsafe<Signature[]>(SIGNATURES)) signatures.set(one.name, one);
}
await readSignatures();

/** Keyed by function and passed arguments. */
const statements = new Map<string, string>();
function statementFor(signature: Signature, passed: string[]): string {
  const key = `${signature.name} ${passed.join()}`;
  const statement = statements.get(key) ?? statementOf(signature, passed);
  statements.set(key, statement);
  return statement;
}

// As in PostgREST, a driver error on a cut connection must not stop the other requests.
globalThis.addEventListener("error", (event) => {
  event.preventDefault();
  Deno.stderr.writeSync(new TextEncoder().encode(`${event.error?.stack}\n`));
});

let underWay = 0;
const HEADERS = { "content-type": "application/json; charset=utf-8" };

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => void Deno.stdout.writeSync(new TextEncoder().encode(`${port}\n`)),
}, async (request) => {
  if (request.url.endsWith("/under-way")) return Response.json(underWay);
  if (rest && !request.url.includes("/rest/v1/rpc/")) return await passOn(request);
  const name = request.url.slice(request.url.lastIndexOf("/") + 1);
  if (!signatures.has(name)) await readSignatures().catch(() => {});
  const signature = signatures.get(name);
  if (!signature) return Response.json({ code: "PGRST202", message: "No such function." }, { status: 404 });
  const body = await request.text();
  underWay++;
  try {
    const [row] = await client.unsafe<{ result: string | null }[]>(
      statementFor(signature, Object.keys(JSON.parse(body || "{}")).sort()),
      [body],
      { prepare: true },
    );
    return new Response(row?.result ?? "null", { headers: HEADERS });
  } catch (thrown) {
    const { code = "", message } = thrown as { code?: string; message: string };
    // PostgREST's response when it has no connection: https://docs.postgrest.org/en/v14/references/errors.html
    if (!/^(?=.*\d)[0-9A-Z]{5}$/.test(code)) return Response.json({ code: "PGRST001", message }, { status: 503 });
    return Response.json({ code, message }, { status: 500 });
  } finally {
    underWay--;
  }
});

/** The caller follows redirects. */
async function passOn(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const { method, headers, body } = request;
  const passed = new Headers(headers);
  passed.delete("host");
  const response = await fetch(rest + pathname + search, { method, headers: passed, body, redirect: "manual" })
    .catch(() => new Response(null, { status: 502 }));
  const answered = new Headers(response.headers);
  for (const name of ["content-encoding", "content-length", "transfer-encoding"]) answered.delete(name);
  return new Response(response.body, { status: response.status, headers: answered });
}
