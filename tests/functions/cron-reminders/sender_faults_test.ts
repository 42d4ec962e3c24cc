/**
 * A mail service that refuses the sender: no recipient is marked as refused, and every mail is sent after the repair.
 */
import { assert, assertEquals } from "@std/assert";
import { sharedDatabase } from "../../_support/database.ts";
import { startScriptedServer } from "../../shared/mail/scripted_smtp.ts";
import { addDueBills } from "./due_bills.ts";
import { asDatabase, createJob, ecbXml, mailService, withRates } from "./harness.ts";

const database = await sharedDatabase();

const START = Date.parse("2026-11-20T08:00:00Z");
const HOUR_MS = 3600_000;
const OWNERS = 30;

/** Runs the job while the sender is refused, and again an hour and a half later, when it is accepted. */
async function runTwice(
  { fetch, env, repair }: { fetch: typeof globalThis.fetch; env?: Record<string, string>; repair: () => void },
) {
  await database.reset();
  await addDueBills(database, { owners: OWNERS, each: 1, today: "2026-11-20" });
  let now = START;
  const job = createJob({
    database: asDatabase(database),
    fetch: withRates(fetch, { ecb: () => new Response(ecbXml("2026-11-19")) }),
    now: () => new Date(now),
    env,
  });
  const refused = await job.run();
  assertEquals([refused.digestsSent, refused.remindersSent], [0, 0]);
  assert(refused.errors.some(({ code }) => code === "mail_not_allowed"), JSON.stringify(refused.errors));
  assertEquals(refused.errors.find(({ code }) => code === "left_for_next_run")?.count, OWNERS);
  assertEquals(
    await database.query("select count(*)::int as count from identity.profiles where refused_email is not null"),
    [{ count: 0 }],
  );
  repair();
  now += 1.5 * HOUR_MS;
  const repaired = await job.run();
  assertEquals([repaired.ok, repaired.remindersSent, repaired.errors], [true, OWNERS, []]);
}

// Node's sockets under Deno keep a timer for a moment after closing.
const test = (name: string, work: () => Promise<void>) =>
  Deno.test(name, { sanitizeOps: false, sanitizeResources: false }, work);

for (
  const [place, answer] of [
    ["MAIL FROM", "550 5.7.1 account suspended"],
    ["RCPT TO", "554 relay denied"],
    ["content", "554 5.7.1 sender not authorized"],
  ] as const
) {
  test(`over SMTP: ${place}: ${answer}`, async () => {
    const server = await startScriptedServer({ answers: { [place]: answer } });
    try {
      await runTwice({
        fetch: () => Promise.reject(new Error("no mail goes out that way")),
        env: { MAIL_URL: server.url },
        repair: () => server.script = {},
      });
      assertEquals(new Set(server.taken).size, OWNERS);
      assertEquals(server.taken.length, OWNERS);
    } finally {
      server.close();
    }
  });
}

test("over SMTP: one recipient whose server refuses our mail blocks nobody else's", async () => {
  const server = await startScriptedServer({ answers: { "RCPT TO:<owner7@": "550 5.7.1 blocked" } });
  try {
    await database.reset();
    await addDueBills(database, { owners: OWNERS, each: 1, today: "2026-11-20" });
    let now = START;
    const job = createJob({
      database: asDatabase(database),
      fetch: withRates(() => Promise.reject(new Error("no mail goes out that way"))),
      now: () => new Date(now),
      env: { MAIL_URL: server.url },
    });
    for (let run = 0; run < 3; run++, now += 1.5 * HOUR_MS) await job.run();
    assertEquals(new Set(server.taken).size, OWNERS - 1);
    assertEquals(server.taken.length, OWNERS - 1);
    assertEquals(await database.query("select from identity.profiles where refused_email is not null"), []);
  } finally {
    server.close();
  }
});

const message = "Invalid `from` field.";
for (
  const [name, answer] of [
    [
      "each mail",
      (count: number) => Response.json({ errors: Array.from({ length: count }, (_, index) => ({ index, message })) }),
    ],
    ["the call", () => Response.json({ name: "validation_error", message }, { status: 422 })],
  ] as [string, (count: number) => Response][]
) {
  test(`over HTTPS: ${name} is refused for the sender`, async () => {
    const mail = mailService();
    mail.before = ({ mails }) => answer(mails.length);
    await runTwice({ fetch: mail.fetch, repair: () => mail.before = undefined });
    assertEquals(mail.delivered.length, OWNERS);
  });
}
