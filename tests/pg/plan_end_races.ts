/** The mail on the day of a plan's end under parallel and interrupted runs. Each person gets it once. */
import { assertEquals } from "@std/assert";
import type { Database } from "../../shared/db/client.ts";
import { openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";
import { asDatabase, createJob, mailService, withRates } from "../functions/cron-reminders/harness.ts";

const RUNS = 4;
const OWNERS = 12;

const database = await sharedDatabase();

/** Owners whose trial ends at 14:00, with a bill due after it and no other mail. */
async function endingTrials() {
  await database.reset();
  for (let owner = 0; owner < OWNERS; owner++) {
    const books = await openBooks(database, { day: "2026-11-10" });
    await books.ok("add_bill", { name: "VAT", amount: "4000", first_due: "2026-11-30", frequency: "once" });
  }
  await database.exec(
    "update identity.organizations set plan = 'free', trial_ends_at = '2026-11-15T14:00Z' where plan = 'team'",
  );
  const mail = mailService();
  return {
    mail,
    run: (time: string, over: Database = asDatabase(database)) =>
      createJob({ database: over, fetch: withRates(mail.fetch), now: () => new Date(`2026-11-15T${time}:00Z`) }).run(),
  };
}

/** Subjects and recipients, once per delivery. */
const received = ({ delivered }: ReturnType<typeof mailService>) => ({
  mails: delivered.length,
  people: new Set(delivered.map(({ to }) => to)).size,
  subjects: [...new Set(delivered.map(({ subject }) => subject))],
});
const ONCE = { mails: OWNERS, people: OWNERS, subjects: ["Reminders for “Household” will stop today"] };

Deno.test("parallel runs at a plan's end send one mail per person", async () => {
  const { mail, run } = await endingTrials();
  await Promise.all(Array.from({ length: RUNS }, () => run("08:00")));
  assertEquals(received(mail), ONCE);
  await run("11:00");
  assertEquals(received(mail), ONCE);
});

Deno.test("a run that dies after its claim leaves the mail to a later run", async () => {
  const { mail, run } = await endingTrials();
  const real = asDatabase(database);
  let isDead = false;
  const dying: Database = {
    async call(...call) {
      if (isDead) throw new Error("killed");
      const answer = await real.call(...call);
      if (call[0] === "claim_reminders") {
        isDead = true;
        throw new Error("killed");
      }
      return answer;
    },
  };
  await run("08:00", dying);
  assertEquals([isDead, mail.delivered.length], [true, 0]);
  // The lease of the dead run is still valid.
  await run("08:01");
  assertEquals(mail.delivered.length, 0);
  await Promise.all([run("11:00"), run("11:00")]);
  assertEquals(received(mail), ONCE);
});
