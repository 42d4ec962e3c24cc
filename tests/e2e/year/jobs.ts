/** The two scheduled jobs, with the outside world of a year: mails that arrive, rates by day, statements by month. */
import { assertEquals } from "@std/assert";
import {
  asDatabase,
  centralBanksJson,
  createJob,
  ecbXml,
  frankfurterJson,
  mailService,
  type SentMail,
  withRates,
} from "../../functions/cron-reminders/harness.ts";
import { addLink, createSync, fakeProvider, registryOf } from "../../functions/cron-provider-sync/harness.ts";
import type { TestDatabase } from "../../_support/database.ts";
import { plus } from "./days.ts";
import { publishedOn, ratesOf, say } from "./money.ts";
import type { Organization } from "./organization.ts";

const PROVIDER = "meter";

export interface Jobs {
  /** The daily job: the mails it sent. */
  remind(): Promise<SentMail[]>;
  /** The monthly job. */
  sync(): Promise<void>;
}

/** @param statement the provider's amount for a month, in minor units of the account's currency */
export function openJobs(
  database: TestDatabase,
  { clock, statement }: { clock: () => Date; statement: (account: string, month: string) => number },
): Jobs {
  const mails = mailService();
  const today = () => clock().toISOString().slice(0, 10);
  const dayOf = (url: string) => /\d{4}-\d{2}-\d{2}/.exec(url)![0];
  const daily = createJob({
    database: asDatabase(database),
    now: clock,
    workMs: 20_000,
    fetch: withRates(mails.fetch, {
      // In the morning, the newest rates are the previous working day's.
      ecb: () => {
        const day = publishedOn(plus(today(), -1));
        return new Response(ecbXml(day, { rates: ratesOf(day) }));
      },
      past: (url) => {
        const day = dayOf(url);
        return new Response(
          url.includes("/v2/")
            ? centralBanksJson(day, ratesOf(day))
            : frankfurterJson(publishedOn(day), ratesOf(publishedOn(day))),
        );
      },
    }),
  });
  const monthly = createSync({
    database: asDatabase(database),
    now: clock,
    registry: registryOf(fakeProvider(PROVIDER, ({ month, credential: { account } }) => {
      const currency = account!;
      return { amount: say(statement(currency, month.start), currency), currency };
    })),
  });
  let seen = 0;
  return {
    async remind() {
      const { ok, errors } = await daily.run();
      assertEquals([ok, errors], [true, []], today());
      const sent = mails.delivered.slice(seen);
      seen = mails.delivered.length;
      return sent;
    },
    async sync() {
      const { ok, errors } = await monthly.run();
      assertEquals([ok, errors], [true, []], today());
    },
  };
}

/** Connects a bill to the provider; its account is named after the currency. */
export async function connectMeter(database: TestDatabase, organization: Organization, name: string): Promise<void> {
  const { id: organizationId } = organization.options;
  const { id: billId, plan: { currency } } = organization.bill(name);
  await addLink(database, { organizationId, billId, provider: PROVIDER, credential: { account: currency } });
}
