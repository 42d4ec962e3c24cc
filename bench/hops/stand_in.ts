/**
 * Stands in for PostgREST: `POST /rest/v1/rpc/<function>` runs one prepared statement as `service_role` and answers its
 * JSON. It checks no key and parses no result, so what it adds is one hop, for the service and its floor alike.
 *
 *     deno run -A bench/hops/stand_in.ts postgres://authenticator@…/database
 */
import postgres from "postgres";

const CONNECTIONS = 10;
const [url] = Deno.args;
if (!url) throw new Error("Pass the URL of a database.");
const client = postgres(url, {
  max: CONNECTIONS,
  onnotice: () => {},
  connection: { role: "service_role", "request.jwt.claims": '{"role":"service_role"}' } as Record<string, string>,
});

interface Signature {
  name: string;
  names: string[] | null;
  types: string[];
  returns_set: boolean;
}
const signatures = new Map<string, Signature>();
for (
  const one of await client<Signature[]>`
    select proname as name, proargnames[:pronargs] as names,
      array(select format_type(t, null) from unnest(proargtypes) with ordinality as a (t, n) order by n) as types,
      proretset as returns_set
    from pg_proc where pronamespace = 'public'::regnamespace`
) signatures.set(one.name, one);

/** By function and the arguments that are passed; the others keep their defaults. */
const statements = new Map<string, string>();

function statementOf({ name, names, types, returns_set }: Signature, passed: string[]): string {
  const key = `${name} ${passed.join()}`;
  const known = statements.get(key);
  if (known) return known;
  const typeOf = (argument: string) => types[names?.indexOf(argument) ?? -1] ?? "text";
  const args = passed.map((one) => `"${one}" => args."${one}"`).join(", ");
  const columns = passed.map((one) => `"${one}" ${typeOf(one)}`).join(", ");
  const from = columns ? `json_to_record($1::text::json) as args (${columns})` : "(select $1::text) as args";
  const result = returns_set ? "coalesce(json_agg(r), '[]')" : "to_json(r)";
  const statement =
    `select ${result}::text as result from (select public."${name}"(${args}) as r from ${from}) as called`;
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
      statementOf(signature, Object.keys(JSON.parse(body || "{}")).sort()),
      [body],
      { prepare: true },
    );
    return new Response(row?.result ?? "null", { headers: HEADERS });
  } catch (thrown) {
    const { code = "", message } = thrown as { code?: string; message: string };
    return Response.json({ code, message }, { status: 500 });
  }
});
