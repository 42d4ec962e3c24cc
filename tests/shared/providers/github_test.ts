/** Requests to GitHub, and the parsing of its responses, which follow its reference's example. */
import { assertEquals } from "@std/assert";
import { github } from "../../../shared/providers/github.ts";
import { asking, said } from "./asking.ts";

const token = "github_pat_0123456789abcdef";

const item = (netAmount: unknown, date: unknown = "2026-10-01") => ({
  date,
  product: "Actions",
  sku: "Actions Linux",
  quantity: 100,
  unitType: "minutes",
  pricePerUnit: 0.008,
  grossAmount: 0.8,
  discountAmount: 0,
  netAmount,
  organizationName: "GitHub",
  repositoryName: "github/example",
});
const answering = (answer: unknown, account = "octo-org") =>
  asking(github, { credential: { account, token }, answer: () => answer });

Deno.test("github requests the month of an organization, or of a user", async () => {
  const { asked, outcome } = await answering({ usageItems: [item(0.8), item(0.1, "2026-10-31T00:00:00Z")] });
  assertEquals(
    asked[0]!.url,
    "https://api.github.com/organizations/octo-org/settings/billing/usage?year=2026&month=10",
  );
  const { authorization, accept, "x-github-api-version": version, "user-agent": agent } = asked[0]!.headers;
  assertEquals([authorization, accept, version], [`Bearer ${token}`, "application/vnd.github+json", "2022-11-28"]);
  assertEquals(typeof agent, "string");
  assertEquals(outcome, { amount: "0.90", currency: "USD", pages: 1 });

  const user = await answering({ usageItems: [item(1)] }, "users/monalisa");
  assertEquals(user.asked[0]!.url, "https://api.github.com/users/monalisa/settings/billing/usage?year=2026&month=10");
  const january = await asking(github, {
    credential: { account: "octo-org", token },
    month: { start: "2026-01-01", end: "2026-02-01" },
    answer: () => ({ usageItems: [] }),
  });
  assertEquals(new URL(january.asked[0]!.url).search, "?year=2026&month=1");
});

Deno.test("github counts the net amount after discounts, digit for digit", async () => {
  const text = `{"usageItems":[${
    Array.from({ length: 1000 }, () =>
      '{"date":"2026-10-02","grossAmount":9,"netAmount":0.1},{"date":"2026-10-02","grossAmount":9,"netAmount":0.2}')
      .join()
  },{"date":"2026-10-03","netAmount":5e-3},{"date":"2026-10-03","netAmount":-1.25}]}`;
  assertEquals(said(await answering(new Response(text))), { amount: "298.76", currency: "USD", pages: 1 });
});

Deno.test("github's report without lines is not ready, but one with free lines is", async () => {
  assertEquals(said(await answering({ usageItems: [] })), "not_ready");
  assertEquals(said(await answering({ usageItems: [item(0)] })), { amount: "0.00", currency: "USD", pages: 1 });
});

Deno.test("github's 404 means that the token may not see the account, and its 403 may be a rate limit", async () => {
  const refuse = (status: number, headers: HeadersInit = {}) => new Response("{}", { status, headers });
  assertEquals(said(await answering(refuse(404))), "auth");
  assertEquals(said(await answering(refuse(403))), "auth");
  assertEquals(said(await answering(refuse(403, { "x-ratelimit-remaining": "17" }))), "auth");
  assertEquals(said(await answering(refuse(403, { "retry-after": "60" }))), "rate_limited");
  assertEquals(said(await answering(refuse(403, { "x-ratelimit-remaining": "0" }))), "rate_limited");
});

Deno.test("github refuses undocumented responses", async () => {
  for (
    const answer of [
      {},
      { usageItems: {} },
      { usageItems: [{ ...item(1), netAmount: undefined }] },
      { usageItems: [item("free")] },
      { usageItems: [item(1, "2026-11-01")] },
      { usageItems: [item(1, "2026-09-30T23:59:59Z")] },
      { usageItems: [item(1, "October")] },
    ]
  ) {
    assertEquals(said(await answering(answer)), "bad_shape", JSON.stringify(answer));
  }
});

Deno.test("github's account name cannot change the path", async () => {
  const { asked } = await answering({ usageItems: [] }, "users/..%2f?x=#");
  assertEquals(new URL(asked[0]!.url).pathname, "/users/..%252f%3Fx%3D%23/settings/billing/usage");
});
