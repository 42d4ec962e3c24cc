/**
 * Charges of a Vercel team in the FOCUS format: a JSON line per service, project and day, each with its currency.
 * https://vercel.com/docs/rest-api/billing/list-focus-billing-charges (GET /v1/billing/charges): `to` is exclusive,
 * days are in UTC, no pages. A month without charges and one with pending charges both return 404 `costs_not_found`,
 * so this counts as not ready, never as 0.
 */
import * as z from "zod/mini";
import { expectShape } from "./expect_shape.ts";
import { isWithin } from "./month.ts";
import { MonthTotal } from "./month_total.ts";
import type { Provider } from "./provider.ts";
import { ProviderError } from "./provider_error.ts";

const Charge = z.object({ BilledCost: z.string(), BillingCurrency: z.string(), ChargePeriodStart: z.string() });
const Refusal = z.object({ error: z.object({ code: z.string() }) });

/** Busy teams have 15 MB a month; lines are summed on arrival and not kept. */
const MAX_BYTES = 50_000_000;

export const vercel: Provider = {
  key: "vercel",
  name: "Vercel",
  base: "https://api.vercel.com",
  fields: [{
    name: "team_id",
    words: ({ vercel }) => vercel.team_id,
    isSecret: false,
    pattern: /team_[A-Za-z\d]{8,64}/,
  }, {
    name: "token",
    words: ({ vercel }) => vercel.token,
    isSecret: true,
    pattern: /[\w-]{20,200}/,
  }],
  label: ({ team_id = "" }) => team_id,

  async fetchMonth({ month, credential, get }) {
    const query = new URLSearchParams({
      teamId: credential.team_id!,
      from: `${month.start}T00:00:00.000Z`,
      to: `${month.end}T00:00:00.000Z`,
    });
    const answer = await get({
      url: `/v1/billing/charges?${query}`,
      headers: { authorization: `Bearer ${credential.token}`, accept: "application/jsonl" },
      alsoReads: [404],
      maxBytes: MAX_BYTES,
    });
    if (answer.status === 404) {
      const { error } = expectShape(Refusal, await answer.json());
      if (error.code !== "costs_not_found") throw new ProviderError("bad_shape", "There is no such team");
      throw new ProviderError("not_ready", "There are no charges for the month yet");
    }
    const total = new MonthTotal("USD");
    let charges = 0;
    for await (const line of answer.jsonLines()) {
      const { BilledCost, BillingCurrency, ChargePeriodStart } = expectShape(Charge, line);
      const start = Date.parse(ChargePeriodStart);
      if (Number.isNaN(start)) throw new ProviderError("bad_shape", "A charge has no valid start");
      // Earlier bills contain charges that started earlier, such as yearly ones.
      if (!isWithin(month, start)) continue;
      total.add(BilledCost, BillingCurrency);
      charges++;
    }
    if (charges === 0) throw new ProviderError("not_ready", "There are no charges for the month yet");
    return total.statement(1);
  },
};
