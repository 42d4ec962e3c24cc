/**
 * A household and a company live a year with the connector, day by day. An independent ledger records their reports in
 * whole cents, and at each month-end the test compares every answer with it. A rule determines each mail. To run
 * another year: `YEAR_SEED=7 deno task test tests/e2e/year_test.ts`.
 */
import { assertEquals } from "@std/assert";
import { sharedDatabase } from "../_support/database.ts";
import type { SentMail } from "../functions/cron-reminders/harness.ts";
import { connectClient, joinMember, newMember } from "./connector_harness.ts";
import { connectAssistant } from "./year/client.ts";
import { HOSTING, openOffice, worksAt } from "./year/company.ts";
import { chanceOf, dayOfMonth, plus, range } from "./year/days.ts";
import { HEATING, livesIn, moveIn } from "./year/household.ts";
import { connectMeter, openJobs } from "./year/jobs.ts";
import { Ledger } from "./year/ledger.ts";
import { compareMonth } from "./year/month_end.ts";
import { Organization } from "./year/organization.ts";
import { checkMail } from "./year/read_mail.ts";

const SEED = Number(Deno.env.get("YEAR_SEED") ?? 20260101);

const database = await sharedDatabase();

Deno.test(`a year without a discrepancy or a misleading mail (seed ${SEED})`, async () => {
  const chance = chanceOf(SEED);
  let at = "2025-12-31T12:00:00Z";
  const clock = () => new Date(at);

  /** An organization and its people, each with an assistant, on a plan with all features. */
  async function found(name: string, emails: string[], { timezone, base }: { timezone: string; base: string }) {
    const [first, ...others] = emails;
    const owner = await newMember(database, {
      email: first!,
      organization: name,
      timezone,
      baseCurrency: base,
      plan: "team",
      clock,
    });
    const people = [await connectAssistant(await connectClient(database, owner, clock))];
    for (const email of others) {
      people.push(
        await connectAssistant(
          await joinMember(database, { email, organizationId: owner.organizationId, clock }),
        ),
      );
    }
    return new Organization({
      id: owner.organizationId,
      name,
      timezone,
      ledger: new Ledger(base),
      people,
      clock,
      chance,
    });
  }

  const home = await found("Home", ["ben@example.com", "anna@example.com"], { timezone: "Europe/Berlin", base: "EUR" });
  const company = await found("Acme", ["mira@example.com", "tom@example.com", "lea@example.com"], {
    timezone: "Pacific/Honolulu",
    base: "USD",
  });
  const organizations = [home, company];
  // Deliberately unordered, because the job queries providers concurrently.
  const statement = (account: string, month: string) =>
    9_000 + (Number(month.slice(5, 7)) * 371 + account.charCodeAt(0) * 97 + SEED) % 900;
  const jobs = openJobs(database, { clock, statement });

  /** The daily job: recipients and mails. */
  async function remind(): Promise<void> {
    const mails = await jobs.remind();
    const expected = organizations.flatMap((organization) => {
      organization.charge();
      const mail = organization.rule.expect(organization.today());
      return mail ? [{ to: organization.owner.email, mail }] : [];
    });
    const receivers = (some: { to: string }[]) => some.map(({ to }) => to).toSorted();
    const about = `${at}\n${mails.map(({ text }) => text).join("\n")}${JSON.stringify(expected)}`;
    assertEquals(receivers(mails), receivers(expected), about);
    for (const { to, mail } of expected) checkMail(mails.find((sent: SentMail) => sent.to === to)!, mail);
  }

  /** On the 2nd the provider reports last month's cost, which becomes this month's due amount. */
  async function sync(day: string): Promise<void> {
    await jobs.sync();
    for (const [organization, { name, currency }] of [[home, HEATING], [company, HOSTING]] as const) {
      organization.charge();
      const dueOn = organization.bill(name).dates.find(({ on }) => on.startsWith(day.slice(0, 7)))!.on;
      organization.bill(name).state(dueOn, statement(currency, plus(`${day.slice(0, 7)}-01`, -1)), organization.ledger);
      organization.charge();
    }
  }

  try {
    const spending = { home: await moveIn(home), company: await openOffice(company) };
    await connectMeter(database, home, HEATING.name);
    await connectMeter(database, company, HOSTING.name);
    await remind();

    for (const day of range("2026-01-01", "2027-01-01")) {
      const go = (time: string) => void (at = `${day}T${time}:00Z`);
      if (dayOfMonth(day) === 2) {
        go("06:00");
        await sync(day);
      }
      go("08:00");
      await remind();
      // In Honolulu it is 23:30 on the previous day.
      go("09:30");
      if (chance.oneIn(15)) await spending.company.log(company.someone(), 2, { day: company.today() });
      go("11:00");
      if (chance.oneIn(3)) await remind();
      go("12:00");
      if (dayOfMonth(day) === 1) {
        const to = plus(day, -1);
        for (const organization of organizations) {
          await compareMonth(organization, { from: `${to.slice(0, 7)}-01`, to });
        }
      }
      if (day === "2027-01-01") break;
      go("17:30");
      await livesIn(home, spending.home);
      go("20:00");
      await worksAt(company, spending.company);
      // In Berlin it is half past midnight on the next day, or half past one.
      go("23:30");
      if (chance.oneIn(15)) {
        const said = chance.pick([undefined, "yesterday"]);
        await spending.home.log(home.someone(), 1, { said, day: plus(home.today(), said ? -1 : 0) });
      }
    }
  } finally {
    for (const { options: { people } } of organizations) for (const { close } of people) await close();
  }
});
