/**
 * Starts a function like tests/edge/boot.ts, with additions for a load test: a clock that can jump, the heap after a
 * collection, a mail service on loopback, and planted defects that test the checks (`LOAD_PLANT`). The function itself
 * is unchanged.
 */

const CONTROL = "/.load/";
const MAIL_SERVICE = "https://api.resend.com/";

const RealDate = Date;
let offset = Number(Deno.env.get("LOAD_CLOCK_MS") ?? 0);
class MovedDate extends RealDate {
  constructor(...args: [] | [string | number | Date]) {
    super(...(args.length === 0 ? [RealDate.now() + offset] : args) as [string]);
  }
  static override now = () => RealDate.now() + offset;
}
globalThis.Date = MovedDate as DateConstructor;

const realFetch = globalThis.fetch;
const mailUrl = Deno.env.get("LOAD_MAIL_URL");
const plant = Deno.env.get("LOAD_PLANT");

globalThis.fetch = async (input: URL | RequestInfo, init?: RequestInit) => {
  const url = input instanceof Request ? input.url : String(input);
  if (!url.startsWith(MAIL_SERVICE) || !mailUrl) return await realFetch(input, init);
  const send = (headers?: Record<string, string>) =>
    realFetch(mailUrl + url.slice(MAIL_SERVICE.length - 1), {
      ...init,
      headers: { ...init?.headers as Record<string, string>, ...headers },
    });
  if (plant === "double mail") await (await send({ "idempotency-key": crypto.randomUUID() })).body?.cancel();
  return await send();
};

/** The planted leak keeps every request in memory. */
const kept: Uint8Array[] = [];
const LEAK_BYTES = 512 * 1024;

function control({ pathname, searchParams }: URL): Response {
  if (pathname === `${CONTROL}clock`) offset = Number(searchParams.get("ms"));
  (globalThis as { gc?: () => void }).gc?.();
  return Response.json(Deno.memoryUsage());
}

const serve = Deno.serve;
Deno.serve = ((options: Deno.ServeTcpOptions, handler: Deno.ServeHandler) =>
  serve(options, (request, info) => {
    const url = new URL(request.url);
    if (url.pathname.startsWith(CONTROL)) return control(url);
    if (plant === "leak") kept.push(new Uint8Array(LEAK_BYTES).fill(kept.length));
    if (plant === "logged token") {
      Deno.stderr.writeSync(new TextEncoder().encode(`${request.headers.get("authorization")}\n`));
    }
    return handler(request, info);
  })) as typeof Deno.serve;

await import("../../edge/boot.ts");
