/** Mails about proposals: contents by recipient, each mail sent once and retried after a failure. */
import { assert, assertEquals, assertFalse, assertMatch, assertStringIncludes } from "@std/assert";
import type { Proposal } from "../../shared/approvals/proposal.ts";
import { readConfig } from "../../shared/config.ts";
import { createMailStore } from "../../shared/db/mail_store.ts";
import { createLog } from "../../shared/log.ts";
import type { ProposalMail, RemovalMail } from "../../shared/mail/claimed_mail.ts";
import { composeProposalMail } from "../../shared/mail/proposal_mail.ts";
import { composeRemovalMail } from "../../shared/mail/removal_mail.ts";
import { sendAllClaimedMails, sendClaimedMails } from "../../shared/mail/send_claimed_mails.ts";
import { legibleName, strangersLine } from "../../shared/words/strangers_name.ts";
import { wordsOf } from "../../shared/words/words.ts";
import { createCronRemindersApp } from "../../functions/cron-reminders/app.ts";
import { openDatabase, type TestDatabase } from "../_support/database.ts";
import { decide, noon, proposes, setRules } from "../_support/approvals.ts";
import { addMember, type Json, openBooks } from "../_support/books.ts";
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
  reasons: [{ reason: "amount", limit: "200.00", currency: "EUR", total: "231.50", approver: "owner" }],
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
const asked: ProposalMail = { id: "1", kind: "asked", to: "anna@example.com", hides_amounts: false, proposal };
const compose = (mail: ProposalMail) => composeProposalMail(mail, { words, link: LINK });

Deno.test("a request for approval names the proposer, effects, reason, deadline and why it was sent", () => {
  const { to, subject, text } = compose(asked);
  assertEquals([to, subject], ["anna@example.com", "ben@example.com’s app “Claude” wants to delete 12 expenses"]);
  assertEquals(
    text,
    `ben@example.com’s app “Claude” wants to delete 12 expenses in “Elm Street”. Nothing has been changed so far.

What will change:
- Lunch deleted: amount €14.50, date 19 November
- and 11 more

Why it needs approval:
- Together with everything in the previous 24 hours, this comes to €231.50. Anything over €200.00 needs approval.

You can decide until 27 November 2026 at 10:00.

Sign in to approve or reject it:
${LINK}

You’re getting this email because you can approve changes in “Elm Street”. Its owner decides what needs approval. If you do nothing, nothing changes.
`,
  );
});

Deno.test("mails contain no amounts for people who turned them off", () => {
  const payment = {
    id: "pay_1",
    subject: { kind: "payment" as const, name: "Rent", amount: "900.00", currency: "EUR" },
  };
  const { subject, text } = compose({
    ...asked,
    hides_amounts: true,
    proposal: { ...proposal, effects: [...proposal.effects, { ...payment, verb: "added" }] },
  });
  assertFalse(/14\.50|231\.50|200\.00|900\.00/.test(subject + text));
  assertStringIncludes(text, "amount (amount not shown)");
});

Deno.test("strangers' text never becomes a link or our own words", () => {
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
  assertEquals(text?.match(/https?:\/\/\S+/g), [LINK]);
  assertEquals(
    strangersLine("Lunch: amount 14.50 EUR → 1,250.00 EUR, at 12:30"),
    "Lunch: amount 14.50 EUR → 1,250.00 EUR, at 12:30",
  );
  assert(strangersLine("x".repeat(5000)).length <= 240);
  assertEquals(legibleName("Office 2.0 at 19.90", 60), "Office 2.0 at 19.90");
  assertEquals(legibleName("Pay at 93.184.216.34/pay", 60), "Pay at 93.184. 216. 34/ pay");
});

Deno.test("mails call members by their addresses", () => {
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

Deno.test("the proposer gets a mail about the decision", () => {
  for (
    const [state, subject, said] of [
      ["approved", "Approved: delete 12 expenses", "anna@example.com approved it. It’s done."],
      ["refused", "Rejected: delete 12 expenses", "anna@example.com rejected it. Nothing was changed."],
      ["stale", "Not done: delete 12 expenses", "could no longer be done"],
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

Deno.test("a second mail reports the missing decision and the deadline", () => {
  const { subject, text } = compose({ ...asked, kind: "reminded" });
  assertEquals(subject, "Still waiting: ben@example.com’s app “Claude” wants to delete 12 expenses");
  assertStringIncludes(
    text,
    "Nobody has approved or rejected it yet. Nothing has been changed so far.",
  );
});

Deno.test("other approvers get a mail about the outcome", () => {
  const settled = (outcome: Partial<Proposal>) =>
    compose({ ...asked, kind: "settled", proposal: { ...proposal, ...outcome } });
  assertEquals(
    settled({ state: "refused", decided_by: "carla@example.com" }).text,
    `ben@example.com’s app “Claude” wanted to delete 12 expenses in “Elm Street”.

carla@example.com rejected it. Nothing was changed.

What it was about:
- Lunch deleted: amount €14.50, date 19 November
- and 11 more

See the details:
${LINK}

You’re getting this email because we asked you to approve it. There is nothing left for you to do.
`,
  );
  for (
    const [outcome, subject, said] of [
      [{ state: "expired" }, "Expired: delete 12 expenses", "\n\nNobody approved or rejected it in time. Nothing was"],
      [
        { state: "withdrawn", decided_by: "ben@example.com", decided_through: "page" },
        "Withdrawn: delete 12 expenses",
        "ben@example.com withdrew it.",
      ],
      [
        { state: "withdrawn", decided_by: "ben@example.com" },
        "Withdrawn: delete 12 expenses",
        "app that asked lost its access",
      ],
      [
        { state: "withdrawn", decided_by: "anna@example.com", problem: "proposer_gone" },
        "Withdrawn: delete 12 expenses",
        "It was withdrawn because ben@example.com is no longer a member.",
      ],
      [
        { state: "withdrawn", proposer: null, problem: "proposer_gone" },
        "Withdrawn: delete 12 expenses",
        "It was withdrawn because the person who asked is no longer a member.",
      ],
    ] as const
  ) {
    const mail = settled(outcome);
    assertEquals(mail.subject, subject);
    assertStringIncludes(mail.text, said);
    assertFalse(mail.text?.includes("Ask again"));
  }
});

const removed: RemovalMail = {
  id: "2",
  kind: "removed",
  to: "ben@example.com",
  hides_amounts: false,
  removal: {
    organization: "Elm Street",
    by: "anna@example.com",
    country: "DE",
    balances: [
      { owes: false, who: "anna@example.com", amount: "1245.00", currency: "EUR" },
      { owes: true, who: null, amount: "1000", currency: "JPY" },
    ],
    withdrawn: 1,
  },
};

Deno.test("a removed member's mail names the remover, ended access and open balances", () => {
  const mail = composeRemovalMail(removed, { words, link: "https://expenses.example/account" });
  assertEquals([mail.to, mail.subject], ["ben@example.com", "You were removed from “Elm Street”"]);
  assertEquals(
    mail.text,
    `anna@example.com removed you from “Elm Street” in Expenses. You and your apps can no longer see or change anything there, and you won’t get reminders about it.

Expenses and bills that you recorded stay there.

1 change of yours that was waiting for approval will not be made.

Still open for shared costs:
- anna@example.com owes you €1,245.00
- You owe a former member JP¥1,000

Settle this directly with them. They can record it in the books.

Your account and your other organizations stay as they are:
https://expenses.example/account

If this is a mistake, ask anna@example.com to invite you again.
`,
  );
  const hidden = composeRemovalMail({ ...removed, hides_amounts: true }, { words, link: "" });
  assertFalse(/1,245|1,000/.test(hidden.text ?? ""));
});

interface Outbox {
  mails: { to: string; subject: string }[];
  isDown: boolean;
  at: Date;
}

const SECRET = "the-secret-of-the-scheduler-in-tests";

/** The books of a sole owner whose every write waits, with one waiting write. */
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
    guardedFetch: () => Promise.reject(new Error("this test posts nothing")),
    fetch: (async (input, init) => {
      await Promise.resolve();
      if (!String(input).startsWith("https://api.resend.com/")) throw new TypeError("nobody is there");
      if (outbox.isDown) return new Response(null, { status: 503 });
      const sent = JSON.parse(String(init?.body));
      outbox.mails.push(...sent.map((mail: { to: [string] }) => ({ ...mail, to: mail.to[0] })));
      return Response.json({ data: sent.map(() => ({ id: "1" })) });
    }) as typeof fetch,
  };
  return { outbox, deps, log };
}

const onBooks = (name: string, run: (database: TestDatabase) => Promise<void>) =>
  Deno.test(name, async () => {
    await using database = await openDatabase();
    await run(database);
  });

onBooks("a mail is sent once, also by two senders at once", async (database) => {
  const { proposalId } = await waiting(database);
  const { outbox, deps } = sender(database);
  const counts = await Promise.all([
    sendAllClaimedMails(deps, { about: proposalId }),
    sendAllClaimedMails(deps, { about: proposalId }),
    sendAllClaimedMails(deps),
  ]);
  assertEquals(counts.reduce((sum, { sent }) => sum + sent, 0), 1);
  outbox.at = new Date("2026-11-21T10:00:00Z");
  assertEquals(await sendAllClaimedMails(deps), { sent: 0, failed: 0 });
  assertEquals(outbox.mails.length, 1);
});

onBooks("a failed mail is sent once, by the next run of the reminders job", async (database) => {
  const { proposalId } = await waiting(database);
  const { outbox, deps, log } = sender(database);
  outbox.isDown = true;
  await sendClaimedMails(deps, { about: proposalId, requestId: "r1" });
  assertStringIncludes(log.join(), "mail_not_sent");
  outbox.isDown = false;
  assertEquals(await sendAllClaimedMails(deps), { sent: 0, failed: 0 }, "not again at once");
  outbox.at = new Date("2026-11-20T10:06:00Z");
  const job = createCronRemindersApp(deps);
  const run = async () => {
    const response = await job.request("https://expenses.example/api/cron/reminders", {
      headers: { authorization: `Bearer ${SECRET}` },
    });
    return await response.json();
  };
  assertFalse("proposals" in await run(), "the answer has no further fields");
  await run();
  assertEquals(outbox.mails.map(({ subject }) => subject).filter((subject) => subject.includes("wants to")).length, 1);
  const [row] = await database.query<{ status: string; counts: unknown }>(
    "select status, counts from jobs.job_runs where stage = 'proposals' order by id limit 1",
  );
  assertEquals(row, { status: "ok", counts: { sent: 1, failed: 0 } });
});

onBooks("a morning's outage loses no mail and shows in the job's row", async (database) => {
  const { proposalId } = await waiting(database);
  const { outbox, deps } = sender(database);
  outbox.isDown = true;
  await sendClaimedMails(deps, { about: proposalId });
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

onBooks("mails claimed by a killed sender are sent after the lease expires", async (database) => {
  const { proposalId } = await waiting(database);
  const { outbox, deps } = sender(database);
  const claimed = await createMailStore(deps.database).claim({ about: proposalId, atMost: 5, at: outbox.at });
  assertEquals(claimed.length, 1);
  assertMatch(claimed[0]!.to, /@/);
  assertEquals(await sendAllClaimedMails(deps), { sent: 0, failed: 0 });
  outbox.at = new Date("2026-11-20T10:03:00Z");
  assertEquals(await sendAllClaimedMails(deps), { sent: 1, failed: 0 });
});

onBooks("without a mail service nothing breaks, and mails wait", async (database) => {
  const { proposalId } = await waiting(database);
  const { outbox, deps } = sender(database);
  const silent = { ...deps, config: { ...deps.config, mailUrl: undefined } };
  await sendClaimedMails(silent as typeof deps, { about: proposalId });
  outbox.at = new Date("2026-11-20T10:06:00Z");
  assertEquals(await sendAllClaimedMails(deps), { sent: 1, failed: 0 });
});

onBooks("a removed member gets one mail, also after a killed sender, unless they are back", async (database) => {
  const books = await openBooks(database);
  const [ben, carla] = [await books.join(), await books.join()];
  const { outbox, deps } = sender(database);
  const about = books.organizationId;
  const removals = () =>
    outbox.mails.filter(({ subject }) => subject.startsWith("You were removed")).map(({ to }) => to);
  for (const { userId: member_id } of [ben, carla]) {
    const by = { user_id: books.userId, organization_id: about, member_id, at: outbox.at };
    assertEquals(await database.asService("remove_member", by), { outcome: "removed" });
  }
  const claimed = await createMailStore(deps.database).claim({ about, atMost: 1, at: outbox.at });
  assertEquals(claimed.map(({ kind }) => kind), ["removed"]);
  await Promise.all([sendAllClaimedMails(deps, { about }), sendAllClaimedMails(deps)]);
  assertEquals(removals().length, 1, "the other is leased");
  outbox.at = new Date("2026-11-20T10:03:00Z");
  await sendAllClaimedMails(deps);
  await sendAllClaimedMails(deps);
  assertEquals(removals().toSorted(), [ben, carla].map(({ userId }) => `${userId}@example.com`).toSorted());
  const dora = await books.join();
  const asked = { user_id: books.userId, organization_id: about, member_id: dora.userId, at: outbox.at };
  await database.asService("remove_member", asked);
  await addMember(database, about, dora.userId, "member");
  await sendAllClaimedMails(deps);
  assertEquals(removals().length, 2);
});

onBooks(
  "an assistant that proposes and withdraws floods no approver, and what waits is mailed later",
  async (database) => {
    const owner = await openBooks(database, { day: "2026-11-20" });
    const member = await owner.join();
    await setRules(database, owner, [{ tool: "log_expenses" }]);
    const { outbox, deps } = sender(database);
    const propose = async (n: number) => {
      const items = [{ name: `Thing ${n}`, amount: "5", date: "2026-11-19" }];
      const proposalId = await proposes(member, "log_expenses", { items });
      await sendClaimedMails(deps, { about: proposalId });
      return proposalId;
    };
    outbox.at = new Date("2026-11-20T12:00:00Z");
    for (let n = 0; n < 14; n++) {
      const id = await propose(n);
      if (n < 13) await decide(database, member, id, "withdraw");
    }
    const asked = () => outbox.mails.filter(({ subject }) => subject.includes("wants to")).length;
    assertEquals(asked(), 10);
    // In the meantime the page lists it. Withdrawn proposals cause no more mails.
    const { proposals } = await database.asService<Json>("read_proposals", {
      ...{ user_id: owner.userId, organization_id: owner.organizationId, at: noon(owner) },
    });
    assertEquals(proposals.filter(({ state }: Json) => state === "pending").length, 1);
    outbox.at = new Date("2026-11-20T13:00:01Z");
    await sendAllClaimedMails(deps);
    assertEquals(asked(), 11);
  },
);
