/**
 * Invoices of a DigitalOcean team, issued on the first of the next month, in dollars. A month without an invoice is not
 * ready, because the preview grows daily and is not final.
 *
 * https://docs.digitalocean.com/reference/api/reference/billing/ (GET /v2/customers/my/invoices): up to 200 per page,
 * the next page at `links.pages.next`.
 */
import * as z from "zod/mini";
import { expectShape } from "./expect_shape.ts";
import { ending } from "./label.ts";
import { MonthTotal } from "./month_total.ts";
import { readPages } from "./pages.ts";
import type { Provider } from "./provider.ts";
import { ProviderError } from "./provider_error.ts";

const Page = z.object({
  invoices: z.array(z.object({ amount: z.string(), invoice_period: z.string() })),
  links: z.optional(z.object({ pages: z.optional(z.object({ next: z.optional(z.string()) })) })),
});

export const digitalocean: Provider = {
  key: "digitalocean",
  name: "DigitalOcean",
  base: "https://api.digitalocean.com",
  fields: [{
    name: "token",
    words: ({ digitalocean }) => digitalocean.token,
    isSecret: true,
    pattern: /do[op]_v1_[\w-]{16,200}/,
  }],
  label: ({ token = "" }) => `Team ${ending(token)}`,

  async fetchMonth({ month, credential, get }) {
    const total = new MonthTotal("USD");
    const period = month.start.slice(0, 7);
    let isIssued = false;
    const pages = await readPages("/v2/customers/my/invoices?per_page=200", async (url) => {
      const answer = await get({ url, headers: { authorization: `Bearer ${credential.token}` } });
      const { invoices, links } = expectShape(Page, await answer.json());
      // A month can have several, for example when a team changed owners.
      for (const { amount, invoice_period } of invoices) {
        if (invoice_period !== period) continue;
        total.add(amount, "USD");
        isIssued = true;
      }
      return links?.pages?.next;
    });
    if (!isIssued) throw new ProviderError("not_ready", "There is no invoice for the month yet");
    return total.statement(pages);
  },
};
