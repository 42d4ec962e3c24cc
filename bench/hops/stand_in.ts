/**
 * Stands in for PostgREST: `POST /rest/v1/rpc/<function>` runs one prepared statement as `service_role` and answers its
 * JSON. It checks no key and parses no result, so what it adds is one hop, for the service and its floor alike.
 *
 *     deno run -A bench/hops/stand_in.ts postgres://authenticator@…/database
 */
import postgres from "postgres";
import { type Signature, SIGNATURES, statementOf } from "./statement.ts";

const CONNECTIONS = 10;
const [url] = Deno.args;
if (!url) throw new Error("Pass the URL of a database.");
const client = postgres(url, {
  max: CONNECTIONS,
  onnotice: () => {},
  connection: { role: "service_role", "request.jwt.claims": '{"role":"service_role"}' } as Record<string, string>,
});
const signatures = new Map((await client.unsafe<Signature[]>(SIGNATURES)).map((one) => [one.name, one]));

/** By function and the arguments that are passed. */
const statements = new Map<string, string>();
function statementFor(signature: Signature, passed: string[]): string {
  const key = `${signature.name} ${passed.join()}`;
  const statement = statements.get(key) ?? statementOf(signature, passed);
  statements.set(key, statement);
  return statement;
}

const HEADERS = { "content-type": "application/json; charset=utf-8" };

Deno.serve({
  hostname: "127.0.0.1",
  port: 0,
  onListen: ({ port }) => void Deno.stdout.writeSync(new TextEncoder().encode(`${port}\n`)),
}, async (request) => {
  const signature = signatures.get(request.url.slice(request.url.lastIndexOf("/") + 1));
  if (!signature) return Response.json({ code: "PGRST202", message: "No such function." }, { status: 404 });
  const body = await request.text();
  try {
    const [row] = await client.unsafe<{ result: string | null }[]>(
      statementFor(signature, Object.keys(JSON.parse(body || "{}")).sort()),
      [body],
      { prepare: true },
    );
    return new Response(row?.result ?? "null", { headers: HEADERS });
  } catch (thrown) {
    const { code = "", message } = thrown as { code?: string; message: string };
    return Response.json({ code, message }, { status: 500 });
  }
});
