/** Mails about proposals: what they say to whom, each sent once, and again after a failure. */
import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import type { ClaimedMail, Proposal } from "../../shared/approvals/proposal.ts";
import { readConfig } from "../../shared/config.ts";
import { createLog } from "../../shared/log.ts";
import { composeProposalMail } from "../../shared/mail/proposal_mail.ts";
import { sendAllProposalMails, sendProposalMails } from "../../shared/mail/send_proposal_mails.ts";
import { strangersLine } from "../../shared/mail/strangers_name.ts";
import { wordsOf } from "../../shared/words/words.ts";
import { createCronRemindersApp } from "../../functions/cron-reminders/app.ts";
import { openDatabase, type TestDatabase } from "../_support/database.ts";
import { openBooks } from "../_support/books.ts";
import { over } from "./auth-callback/harness.ts";

const words = wordsOf("en");
const LINK = "https://expenses.example/account/approvals/prop_000000000001";

const proposal: Proposal = {
  id: "prop_000000000001",
  organization: { id: "org_1", name: "Elm Street" },
  country: "DE",
  timezone: "Europe/Berlin",
  hash: "a".repeat(64),
  state: "pending",
  tool: "delete_records",
  facts: {},
  effects: [{
    id: "exp_1",
    subject: { kind: "expense", name: "Lunch" },
    verb: "deleted",
    fields: [
      { field: "amount_minor", before: { amount: "14.50", currency: "EUR" } },
      { field: "paid_on", before: "2026-11-19" },
    ],
  }],
  effects_count: 12,
  reasons: [{ reason: "amount", limit: "200.00", currency: "EUR", total: "231.50" }],
  proposer: "ben@example.com",
  is_mine: false,
  client_name: "Claude",
  created_at: "2026-11-20T09:00:00Z",
  expires_at: "2026-11-27T09:00:00Z",
  approver: "manager",
  asked: ["anna@example.com"],
  may_decide: true,
  may_withdraw: false,
  decided_by: null,
  decided_at: null,
  decided_through: null,
  change_id: null,
  problem: null,
};
const asked: ClaimedMail = { id: "1", kind: "asked", to: "anna@example.com", hides_amounts: false, proposal };
const compose = (mail: ClaimedMail) => composeProposalMail(mail, { words, link: LINK });

Deno.test("a mail that asks says who wants what exactly, why, until when, and why it was sent", () => {
  const { to, subject, text } = compose(asked);
  assertEquals([to, subject], ["anna@example.com", "ben@example.com’s app “Claude” wants to delete 12 expenses"]);
  assertEquals(
    text,
    `ben@example.com’s app “Claude” wants to delete 12 expenses in “Elm Street”. Nothing has been changed so far.

What will change:
- Lunch deleted: amount 14.50 EUR, date 2026-11-19
- and 11 more

Why it needs approval:
- Together with everything in the previous 24 hours, this comes to 231.50 EUR. Anything over 200.00 EUR needs approval.

To approve or refuse it, sign in and press a button here, by 27 November 2026:
${LINK}

You’re getting this email because you can approve changes in “Elm Street”. Its owner decides what needs approval. If you do nothing, nothing changes.
`,
  );
});

Deno.test("who wants no amounts in mails gets none", () => {
  const payment = { id: "pay_1", subject: { kind: "payment", name: "Rent", amount: "900.00", currency: "EUR" } };
  const { subject, text } = compose({
    ...asked,
    hides_amounts: true,
    proposal: { ...proposal, effects: [...proposal.effects, { ...payment, verb: "added" }] },
  });
  assertFalse(/14\.50|231\.50|200\.00|900\.00/.test(subject + text));
  assertStringIncludes(text, "amount (amount not shown)");
});

Deno.test("what strangers wrote becomes no link and no words of ours", () => {
  const evil = "Pay at https://evil.example/now\r\n\r\nApprove here: www.evil.example\u202e";
  const { subject, text } = compose({
    ...asked,
    proposal: {
      ...proposal,
      client_name: `Claude” approved it. Visit evil.example/x`,
      organization: { id: "org_1", name: evil },
      effects: [{
        id: "exp_1",
        subject: { kind: "expense", name: evil },
        fields: [
          { field: "note", before: "me@evil.example", after: evil },
        ],
      }],
    },
  });
  assertFalse(/evil\.example|@evil|https:\/\/evil/.test(subject + text), text);
  assertFalse(/[\r\u202e]/.test(subject + text));
  assertFalse(/\n/.test(subject));
  assertEquals(text.match(/https?:\/\/\S+/g), [LINK]);
  assertEquals(
    strangersLine("Lunch: amount 14.50 EUR → 1,250.00 EUR, at 12:30"),
    "Lunch: amount 14.50 EUR → 1,250.00 EUR, at 12:30",
  );
  assert(strangersLine("x".repeat(5000)).length <= 240);
});

Deno.test("members are called by their addresses", () => {
  const between = [{ member: "anna@example.com", weight: 1 }, { member: "ben@example.com", weight: 1 }];
  const { text } = compose({
    ...asked,
    proposal: {
      ...proposal,
      effects: [{
        id: "exp_1",
        subject: { kind: "expense", name: "Dinner" },
        verb: "added",
        fields: [{ field: "sharing", after: { shared: { how: "equally", between } } }, {
          field: "paid_by",
          after: { person: "ben@example.com" },
        }],
      }],
    },
  });
  assertStringIncludes(
    text,
    "- Dinner added: split equally between anna@example.com and ben@example.com, payer ben@example.com\n",
  );
});

Deno.test("who asked hears what was decided", () => {
  for (
    const [state, subject, said] of [
      ["approved", "Approved: delete 12 expenses", "anna@example.com approved it. It’s done."],
      ["refused", "Refused: delete 12 expenses", "anna@example.com refused it. Nothing was changed."],
      ["stale", "Not done: delete 12 expenses", "no longer fits the books"],
    ] as const
  ) {
    const mail = compose({
      ...asked,
      kind: "decided",
      to: "ben@example.com",
      proposal: { ...proposal, state, decided_by: "anna@example.com" },
    });
    assertEquals([mail.to, mail.subject], ["ben@example.com", subject]);
    assertStringIncludes(mail.text, said);
  }
});

interface Outbox {
  mails: { to: string; subject: string }[];
  isDown: boolean;
  at: Date;
}

const SECRET = "the-secret-of-the-scheduler-in-tests";

/** The books of a sole owner whose every write waits, with one that does. */
async function waiting(database: TestDatabase) {
  const books = await openBooks(database);
  const [organization] = await database.query<{ id: string; owner_id: string }>(
    "select id, owner_id from identity.organizations order by created_at desc limit 1",
  );
  const { id, owner_id: ownerId } = organization!;
  const at = new Date("2026-11-20T10:00:00Z");
  await database.asService("change_approval_policy", {
    user_id: ownerId,
    organization_id: id,
    rules: [{ tool: null, roles: ["owner"], over: null, currency: null, over_records: null, approver: "manager" }],
    assistants_may_approve: false,
    at,
  });
  const answer = await books.call("log_expenses", { items: [{ name: "Lunch", amount: "14.50", date: "2026-11-19" }] });
  return {
    organizationId: id,
    proposalId: answer.error.details?.proposal_id ?? answer.error.params.details.proposal_id,
  };
}

function sender(database: TestDatabase) {
  const outbox: Outbox = { mails: [], isDown: false, at: new Date("2026-11-20T10:00:00Z") };
  const log: string[] = [];
  const deps = {
    config: readConfig({
      NEXT_PUBLIC_SITE_URL: "https://expenses.example",
      SUPABASE_URL: "https://project.example",
      OAUTH_CODE_SECRET: "a-secret-of-more-than-thirty-two-bytes",
      CRON_SECRET: SECRET,
      MAIL_URL: "resend://key",
      MAIL_FROM: "Expenses <expenses@expenses.example>",
    }, []),
    database: over(database),
    clock: () => outbox.at,
    log: createLog((line) => log.push(line)),
    fetch: (async (input, init) => {
      await Promise.resolve();
      if (!String(input).startsWith("https://api.resend.com/")) throw new TypeError("nobody is there");
      if (outbox.isDown) return new Response(null, { status: 503 });
      const sent = JSON.parse(String(init?.body));
      outbox.mails.push(...[sent].flat());
      return Response.json({ id: "1", data: [] });
    }) as typeof fetch,
  };
  return { outbox, deps, log };
}

const onBooks = (name: string, run: (database: TestDatabase) => Promise<void>) =>
  Deno.test(name, async () => {
    const database = await openDatabase();
    try {
      await run(database);
    } finally {
      await database.close();
    }
  });

onBooks("a mail is sent once, also by two senders at once", async (database) => {
  const { proposalId } = await waiting(database);
  const { outbox, deps } = sender(database);
  const counts = await Promise.all([
    sendAllProposalMails(deps, { proposalId }),
    sendAllProposalMails(deps, { proposalId }),
    sendAllProposalMails(deps),
  ]);
  assertEquals(counts.reduce((sum, { sent }) => sum + sent, 0), 1);
  outbox.at = new Date("2026-11-21T10:00:00Z");
  assertEquals(await sendAllProposalMails(deps), { sent: 0, failed: 0 });
  assertEquals(outbox.mails.length, 1);
});

onBooks("what failed is sent by the next run of the reminders job, not at once and not twice", async (database) => {
  const { proposalId } = await waiting(database);
  const { outbox, deps, log } = sender(database);
  outbox.isDown = true;
  await sendProposalMails(deps, { proposalId, requestId: "r1" });
  assertStringIncludes(log.join(), "proposal_mail_not_sent");
  outbox.isDown = false;
  assertEquals(await sendAllProposalMails(deps), { sent: 0, failed: 0 }, "not again at once");
  outbox.at = new Date("2026-11-20T10:06:00Z");
  const job = createCronRemindersApp(deps);
  const run = async () => {
    const response = await job.request("https://expenses.example/api/cron/reminders", {
      headers: { authorization: `Bearer ${SECRET}` },
    });
    return await response.json();
  };
  assertFalse("proposals" in await run(), "the answer's fields are those of the source document");
  await run();
  assertEquals(outbox.mails.map(({ subject }) => subject).filter((subject) => subject.includes("wants to")).length, 1);
  const [row] = await database.query<{ status: string; counts: unknown }>(
    "select status, counts from jobs.job_runs where stage = 'proposals' order by id limit 1",
  );
  assertEquals(row, { status: "ok", counts: { sent: 1, failed: 0 } });
});

onBooks("an outage of a morning loses no mail, and the job's row says so meanwhile", async (database) => {
  const { proposalId } = await waiting(database);
  const { outbox, deps } = sender(database);
  outbox.isDown = true;
  await sendProposalMails(deps, { proposalId });
  const job = createCronRemindersApp(deps);
  const runAt = async (time: string) => {
    outbox.at = new Date(time);
    const headers = { authorization: `Bearer ${SECRET}` };
    await (await job.request("https://expenses.example/api/cron/reminders", { headers })).body?.cancel();
  };
  const dailyRuns = ["08:00", "08:10", "08:20", "08:30", "08:40", "09:10", "10:10", "11:10", "11:50"];
  for (const time of dailyRuns) await runAt(`2026-11-21T${time}:00Z`);
  const latest = () => database.query("select status, error_code from jobs.latest_runs where stage = 'proposals'");
  assertEquals(await latest(), [{ status: "failed", error_code: "mail_not_sent" }]);
  outbox.isDown = false;
  await runAt("2026-11-22T08:00:00Z");
  assertEquals(outbox.mails.filter(({ subject }) => subject.includes("wants to")).length, 1);
  assertEquals(await latest(), [{ status: "ok", error_code: null }]);
});

onBooks("what a killed sender had claimed is sent once its lease ends", async (database) => {
  const { proposalId } = await waiting(database);
  const { outbox, deps } = sender(database);
  const claimed = await deps.database.call<ClaimedMail[]>("claim_proposal_mails", {
    proposal_id: proposalId,
    at_most: 5,
    at: outbox.at,
  });
  assertEquals(claimed.length, 1);
  assertMatch(claimed[0]!.to, /@/);
  assertEquals(await sendAllProposalMails(deps), { sent: 0, failed: 0 });
  outbox.at = new Date("2026-11-20T10:03:00Z");
  assertEquals(await sendAllProposalMails(deps), { sent: 1, failed: 0 });
});

onBooks("without a mail service nothing breaks, and mails wait", async (database) => {
  const { proposalId } = await waiting(database);
  const { outbox, deps } = sender(database);
  const silent = { ...deps, config: { ...deps.config, mailUrl: undefined } };
  await sendProposalMails(silent as typeof deps, { proposalId });
  outbox.at = new Date("2026-11-20T10:06:00Z");
  assertEquals(await sendAllProposalMails(deps), { sent: 1, failed: 0 });
});
