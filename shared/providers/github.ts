/**
 * Metered usage of a GitHub organization or personal account, in dollars after discounts, without seats and plans.
 * https://docs.github.com/en/rest/billing/usage (GET /organizations/{org}/settings/billing/usage, GET
 * /users/{username}/settings/billing/usage): one response, no pages. Accounts without permission get 404.
 */
import * as z from "zod/mini";
import { expectShape } from "./expect_shape.ts";
import { isWithin } from "./month.ts";
import { MonthTotal } from "./month_total.ts";
import type { Provider } from "./provider.ts";
import { ProviderError } from "./provider_error.ts";

const Report = z.object({ usageItems: z.array(z.object({ date: z.string(), netAmount: z.string() })) });

/** The report is one response: a line per day, product and repository. */
const MAX_BYTES = 5_000_000;

export const github: Provider = {
  key: "github",
  name: "GitHub",
  base: "https://api.github.com",
  fields: [{
    name: "account",
    words: ({ github }) => github.account,
    isSecret: false,
    pattern: /(users\/)?[A-Za-z\d](-?[A-Za-z\d]){0,38}/,
  }, {
    name: "token",
    words: ({ github }) => github.token,
    isSecret: true,
    pattern: /(github_pat|gh[opu])_[\w-]{16,255}/,
  }],
  label: ({ account = "" }) => account,

  async fetchMonth({ month, credential, get }) {
    const [name, isUser] = credential.account!.split("/").toReversed();
    const [year, number] = month.start.split("-");
    const query = new URLSearchParams({ year: year!, month: String(Number(number)) });
    const answer = await get({
      url: `/${isUser ? "users" : "organizations"}/${encodeURIComponent(name!)}/settings/billing/usage?${query}`,
      headers: {
        authorization: `Bearer ${credential.token}`,
        accept: "application/vnd.github+json",
        "x-github-api-version": "2022-11-28",
      },
      means: { 404: "auth" },
      maxBytes: MAX_BYTES,
    });
    const { usageItems } = expectShape(Report, await answer.json());
    if (usageItems.length === 0) throw new ProviderError("not_ready", "There is no usage for the month yet");
    const total = new MonthTotal("USD");
    for (const { date, netAmount } of usageItems) {
      if (!isWithin(month, Date.parse(date))) throw new ProviderError("bad_shape", "The report covers another period");
      total.add(netAmount, "USD");
    }
    return total.statement(1);
  },
};
