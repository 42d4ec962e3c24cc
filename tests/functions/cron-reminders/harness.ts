/**
 * The reminders job over a test's database, a mail service that honors idempotency keys like the real one, and sources
 * of rates.
 */
import { assertEquals } from "@std/assert";
import { createCronRemindersApp } from "../../../functions/cron-reminders/app.ts";
import type { RunAnswer } from "../../../functions/cron-reminders/run.ts";
import { readConfig } from "../../../shared/config.ts";
import type { Database } from "../../../shared/db/client.ts";
import { createLog } from "../../../shared/log.ts";
import type { GuardedFetch } from "../../../shared/net/guarded_fetch.ts";
import type { TestDatabase } from "../../_support/database.ts";

export const SECRET = "the-secret-of-the-scheduler-in-tests";
export const PREVIOUS_SECRET = "the-secret-of-the-scheduler-before-it";
export const SITE = "https://expenses.example.com";
export const CODE_SECRET = "code-secret-code-secret-code-secret-1";

export interface SentMail {
  to: string;
  subject: string;
  text: string;
  html: string;
  headers: Record<string, string>;
}

/** Replaces the response to one call of the mail service; an error is thrown. */
export type Fault = (call: { key: string; mails: SentMail[] }) => Response | Error | undefined;

export interface MailService {
  fetch: typeof fetch;
  /** Every accepted mail, once. */
  delivered: SentMail[];
  /** The number of calls, whatever the response. */
  calls: { key: string; mails: SentMail[] }[];
  /** Runs before the service accepts any mail. */
  before?: Fault;
  /** Runs after the service has accepted all mails, and loses the response. */
  after?: Fault;
  /** Addresses that it always refuses. */
  bad: Set<string>;
  /** Refuses a whole call for one invalid address, whatever mode the call requests. */
  isStrict: boolean;
}

/** Stores the response per key, as the real service does for 24 hours. */
export function mailService(): MailService {
  const answers = new Map<string, { body: string; answer: Record<string, unknown> }>();
  const service: MailService = {
    delivered: [],
    calls: [],
    bad: new Set(),
    isStrict: false,
    async fetch(input, init) {
      await Promise.resolve();
      assertEquals(String(input), "https://api.resend.com/emails/batch");
      const headers = new Headers(init?.headers);
      const body = String(init?.body);
      const key = headers.get("idempotency-key")!;
      const mails: SentMail[] = JSON.parse(body).map((mail: SentMail & { to: string[] }) => ({
        ...mail,
        to: mail.to[0],
      }));
      service.calls.push({ key, mails });
      const instead = service.before?.({ key, mails });
      if (instead instanceof Error) throw instead;
      if (instead) return instead;
      const known = answers.get(key);
      if (known && known.body !== body) {
        return Response.json({ statusCode: 409, name: "invalid_idempotent_request", message: "…" }, { status: 409 });
      }
      const bad = mails.flatMap(({ to }, index) => service.bad.has(to) ? [index] : []);
      if (!known && bad.length > 0 && (service.isStrict || headers.get("x-batch-validation") !== "permissive")) {
        return Response.json({ statusCode: 422, name: "validation_error", message: "Invalid `to` field." }, {
          status: 422,
        });
      }
      if (!known) {
        const taken = mails.filter((_, index) => !bad.includes(index));
        service.delivered.push(...taken);
        answers.set(key, {
          body,
          answer: {
            data: taken.map(() => ({ id: crypto.randomUUID() })),
            ...(bad.length > 0 && { errors: bad.map((index) => ({ index, message: "Invalid `to` field." })) }),
          },
        });
      }
      const lost = service.after?.({ key, mails });
      if (lost instanceof Error) throw lost;
      return lost ?? Response.json(answers.get(key)!.answer);
    },
  };
  return service;
}

export interface JobOptions {
  database: Database;
  fetch: typeof fetch;
  now: () => Date;
  env?: Record<string, string>;
  workMs?: number;
  /** Milliseconds since the start of the run: zero on any machine, unless the test sets them. */
  elapsed?: () => number;
  guardedFetch?: GuardedFetch;
}

export interface JobHarness {
  /** Runs the job as the scheduler does, and returns its response. */
  run(): Promise<RunAnswer>;
  request(path: string, init?: RequestInit): Promise<Response>;
  lines: string[];
}

const refuse: GuardedFetch = () => Promise.reject(new Error("this test posts nothing"));

export function createJob(
  { database, fetch, now, env = {}, workMs, elapsed = () => 0, guardedFetch = refuse }: JobOptions,
): JobHarness {
  const lines: string[] = [];
  const config = readConfig({
    NEXT_PUBLIC_SITE_URL: SITE,
    SUPABASE_URL: "https://project.supabase.co",
    OAUTH_CODE_SECRET: CODE_SECRET,
    CRON_SECRET: `${SECRET},${PREVIOUS_SECRET}`,
    MAIL_URL: "resend://re_Key_1",
    MAIL_FROM: "Expenses <expenses@example.com>",
    ...env,
  }, []);
  const log = createLog((line) => lines.push(line));
  const app = createCronRemindersApp({ config, database, clock: now, log, fetch, guardedFetch }, {
    ...(workMs && { workMs }),
    elapsed,
  });
  const request = async (path: string, init?: RequestInit) => await app.request(path, init);
  return {
    lines,
    request,
    async run() {
      const response = await request("/api/cron/reminders", { headers: { authorization: `Bearer ${SECRET}` } });
      assertEquals(response.status, 200, await response.clone().text());
      return await response.json();
    },
  };
}

/** The database in the functions' form. */
export const asDatabase = (database: TestDatabase): Database => ({
  call: (name, args) => database.asService(name, JSON.parse(JSON.stringify(args))),
});

const CURRENCIES =
  "USD JPY CZK DKK GBP HUF PLN RON SEK CHF ISK NOK TRY AUD BRL CAD CNY HKD IDR ILS INR KRW MXN MYR NZD PHP SGD THB ZAR"
    .split(" ");

/** The central bank's file for a day, in its format, every rate 1.5 by default. */
export function ecbXml(
  day: string,
  { rates = {}, quote = "'" }: { rates?: Record<string, string>; quote?: string } = {},
) {
  const cubes = CURRENCIES.map((code) =>
    `<Cube currency=${quote}${code}${quote} rate=${quote}${rates[code] ?? "1.5"}${quote}/>`
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<gesmes:Envelope xmlns:gesmes="http://www.gesmes.org/xml/2002-08-01" xmlns="http://www.ecb.int/vocabulary/2002-08-01/eurofxref">
	<gesmes:subject>Reference rates</gesmes:subject>
	<gesmes:Sender>
		<gesmes:name>European Central Bank</gesmes:name>
	</gesmes:Sender>
	<Cube>
		<Cube time=${quote}${day}${quote}>
			${cubes.join("\n\t\t\t")}
		</Cube>
	</Cube>
</gesmes:Envelope>`;
}

/** The same from Frankfurter. */
export function frankfurterJson(day: string, rates: Record<string, string> = {}): string {
  const entries = CURRENCIES.map((code) => `"${code}":${rates[code] ?? "1.5"}`);
  return `{"amount":1.0,"base":"EUR","date":"${day}","rates":{${entries.join(",")}}}`;
}

/** All currencies in use that the tests need, every rate 1.5 by default. */
export function centralBanksJson(day: string, rates: Record<string, string> = {}): string {
  const more = Array.from({ length: 120 }, (_, index) => `Q${String.fromCharCode(65 + index / 26, 65 + index % 26)}`);
  const all = { ...Object.fromEntries([...CURRENCIES, ...more].map((code) => [code, "1.5"])), ...rates };
  const rows = Object.entries(all).map(([code, rate]) =>
    `{"date":"${day}","base":"EUR","quote":"${code}","rate":${rate}}`
  );
  return `[${rows.join(",")}]`;
}

/** Responds for the sources and passes every other request to the mail service; the sources have no past days. */
export function withRates(
  mail: typeof fetch,
  sources: {
    ecb?: () => Response | Promise<Response>;
    frankfurter?: () => Response | Promise<Response>;
    past?: (url: string) => Response | Promise<Response>;
  } = {},
): typeof fetch {
  return async (input, init) => {
    const url = String(input);
    if (url.startsWith("https://www.ecb.europa.eu/")) {
      return await (sources.ecb?.() ?? new Response("", { status: 503 }));
    }
    if (/^https:\/\/api\.frankfurter\.dev\/(v2|v1\/\d)/.test(url)) {
      return await (sources.past?.(url) ?? new Response("", { status: 404 }));
    }
    if (url.startsWith("https://api.frankfurter.dev/")) {
      return await (sources.frankfurter?.() ?? new Response("", { status: 503 }));
    }
    return await mail(input, init);
  };
}
