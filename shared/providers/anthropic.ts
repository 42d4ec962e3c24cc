/**
 * Costs of an Anthropic organization, in daily buckets. Amounts are cents, as decimal text: `"123.78912"` is 1.24
 * dollars. https://platform.claude.com/docs/en/api/admin/cost_report/retrieve (GET /v1/organizations/cost_report):
 * seven buckets per page by default, up to 31 with `limit`; the next page with `page` = `next_page`. No report
 * contains Priority Tier costs, and individual accounts have no reports.
 */
import * as z from "zod/mini";
import { expectShape } from "./expect_shape.ts";
import { ending } from "./label.ts";
import { ReportedDays } from "./month.ts";
import { MonthTotal } from "./month_total.ts";
import { nextCursor, readPages } from "./pages.ts";
import type { Provider } from "./provider.ts";

const Page = z.object({
  data: z.array(z.object({
    starting_at: z.string(),
    ending_at: z.string(),
    results: z.array(z.object({ amount: z.string(), currency: z.string() })),
  })),
  has_more: z.boolean(),
  next_page: z.nullish(z.string()),
});

export const anthropic: Provider = {
  key: "anthropic",
  name: "Anthropic",
  base: "https://api.anthropic.com",
  fields: [{
    name: "api_key",
    words: ({ anthropic }) => anthropic.api_key,
    isSecret: true,
    pattern: /sk-ant-admin[\w-]{16,300}/,
  }],
  label: ({ api_key = "" }) => `Organization ${ending(api_key)}`,

  async fetchMonth({ month, credential, get }) {
    const total = new MonthTotal("USD");
    const days = new ReportedDays(month);
    const query = new URLSearchParams({
      starting_at: `${month.start}T00:00:00Z`,
      ending_at: `${month.end}T00:00:00Z`,
      bucket_width: "1d",
      limit: "31",
    });
    const headers = { "x-api-key": credential.api_key!, "anthropic-version": "2023-06-01" };
    const pages = await readPages(`/v1/organizations/cost_report?${query}`, async (url) => {
      const answer = await get({ url, headers });
      const page = expectShape(Page, await answer.json());
      for (const { starting_at, ending_at, results } of page.data) {
        days.add(Date.parse(starting_at), Date.parse(ending_at));
        for (const { amount, currency } of results) total.add(amount, currency, { isMinor: true });
      }
      const cursor = nextCursor(page);
      return cursor && `/v1/organizations/cost_report?${query}&page=${encodeURIComponent(cursor)}`;
    });
    days.demandEnd();
    return total.statement(pages);
  },
};
