/** A malformed answer from the database never counts as success. */
import { assertEquals, assertRejects } from "@std/assert";
import { asking } from "../../shared/db/answer.ts";
import { AppError } from "../../shared/errors.ts";
import { ANSWERS } from "../_support/answers.ts";

const LIES = [{}, [], "", { ok: true }, { outcome: null }, { outcome: {} }, { outcome: "limited", retry_after: "1" }];

/** Lists and maps, which may be empty, and results that nobody reads: recorded runs, uses, mails and events. */
const UNASKED = [
  ...["claim_mails", "fill_inbound_mail", "find_days_to_rate", "find_rolling_pages", "find_stale_credentials"],
  ...["read_provider_credentials", "read_rates_of_day", "record_job_run", "record_use", "settle_event"],
  ...["settle_inbound_mail", "settle_mail"],
];

Deno.test("an answer that does not match its function's schema counts as an outage, not a refusal", async () => {
  const believed = new Set<string>();
  for (const [name, schema] of Object.entries(ANSWERS)) {
    for (const lie of LIES) {
      if (schema.safeParse(lie).success) {
        believed.add(name);
        continue;
      }
      const ask = asking({ call: () => Promise.resolve(lie) }, ANSWERS);
      assertEquals((await assertRejects(() => ask(name, {}), AppError)).code, "unavailable", name);
    }
  }
  assertEquals([...believed].toSorted(), UNASKED);
});
