/**
 * Costs of an OpenAI organization in dollars, in daily buckets by UTC.
 * https://developers.openai.com/api/reference/resources/organization (GET /organization/costs): seven buckets per page
 * by default, more with `limit`; the next page with `page` = `next_page`. Amounts are numbers or, from their decimal
 * type, strings (`0.8958740000000000`).
 */
import * as z from "zod/mini";
import { expectShape } from "./expect_shape.ts";
import { ending } from "./label.ts";
import { ReportedDays, startOf } from "./month.ts";
import { MonthTotal } from "./month_total.ts";
import { nextCursor, readPages } from "./pages.ts";
import type { Provider } from "./provider.ts";

const Page = z.object({
  data: z.array(z.object({
    start_time: z.string(),
    end_time: z.string(),
    results: z.array(z.object({ amount: z.object({ value: z.string(), currency: z.string() }) })),
  })),
  has_more: z.boolean(),
  next_page: z.nullish(z.string()),
});

export const openai: Provider = {
  key: "openai",
  name: "OpenAI",
  base: "https://api.openai.com",
  fields: [{
    name: "api_key",
    words: ({ openai }) => openai.api_key,
    isSecret: true,
    pattern: /sk-admin-[\w-]{16,300}/,
  }],
  label: ({ api_key = "" }) => `Organization ${ending(api_key)}`,

  async fetchMonth({ month, credential, get }) {
    const total = new MonthTotal("USD");
    const days = new ReportedDays(month);
    const query = new URLSearchParams({
      start_time: String(startOf(month.start) / 1000),
      end_time: String(startOf(month.end) / 1000),
      bucket_width: "1d",
      limit: "31",
    });
    const pages = await readPages(`/v1/organization/costs?${query}`, async (url) => {
      const answer = await get({ url, headers: { authorization: `Bearer ${credential.api_key}` } });
      const page = expectShape(Page, await answer.json());
      for (const { start_time, end_time, results } of page.data) {
        days.add(Number(start_time) * 1000, Number(end_time) * 1000);
        for (const { amount } of results) total.add(amount.value, amount.currency);
      }
      const cursor = nextCursor(page);
      return cursor && `/v1/organization/costs?${query}&page=${encodeURIComponent(cursor)}`;
    });
    days.demandEnd();
    return total.statement(pages);
  },
};
