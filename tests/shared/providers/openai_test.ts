/** Requests to OpenAI, and the parsing of its responses, which follow its reference's example. */
import { assertEquals } from "@std/assert";
import { openai } from "../../../shared/providers/openai.ts";
import { asking, dayOfOctober, OCTOBER, said, unixSeconds } from "./asking.ts";

const credential = { api_key: "sk-admin-0123456789abcdef" };

const result = (value: unknown, currency = "usd") => ({
  object: "organization.costs.result",
  amount: { value, currency },
  line_item: null,
  project_id: null,
  api_key_id: null,
  quantity: null,
});
const bucket = (day: number, ...results: unknown[]) => ({
  object: "bucket",
  start_time: unixSeconds(dayOfOctober(day)),
  end_time: unixSeconds(dayOfOctober(day)) + 86_400,
  results,
});
const page = (data: unknown[], next_page: string | null = null) => ({
  object: "page",
  data,
  has_more: next_page !== null,
  next_page,
});
const answering = (...pages: unknown[]) => asking(openai, { credential, answer: (_asked, index) => pages[index] });

Deno.test("openai requests all days of the month at once, with the admin key", async () => {
  const { asked, outcome } = await answering(page([bucket(1, result(0.06)), bucket(31, result(1.5))]));
  assertEquals(asked.length, 1);
  const url = new URL(asked[0]!.url);
  assertEquals(url.origin + url.pathname, "https://api.openai.com/v1/organization/costs");
  assertEquals(Object.fromEntries(url.searchParams), {
    start_time: String(unixSeconds(OCTOBER.start)),
    end_time: String(unixSeconds(OCTOBER.end)),
    bucket_width: "1d",
    limit: "31",
  });
  assertEquals(asked[0]!.headers.authorization, `Bearer ${credential.api_key}`);
  assertEquals(outcome, { amount: "1.56", currency: "USD", pages: 1 });
});

Deno.test("openai follows the pages by cursor", async () => {
  const { asked, outcome } = await answering(
    page([bucket(1, result(0.1))], "page_AAA=="),
    page([bucket(2, result(0.2))], "page_BBB"),
    page([bucket(31, result(1e-7))]),
  );
  assertEquals(asked.map(({ url }) => new URL(url).searchParams.get("page")), [null, "page_AAA==", "page_BBB"]);
  assertEquals(asked.map(({ url }) => new URL(url).searchParams.get("limit")), ["31", "31", "31"]);
  assertEquals(outcome, { amount: "0.30", currency: "USD", pages: 3 });
});

Deno.test("openai accepts amounts as numbers and as text, and days without usage", async () => {
  const days = [bucket(1, result("0.8958740000000000")), bucket(2), bucket(3, result("0E-6176")), bucket(31)];
  assertEquals(said(await answering(page(days))), { amount: "0.90", currency: "USD", pages: 1 });
  assertEquals(said(await answering(page([bucket(31)]))), { amount: "0.00", currency: "USD", pages: 1 });
});

Deno.test("openai does not accept a report that ends before the month does", async () => {
  assertEquals(said(await answering(page([]))), "not_ready");
  assertEquals(said(await answering(page([1, 2, 3, 4, 5, 6, 7].map((day) => bucket(day, result(1)))))), "not_ready");
  assertEquals(said(await answering(page([bucket(30, result(1))]))), "not_ready");
});

Deno.test("openai refuses undocumented responses", async () => {
  const last = bucket(31, result(1));
  const nonsense = [
    null,
    [],
    {},
    { data: [last] },
    { ...page([last]), has_more: true },
    page([{ ...last, results: null }]),
    page([{ ...last, results: [{ amount: null }] }]),
    page([bucket(31, result(null))]),
    page([bucket(31, result("1,50"))]),
    page([bucket(31, result(1, "dollars"))]),
    page([bucket(30, result(1, "eur")), last]),
    page([last, last]),
    page([{ ...last, end_time: unixSeconds(OCTOBER.end) + 86_400 }]),
    page([{ ...last, end_time: last.start_time }]),
    page([{ ...last, start_time: unixSeconds(OCTOBER.start) - 86_400 }]),
    page([{ ...last, start_time: "soon" }]),
  ];
  for (const answer of nonsense) assertEquals(said(await answering(answer)), "bad_shape", JSON.stringify(answer));
});
