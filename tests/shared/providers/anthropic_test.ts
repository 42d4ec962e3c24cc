/** Requests to Anthropic, and the parsing of its responses, which follow its reference's example. */
import { assertEquals } from "@std/assert";
import { anthropic } from "../../../shared/providers/anthropic.ts";
import { asking, dayOfOctober, said } from "./asking.ts";

const credential = { api_key: "sk-ant-admin01-0123456789abcdef" };

const result = (amount: unknown, currency = "USD") => ({
  currency,
  amount,
  workspace_id: null,
  description: null,
  cost_type: null,
  context_window: null,
  model: null,
  service_tier: null,
  token_type: null,
});
const bucket = (day: number, ...results: unknown[]) => ({
  starting_at: `${dayOfOctober(day)}T00:00:00Z`,
  ending_at: day === 31 ? "2026-11-01T00:00:00Z" : `${dayOfOctober(day + 1)}T00:00:00Z`,
  results,
});
const page = (data: unknown[], next_page: string | null = null) => ({ data, has_more: next_page !== null, next_page });
const answering = (...pages: unknown[]) => asking(anthropic, { credential, answer: (_asked, index) => pages[index] });

Deno.test("anthropic requests all days of the month at once, with key and version", async () => {
  const { asked, outcome } = await answering(page([bucket(1, result("123.78912")), bucket(31, result("1"))]));
  const url = new URL(asked[0]!.url);
  assertEquals(url.origin + url.pathname, "https://api.anthropic.com/v1/organizations/cost_report");
  assertEquals(Object.fromEntries(url.searchParams), {
    starting_at: "2026-10-01T00:00:00Z",
    ending_at: "2026-11-01T00:00:00Z",
    bucket_width: "1d",
    limit: "31",
  });
  const { "x-api-key": key, "anthropic-version": version, authorization } = asked[0]!.headers;
  assertEquals([key, version, authorization], [credential.api_key, "2023-06-01", undefined]);
  // Cents: 124.78912 of them.
  assertEquals(outcome, { amount: "1.25", currency: "USD", pages: 1 });
});

Deno.test("anthropic follows the pages by cursor", async () => {
  const { asked, outcome } = await answering(
    page([bucket(1, result("10.4"))], "page_MjAyNS0wNS0xNFQwMDowMDowMFo="),
    page([bucket(31, result("0.1"))]),
  );
  assertEquals(new URL(asked[1]!.url).searchParams.get("page"), "page_MjAyNS0wNS0xNFQwMDowMDowMFo=");
  assertEquals(outcome, { amount: "0.11", currency: "USD", pages: 2 });
});

Deno.test("anthropic does not accept a report that ends before the month does", async () => {
  assertEquals(said(await answering(page([]))), "not_ready");
  assertEquals(
    said(await answering(page([1, 2, 3, 4, 5, 6, 7].map((day) => bucket(day, result("100")))))),
    "not_ready",
  );
});

Deno.test("anthropic refuses undocumented responses", async () => {
  const last = bucket(31, result("1"));
  for (
    const answer of [
      { data: [last], next_page: null },
      page([bucket(31, result(null))]),
      page([bucket(31, result("$1"))]),
      page([bucket(30, result("1", "EUR")), last]),
      page([{ ...last, starting_at: "2026-09-30T00:00:00Z" }]),
      page([{ ...last, ending_at: "in a moment" }]),
      page([last, last]),
      { type: "error", error: { type: "invalid_request_error", message: "no" } },
    ]
  ) {
    assertEquals(said(await answering(answer)), "bad_shape", JSON.stringify(answer));
  }
});
