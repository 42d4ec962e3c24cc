/** Requests to a user's own service, and the parsing of its responses. */
import { assertEquals } from "@std/assert";
import { createProviderGet } from "../../../shared/providers/get.ts";
import { httpJson } from "../../../shared/providers/http_json.ts";
import type { ProviderError } from "../../../shared/providers/provider_error.ts";
import { asking, NOW, OCTOBER, said } from "./asking.ts";

const token = "0123456789abcdef";
const answering = (answer: unknown, url = "https://bills.example/power?meter=7") =>
  asking(httpJson, { credential: { url, token }, answer: () => answer });

const GOOD = { amount: "123.45", currency: "EUR", final: true };

Deno.test("http_json requests the month from the URL, keeping its query", async () => {
  const { asked, outcome } = await answering(GOOD);
  assertEquals(asked.map(({ url, headers }) => [url, headers.authorization]), [
    ["https://bills.example/power?meter=7&period_start=2026-10-01&period_end=2026-11-01", `Bearer ${token}`],
  ]);
  assertEquals(outcome, { amount: "123.45", currency: "EUR", pages: 1 });
  const given = await answering(GOOD, "https://bills.example/?period_start=x&period_start=y");
  assertEquals(new URL(given.asked[0]!.url).search, "?period_start=2026-10-01&period_end=2026-11-01");
});

Deno.test("http_json accepts an amount as text or number, and an optional due date", async () => {
  assertEquals(said(await answering(new Response('{"amount":1234.50,"currency":"jpy","final":true}'))), {
    amount: "1235",
    currency: "JPY",
    pages: 1,
  });
  assertEquals(said(await answering({ ...GOOD, due_on: "2026-11-20" })), {
    amount: "123.45",
    currency: "EUR",
    pages: 1,
    dueOn: "2026-11-20",
  });
  assertEquals(said(await answering({ ...GOOD, due_on: null })), { amount: "123.45", currency: "EUR", pages: 1 });
});

Deno.test("http_json has no amount until a final one exists", async () => {
  for (const status of [404, 409, 425]) {
    assertEquals(said(await answering(new Response("later", { status }))), "not_ready", String(status));
  }
  assertEquals(said(await answering({ ...GOOD, final: false })), "not_ready");
  // A non-final response need not have an amount.
  assertEquals(said(await answering({ final: false })), "not_ready");
});

Deno.test("http_json refuses malformed statements and other responses", async () => {
  for (
    const answer of [
      {},
      [],
      { ...GOOD, final: undefined },
      { ...GOOD, final: "true" },
      { ...GOOD, amount: null },
      { ...GOOD, amount: "123,45" },
      { ...GOOD, currency: "euro" },
      { ...GOOD, currency: undefined },
      { ...GOOD, due_on: "20 November" },
      { ...GOOD, due_on: "2026-13-01" },
      { ...GOOD, due_on: "2026-02-31" },
      { ...GOOD, due_on: "0000-01-01" },
      new Response("", { status: 202 }),
      new Response("<h1>Hello</h1>"),
    ]
  ) {
    assertEquals(said(await answering(answer)), "bad_shape", JSON.stringify(answer));
  }
});

Deno.test("http_json limits the size of its response", async () => {
  assertEquals(said(await answering({ ...GOOD, note: "x".repeat(60_000) })), {
    amount: "123.45",
    currency: "EUR",
    pages: 1,
  });
  assertEquals(said(await answering({ ...GOOD, note: "x".repeat(65_536) })), "bad_shape");
});

Deno.test("http_json uses only the guarded fetch and doesn't reveal the response", async () => {
  const expected = {
    address_not_public: "upstream",
    unresolvable: "upstream",
    unreachable: "upstream",
    tls_failed: "upstream",
    timed_out: "timeout",
    too_large: "bad_shape",
    encoded: "bad_shape",
    malformed: "bad_shape",
    ip_address: "bad_shape",
    not_https: "bad_shape",
    host_refused: "bad_shape",
  } as const;
  const messages = new Map<string, string>();
  for (const [reason, code] of Object.entries(expected)) {
    const get = createProviderGet({
      provider: httpJson,
      bases: { http_json: "http://127.0.0.1:1" },
      fetch: () => Promise.reject(new Error("unexpected fetch")),
      guardedFetch: () => Promise.resolve({ ok: false, reason: reason as keyof typeof expected }),
      clock: () => NOW,
      signal: AbortSignal.timeout(5000),
    });
    const credential = { url: "https://bills.example/?key=c4nary", token: "c4nary-token" };
    const failure: ProviderError = await httpJson.fetchMonth({ month: OCTOBER, credential, get }).then(
      () => Promise.reject(new Error("there is no amount")),
      (thrown) => thrown,
    );
    assertEquals(failure.code, code, reason);
    assertEquals(Deno.inspect(failure).includes("c4nary"), false);
    messages.set(reason, failure.message);
  }
  // An internal address is indistinguishable from a nonexistent one.
  assertEquals(messages.get("address_not_public"), messages.get("unresolvable"));
});

Deno.test("http_json is labeled by its URL's host, since the rest may be secret", () => {
  assertEquals(httpJson.label({ url: "https://bills.example/s3cret?key=s3cret", token }), "bills.example");
  assertEquals(httpJson.label({ url: "https://", token }), "Address");
});
