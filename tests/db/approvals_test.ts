/**
 * A write that needs approval waits and changes nothing. It is written once, after another person has seen its exact
 * effects.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { decide, noon, proposes, readProposal, setRules } from "../_support/approvals.ts";
import { testBooks } from "../_support/book_steps.ts";
import { type Books, type Json } from "../_support/books.ts";
import { importOfFile } from "../_support/import_args.ts";
import { rollAll } from "../_support/roll_bills.ts";
import { effectLines, tellEffects } from "../../shared/words/effects.ts";
import { wordsOf } from "../../shared/words/words.ts";

const item = (amount: string, more: Json = {}) => ({ name: `Thing ${amount}`, amount, date: "2026-11-19", ...more });
const log = (...items: Json[]) => ["log_expenses", { items }] as const;
const rows = async (books: Books): Promise<Json[]> => (await books.ok("list_expenses", { order: "asc" })).rows;
const amounts = async (books: Books) => (await rows(books)).map(({ amount, currency }) => `${amount} ${currency}`);

testBooks("approval", {}, {
  "is not required without rules": async (books) => {
    const member = await books.join();
    await member.ok(...log(item("100000")));
    assertEquals(await amounts(books), ["100000.00 EUR"]);
  },

  "holds back a write above the limit and applies it once": async (books, database) => {
    const member = await books.join();
    await setRules(database, books, [{ over: "200", currency: "EUR" }]);
    await member.ok(...log(item("50")));
    const error = await member.fails("awaiting_approval", ...log(item("180")));
    assertMatch(error.message, /^This needs approval\. Nothing has been written yet: \S+@example\.com was asked/);
    const id = error.details.proposal_id;
    assertEquals(await amounts(books), ["50.00 EUR"]);

    const proposal = await readProposal(database, books, id);
    assertEquals(
      [proposal.state, proposal.may_decide, proposal.is_mine, proposal.reasons],
      ["pending", true, false, [{
        reason: "amount",
        limit: "200.00",
        currency: "EUR",
        total: "230.00",
        approver: "manager",
      }]],
    );
    const words = wordsOf("en");
    assertEquals(effectLines(tellEffects(proposal, words), words), [
      "Thing 180 added: amount 180.00 EUR, date 2026-11-19",
    ]);
    const decided = await decide(database, books, id, "approve");
    assertEquals(decided.outcome, "approved");
    assertEquals(await amounts(books), ["50.00 EUR", "180.00 EUR"]);
    assertEquals((await decide(database, books, id, "approve")).outcome, "already");
    assertEquals((await decide(database, books, id, "refuse")).outcome, "already");
    assertEquals((await amounts(books)).length, 2);
    // The change belongs to the proposer, who may undo it by the usual rules.
    const [change] = await database.query<Json>(
      "select actor_id, proposal_id, client_name from app.change_sets where id = $1",
      [
        decided.change_id,
      ],
    );
    assertEquals(change, { actor_id: member.userId, proposal_id: id, client_name: "Tests" });
    // Approved writes don't count toward the limit.
    await member.ok(...log(item("140")));
    await proposes(member, ...log(item("20")));
  },

  "writes nothing when it is refused or withdrawn": async (books, database) => {
    const member = await books.join();
    await setRules(database, books, [{ tool: "log_expenses" }]);
    const refused = await proposes(member, ...log(item("5")));
    assertEquals((await decide(database, books, refused, "refuse")).outcome, "refused");
    const withdrawn = await proposes(member, ...log(item("6")));
    assertEquals((await decide(database, books, withdrawn, "withdraw")).outcome, "not_allowed");
    assertEquals((await decide(database, member, withdrawn, "withdraw")).outcome, "withdrawn");
    assertEquals(await amounts(books), []);
    assertEquals(
      (await database.query("select from app.change_sets where organization_id = $1", [books.organizationId])).length,
      0,
    );
  },

  'keeps "yesterday" the day it was': async (books, database) => {
    const member = await books.join();
    await setRules(database, books, [{ tool: "log_expenses" }]);
    const id = await proposes(member, ...log({ name: "Lunch", amount: "5", date: "yesterday" }));
    books.goTo("2026-11-24");
    assertEquals((await decide(database, books, id, "approve")).outcome, "approved");
    assertEquals((await rows(books)).map(({ date }) => date), ["2026-11-19"]);
  },

  "keeps the dates of a bill that rolled in the meantime": async (books, database) => {
    const member = await books.join();
    const { bill: { id } } = await books.ok("add_bill", {
      name: "Gym",
      amount: "30",
      first_due: "2026-11-21",
      autopay: true,
    });
    await setRules(database, books, [{ tool: "update_bill" }]);
    const noted = await proposes(member, "update_bill", { bill_id: id, set: { note: "Ends in spring" } });
    await rollAll(database, "2026-11-22T12:00:00Z");
    books.goTo("2026-11-23");
    // The bank returned the payment.
    await books.ok("update_bill", { bill_id: id, occurrence: { due_on: "2026-11-21", action: "reopen" } });
    books.goTo("2026-11-24");
    assertEquals((await decide(database, books, noted, "approve")).outcome, "approved");
    await rollAll(database, "2026-11-25T12:00:00Z");
    assertEquals(await amounts(books), []);
    const [{ next_due, overdue }] = (await books.ok("list_bills", { bill_id: id })).bills;
    assertEquals([next_due, overdue], ["2026-12-21", [{ amount: "30.00", due_on: "2026-11-21" }]]);
  },

  "survives an upgrade that adds a column": async (books, database) => {
    const member = await books.join();
    await setRules(database, books, [{ over: "200", currency: "EUR" }]);
    const [{ id: expense }] = (await member.ok(...log(item("50")))).results;
    const added = await proposes(member, ...log(item("300")));
    const corrected = await proposes(member, "update_expenses", { ids: [expense], set: { amount: "260" } });
    await database.query("alter table app.expenses add column planted text");
    try {
      for (const id of [added, corrected]) {
        assertEquals((await decide(database, books, id, "approve")).outcome, "approved");
      }
    } finally {
      await database.query("alter table app.expenses drop column planted");
    }
    assertEquals((await amounts(books)).sort(), ["260.00 EUR", "300.00 EUR"]);
  },

  "is stale once a record that it names is renamed": async (books, database) => {
    const member = await books.join();
    const [{ id: laptop }, { id: desk }] = (await books.ok(...log(item("100"), item("90")))).results;
    await setRules(database, books, [{ over: "300", currency: "EUR" }]);
    const dearer = await proposes(member, "update_expenses", { ids: [laptop], set: { amount: "900" } });
    const other = await proposes(member, "update_expenses", { ids: [desk], set: { amount: "800" } });
    await member.ok("update_expenses", { ids: [laptop], set: { name: "Gift for me" } });
    const decided = await decide(database, books, dearer, "approve");
    assertEquals([decided.outcome, decided.problem.code], ["stale", "not_decided.stale"]);
    assertEquals((await decide(database, books, other, "approve")).outcome, "approved");
    assertEquals((await amounts(books)).sort(), ["100.00 EUR", "800.00 EUR"]);
  },

  "is stale once the books have changed": async (books, database) => {
    const member = await books.join();
    const [{ id: expense }] = (await books.ok(...log(item("500")))).results;
    await setRules(database, books, [{ tool: "delete_records", over_records: 0 }, { over: "100", currency: "EUR" }]);
    const gone = await proposes(member, "delete_records", { ids: [expense] });
    const changed = await proposes(member, "update_expenses", { ids: [expense], set: { amount: "900" } });
    await books.ok("update_expenses", { ids: [expense], set: { amount: "501" } });
    for (const id of [gone, changed]) {
      const decided = await decide(database, books, id, "approve");
      assertEquals([decided.outcome, decided.problem.code], ["stale", "not_decided.stale"]);
    }
    assertEquals(await amounts(books), ["501.00 EUR"]);
    assertEquals((await decide(database, books, gone, "approve")).outcome, "already");
  },

  "replays an idempotency key: first the proposal, then the written result": async (books, database) => {
    const member = await books.join();
    await setRules(database, books, [{ tool: "log_expenses" }]);
    const call = ["log_expenses", { items: [item("5")], idempotency_key: "key-00000001" }] as const;
    const id = await proposes(member, ...call);
    assertEquals(await proposes(member, ...call), id);
    await decide(database, books, id, "approve");
    const again = await member.call(...call);
    assertEquals([again.ok, again.replayed, again.data.results[0].status], [true, true, "created"]);
    assertEquals(await amounts(books), ["5.00 EUR"]);
  },

  "creates one proposal for repeated calls and announces it in previews": async (books, database) => {
    const member = await books.join();
    await setRules(database, books, [{ tool: "log_expenses" }]);
    const preview = await member.call("log_expenses", { items: [item("5")], dry_run: true });
    assert(preview.warnings.some(({ code }: Json) => code === "needs_approval"), JSON.stringify(preview));
    const id = await proposes(member, ...log(item("5")));
    assertEquals(await proposes(member, ...log(item("5"))), id);
    const { proposals } = await books.ok("get_context", { include: [] });
    assertEquals(proposals.map((one: Json) => [one.id, one.wants_to, one.is_own]), [[
      id,
      "add 1 expense",
      false,
    ]]);
    const stranger = await books.join("viewer");
    assertEquals((await stranger.ok("get_context", { include: [] })).proposals, undefined);
  },

  "is decided only while a plan includes the connector": async (books, database) => {
    const member = await books.join();
    await setRules(database, books, [{ tool: "log_expenses" }]);
    const id = await proposes(member, ...log(item("5")));
    const setPlan = (plan: string) =>
      database.query("update identity.organizations set plan = $2 where id = $1", [books.organizationId, plan]);
    const [{ plan }] = await database.query<Json>(
      "select plan from identity.organizations where id = $1",
      [books.organizationId],
    ) as [Json];
    await setPlan("free");
    assertEquals((await decide(database, books, id, "approve")).outcome, "not_allowed");
    await setPlan(plan);
    assertEquals((await decide(database, books, id, "approve")).outcome, "approved");
  },

  "expires after seven days": async (books, database) => {
    const member = await books.join();
    await setRules(database, books, [{ tool: "log_expenses" }]);
    const id = await proposes(member, ...log(item("5")));
    const { hash } = await readProposal(database, books, id);
    books.goTo("2026-11-27");
    assertEquals((await readProposal(database, books, id)).state, "expired");
    assertEquals((await decide(database, books, id, "approve", hash)).outcome, "expired");
    assertEquals(await amounts(books), []);
  },

  "lets only a sole manager approve their own proposal, on the page": async (books, database) => {
    await setRules(database, books, [{ roles: ["owner"], tool: "log_expenses" }]);
    const id = await proposes(books, ...log(item("5")));
    const second = await books.join("manager");
    assertEquals((await readProposal(database, books, id)).may_decide, false);
    assertEquals((await decide(database, books, id, "approve")).outcome, "not_allowed");
    assertEquals((await decide(database, second, id, "approve")).outcome, "approved");
    await database.query("delete from identity.memberships where user_id = $1", [second.userId]);
    const own = await proposes(books, ...log(item("6")));
    assertEquals((await decide(database, books, own, "approve")).outcome, "approved");
    assertEquals(await amounts(books), ["5.00 EUR", "6.00 EUR"]);
  },

  "checks an import before it is published and keeps its file": async (books, database) => {
    const member = await books.join();
    await setRules(database, books, [{ tool: "import_expenses" }]);
    const csv = "Date,Name,Amount\n2026-11-01,Milk,1.00\n2026-11-02,Bread,2.50\n";
    const { preview } = await member.ok("import_expenses", importOfFile(csv));
    const commit = { import_id: preview.import_id, ...preview.commit_with };
    const id = await proposes(member, "import_expenses", commit);
    assertEquals(await amounts(books), []);
    books.goTo("2026-11-23");
    await database.query("select jobs.purge_expired($1)", [noon(books)]);
    assertEquals((await decide(database, books, id, "approve")).outcome, "approved");
    assertEquals(await amounts(books), ["1.00 EUR", "2.50 EUR"]);
  },

  "mails each approver once and the decision to the proposer": async (books, database) => {
    const member = await books.join();
    const manager = await books.join("manager");
    await books.join("viewer");
    await setRules(database, books, [{ tool: "log_expenses" }]);
    const id = await proposes(member, ...log(item("5")));
    const claim = () => database.asService<Json[]>("claim_mails", { about: id, at_most: 9, at: noon(books) });
    const asked = await claim();
    assertEquals(
      asked.map(({ kind, to }) => [kind, to]).toSorted(),
      [books, manager].map(({ userId }) => ["asked", `${userId}@example.com`]).toSorted(),
    );
    assertEquals(await claim(), []);
    const settle = (mail: Json, is_sent: boolean) =>
      database.asService("settle_mail", { mail_id: mail.id, is_sent, at: noon(books) });
    const [toOwner, toManager] = [books, manager].map(({ userId }) => asked.find(({ to }) => to.startsWith(userId))!);
    await settle(toManager, true);
    await settle(toOwner, false);
    assertEquals(await claim(), []);
    books.goTo("2026-11-21");
    assertEquals((await claim()).map(({ to }) => to), [toOwner.to]);
    await decide(database, manager, id, "refuse");
    assertEquals((await claim()).map(({ kind, to }) => [kind, to]), [["decided", `${member.userId}@example.com`]]);
    await settle(toOwner, true);
    assertEquals(
      (await claim()).map(({ kind, to }) => [kind, to]),
      [["settled", `${books.userId}@example.com`]],
      "the others who were asked hear it, and who answered does not",
    );
  },

  "reminds approvers once before expiry and reports the expiry": async (books, database) => {
    const [member, manager, viewer] = [await books.join(), await books.join("manager"), await books.join("manager")];
    await setRules(database, books, [{ tool: "log_expenses" }]);
    const id = await proposes(member, ...log(item("5")));
    const claim = async () => {
      const mails = await database.asService<Json[]>("claim_mails", { about: id, at_most: 9, at: noon(books) });
      for (const { id: mail_id } of mails) {
        await database.asService("settle_mail", { mail_id, is_sent: true, at: noon(books) });
      }
      return mails.map(({ kind, to }) => `${kind} ${to}`).toSorted();
    };
    const to = (kind: string, ...people: Books[]) =>
      people.map(({ userId }) => `${kind} ${userId}@example.com`).toSorted();
    assertEquals(await claim(), to("asked", books, manager, viewer));
    await database.query("update identity.memberships set role = 'viewer' where user_id = $1", [viewer.userId]);
    books.goTo("2026-11-24");
    assertEquals(await claim(), []);
    books.goTo("2026-11-25");
    assertEquals(await claim(), to("reminded", books, manager), "not who may no longer decide");
    books.goTo("2026-11-26");
    assertEquals(await claim(), []);
    books.goTo("2026-11-27");
    assertEquals(await claim(), [...to("decided", member), ...to("settled", books, manager)].toSorted());
    assertEquals(await claim(), []);
  },

  "is withdrawn with its proposer's removal, and approvers are notified": async (books, database) => {
    const [member, manager] = [await books.join(), await books.join("manager")];
    await setRules(database, books, [{ tool: "log_expenses" }]);
    const id = await proposes(member, ...log(item("5")));
    const claim = async (about: string) => {
      const mails = await database.asService<Json[]>("claim_mails", { about, at_most: 9, at: noon(books) });
      for (const { id: mail_id } of mails) {
        await database.asService("settle_mail", { mail_id, is_sent: true, at: noon(books) });
      }
      return mails.map(({ kind, to }) => `${kind} ${to}`);
    };
    assertEquals((await claim(id)).length, 2);
    const { organizationId: organization_id, userId: user_id } = books;
    const removal = { user_id, organization_id, member_id: member.userId, at: noon(books) };
    const { waiting } = await database.asService<Json>("read_removal", removal);
    assertEquals(waiting.map((one: Json) => [one.id, one.tool, one.effects_count]), [[id, "log_expenses", 1]]);
    assertEquals(await database.asService("remove_member", removal), { outcome: "removed" });
    const { state, problem, decided_by } = await readProposal(database, books, id);
    assertEquals([state, problem, decided_by], ["withdrawn", "proposer_gone", `${user_id}@example.com`]);
    assertEquals((await claim(organization_id)).toSorted(), [
      `removed ${member.userId}@example.com`,
      `settled ${manager.userId}@example.com`,
    ]);
    assertEquals(await claim(organization_id), []);
  },

  "reports the expiry to the proposer once": async (books, database) => {
    const member = await books.join();
    await setRules(database, books, [{ tool: "log_expenses" }]);
    const id = await proposes(member, ...log(item("5")));
    const claim = (proposal_id: string) =>
      database.asService<Json[]>("claim_mails", { about: proposal_id, at_most: 9, at: noon(books) });
    books.goTo("2026-11-27");
    const told = await claim(id);
    assertEquals(told.map(({ kind, to, proposal }) => [kind, to, proposal.state]), [
      ["decided", `${member.userId}@example.com`, "expired"],
    ]);
    await database.asService("settle_mail", { mail_id: told[0].id, is_sent: true, at: noon(books) });
    assertEquals(await claim(id), []);
    // Proposals that expired long ago cause no mail.
    const old = await proposes(member, ...log(item("6")));
    books.goTo("2026-12-07");
    assertEquals(await claim(old), []);
  },

  "is withdrawn when its app is disconnected by any route": async (books, database) => {
    const member = await books.join();
    await setRules(database, books, [{ tool: "log_expenses" }]);
    const [grant, another] = [crypto.randomUUID(), crypto.randomUUID()];
    const ids = [];
    for (const [amount, of] of [["5", grant], ["6", another], ["7", grant]]) {
      const id = await proposes(member, ...log(item(amount!)));
      await database.query("update app.proposals set grant_id = $2 where id = $1", [id, of]);
      ids.push(id);
    }
    await decide(database, books, ids[2]!, "refuse");
    await database.query(
      `with client as (
         insert into oauth.clients (client_id, client_name, redirect_uris, created_at)
         values ('client_' || $1::text, 'Tests', '{https://client.example/callback}', $4::timestamptz)
         returning client_id
       )
       insert into oauth.grants (id, client_id, user_id, organization_id, redirect_uri, resource, created_at, expires_at)
       select $1::uuid, client_id, $2, $3, 'https://client.example/callback', 'https://expenses.example/api/mcp',
         $4::timestamptz, $4::timestamptz + interval '1 year'
       from client`,
      [grant, member.userId, books.organizationId, noon(books)],
    );
    await database.query("select oauth.end_grant($1, 'refresh_token_replayed', $2)", [grant, noon(books)]);
    const states = await Promise.all(ids.map(async (id) => (await readProposal(database, member, id)).state));
    assertEquals(states, ["withdrawn", "pending", "refused"]);
    assertEquals((await decide(database, books, ids[0]!, "approve")).outcome, "already");
    // Nobody received a request by mail, and people get no mail about their own actions.
    const mails = await database.asService<Json[]>("claim_mails", {
      about: ids[0],
      at_most: 9,
      at: noon(books),
    });
    assertEquals(mails, []);
  },
});
