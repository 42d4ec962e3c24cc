/**
 * A generic service that reports monthly costs in our own format. The request is `GET
 * <address>?period_start=YYYY-MM-DD&period_end=YYYY-MM-DD` (end exclusive) with `Authorization: Bearer <token>`. The
 * response is 200 `{"amount": "123.45", "currency": "EUR", "final": true}`, optionally with `"due_on": "YYYY-MM-DD"`.
 * 404, 409 and 425, or `"final": false`, mean that the month has no final amount yet.
 *
 * A person supplies the URL, so only the guarded fetch may request it.
 */
import * as z from "zod/mini";
import { isDay } from "../iso_day.ts";
import { expectShape } from "./expect_shape.ts";
import { MonthTotal } from "./month_total.ts";
import type { Provider } from "./provider.ts";
import { ProviderError } from "./provider_error.ts";

/** Fits an amount and some description; exact JSON parsing is slow, so larger bodies are rejected. */
const MAX_BYTES = 65_536;

const Answer = z.object({
  amount: z.string(),
  currency: z.string(),
  final: z.boolean(),
  due_on: z.nullish(z.string().check(z.refine((day) => isDay(day) && day >= "1990"))),
});
const NotFinal = z.object({ final: z.literal(false) });

export const httpJson: Provider = {
  key: "http_json",
  name: "HTTP JSON",
  fields: [{
    name: "url",
    words: ({ http_json }) => http_json.url,
    isSecret: false,
    pattern: /https:\/\/[^\s#@\\]{1,2000}/,
  }, {
    name: "token",
    words: ({ http_json }) => http_json.token,
    isSecret: true,
    pattern: /[\w.~+/=-]{8,2000}/,
  }],
  label: ({ url = "" }) => URL.canParse(url) ? new URL(url).hostname : "Address",

  async fetchMonth({ month, credential, get }) {
    const url = URL.canParse(credential.url!) ? new URL(credential.url!) : undefined;
    url?.searchParams.set("period_start", month.start);
    url?.searchParams.set("period_end", month.end);
    const answer = await get({
      url: url?.href ?? credential.url!,
      headers: { authorization: `Bearer ${credential.token}` },
      maxBytes: MAX_BYTES,
      means: { 404: "not_ready", 409: "not_ready", 425: "not_ready" },
    });
    const said = await answer.json();
    if (NotFinal.safeParse(said).success) {
      throw new ProviderError("not_ready", "The amount for the month is not final yet");
    }
    const { amount, currency, due_on } = expectShape(Answer, said);
    const total = new MonthTotal(currency);
    total.add(amount, currency);
    return { ...total.statement(1), ...(due_on && { dueOn: due_on }) };
  },
};
