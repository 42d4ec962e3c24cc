/** Calls of providers: URLs, time and size limits, and the meaning of each status. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import { createProviderGet, type ProviderGetOptions, type ProviderRequest } from "../../../shared/providers/get.ts";
import { ProviderError } from "../../../shared/providers/provider_error.ts";
import { NOW } from "./asking.ts";

const provider = { key: "openai", base: "https://api.openai.com" };

const getBy = (fetch: ProviderGetOptions["fetch"], more: Partial<ProviderGetOptions> = {}) =>
  createProviderGet({
    provider,
    bases: {},
    fetch,
    guardedFetch: () => Promise.reject(new Error("unexpected guarded fetch")),
    clock: () => NOW,
    signal: AbortSignal.timeout(5000),
    ...more,
  });
const answering = (response: () => Response) => getBy(() => Promise.resolve(response()));
const request: ProviderRequest = { url: "/v1/costs?x=1", headers: { authorization: "Bearer c4nary" } };
const failureOf = (asking: Promise<unknown>) => assertRejects(() => asking, ProviderError);

Deno.test("get() calls the provider's base, or the configured one", async () => {
  const asked: string[] = [];
  const fetch: ProviderGetOptions["fetch"] = (url, init) => {
    asked.push(String(url));
    assertEquals([init?.redirect, init?.method], ["manual", undefined]);
    return Promise.resolve(Response.json({}));
  };
  await getBy(fetch)(request);
  await getBy(fetch, { bases: { openai: "http://127.0.0.1:8000/openai/", github: "http://other.example" } })(request);
  await getBy(fetch, { bases: { openai: "http://127.0.0.1:8000/openai" } })({
    ...request,
    url: "http://127.0.0.1:8000/openai/v1/costs?page=2",
  });
  assertEquals(asked, [
    "https://api.openai.com/v1/costs?x=1",
    "http://127.0.0.1:8000/openai/v1/costs?x=1",
    "http://127.0.0.1:8000/openai/v1/costs?page=2",
  ]);
});

Deno.test("get() calls no other origin, whatever a provider returns", async () => {
  const get = getBy(() => Promise.reject(new Error("asked")));
  for (const url of ["https://api.openai.co/v1", "http://api.openai.com/v1", "https://api.openai.com:444/", "v1", ""]) {
    assertEquals((await failureOf(get({ ...request, url }))).code, "bad_shape", url);
  }
});

Deno.test("get() maps each status", async () => {
  const codes: Record<number, string> = {
    201: "bad_shape",
    204: "bad_shape",
    301: "bad_shape",
    304: "bad_shape",
    307: "bad_shape",
    400: "bad_shape",
    401: "auth",
    403: "auth",
    404: "bad_shape",
    408: "upstream",
    410: "bad_shape",
    422: "bad_shape",
    429: "rate_limited",
    500: "upstream",
    503: "upstream",
    529: "upstream",
  };
  for (const [status, code] of Object.entries(codes)) {
    const get = answering(() =>
      new Response(status === "204" || status === "304" ? null : "{}", { status: Number(status) })
    );
    assertEquals((await failureOf(get(request))).code, code, status);
  }
  const conflict = answering(() => new Response("{}", { status: 409 }));
  assertEquals((await failureOf(conflict({ ...request, means: { 409: "not_ready" } }))).code, "not_ready");
  assertEquals((await conflict({ ...request, alsoReads: [409] })).status, 409);
});

Deno.test("get() reads the time to wait in every format, and caps it", async () => {
  const waits: [HeadersInit, number | undefined][] = [
    [{ "retry-after": "60" }, 60],
    [{ "retry-after": "0" }, 1],
    [{ "retry-after": "Mon, 02 Nov 2026 06:05:00 GMT" }, 300],
    [{ "retry-after": "Mon, 02 Nov 2026 05:00:00 GMT" }, 1],
    [{ "x-ratelimit-reset": String(NOW.getTime() / 1000 + 45) }, 45],
    [{ "retry-after": "999999999" }, 82_800],
    [{ "retry-after": "Fri, 31 Dec 9999 23:59:59 GMT" }, 82_800],
    [{ "retry-after": "soon" }, undefined],
    [{ "retry-after": "-5" }, undefined],
    [{ "retry-after": "2026-11-02" }, undefined],
    [{}, undefined],
  ];
  for (const [headers, seconds] of waits) {
    const failure = await failureOf(answering(() => new Response("{}", { status: 429, headers }))(request));
    assertEquals([failure.code, failure.retryAfterSeconds], ["rate_limited", seconds], JSON.stringify(headers));
  }
});

Deno.test("get() closes a connection that it no longer needs", async () => {
  for (const [status, read] of [[500, false], [200, true]] as const) {
    let isCancelled = false;
    const endless = () =>
      new ReadableStream<Uint8Array>({
        pull: (stream) => stream.enqueue(new Uint8Array(65_536).fill(0x20)),
        cancel: () => void (isCancelled = true),
      });
    const asking = answering(() => new Response(endless(), { status }))(request);
    const failure = await failureOf(read ? asking.then((answer) => answer.json()) : asking);
    assertEquals([failure.code, isCancelled], [read ? "bad_shape" : "upstream", true]);
  }
});

Deno.test("get() ends at its deadline, before a response and in the middle of one, even when the signal is ignored", async () => {
  const deaf = getBy(() => new Promise<Response>(() => {}), { signal: AbortSignal.timeout(20) });
  assertEquals((await failureOf(deaf(request))).code, "timeout");
  const stalling = getBy(
    () =>
      Promise.resolve(new Response(new ReadableStream({ start: (stream) => stream.enqueue(new Uint8Array([0x5b])) }))),
    { signal: AbortSignal.timeout(20) },
  );
  assertEquals((await failureOf(stalling(request).then((answer) => answer.json()))).code, "timeout");
  const late = getBy(() => Promise.resolve(Response.json({})), { signal: AbortSignal.abort() });
  assertEquals((await failureOf(late(request))).code, "timeout");
  const guarded = createProviderGet({
    provider: { key: "http_json" },
    bases: {},
    fetch,
    guardedFetch: () => new Promise(() => {}),
    clock: () => NOW,
    signal: AbortSignal.timeout(20),
  });
  assertEquals((await failureOf(guarded({ ...request, url: "https://bills.example/" }))).code, "timeout");
});

Deno.test("get() reads only JSON, with its original digits", async () => {
  const read = async (body: BodyInit) => (await answering(() => new Response(body))(request)).json();
  assertEquals(await read('{"a":0.10,"b":[1e-7,-0],"c":"0.1","d":null,"e":12345678901234567890}'), {
    a: "0.10",
    b: ["1e-7", "-0"],
    c: "0.1",
    d: null,
    e: "12345678901234567890",
  });
  const deep = "[".repeat(2_000_000) + "]".repeat(2_000_000);
  for (const body of ["", "<html>", "{", "NaN", '{"a":1}x', deep, new Uint8Array([0x22, 0xc3, 0x22])]) {
    assertEquals((await failureOf(read(body))).code, "bad_shape");
  }
});

Deno.test("get() throws only typed failures, without secrets", async () => {
  const throwing = [
    () => Promise.reject(new TypeError("error sending request for url (https://api.openai.com/?key=c4nary)")),
    () => Promise.reject("c4nary"),
    () => Promise.resolve(new Response(new ReadableStream({ start: (stream) => stream.error(new Error("c4nary")) }))),
  ];
  for (const fetch of throwing) {
    const failure = await failureOf(getBy(fetch)(request).then((answer) => answer.json()));
    assertEquals(failure.code, "upstream");
    assert(!Deno.inspect(failure, { depth: 9 }).includes("c4nary") && failure.cause === undefined);
  }
  // A credential that no header can contain is malformed, and must not leak.
  const real = getBy((url, init) => Promise.resolve(new Response(null, { headers: new Request(url, init).headers })));
  const failure = await failureOf(real({ ...request, headers: { authorization: "Bearer c4nary\r\nx: y" } }));
  assert(!Deno.inspect(failure).includes("c4nary"));
});
