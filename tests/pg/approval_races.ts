/** Concurrent approvals by several people and apps, on real PostgreSQL. */
import { assert, assertEquals } from "@std/assert";
import { decide, noon, proposes, readProposal, setRules } from "../_support/approvals.ts";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";
import { importOf } from "../_support/import_args.ts";

const database = await sharedDatabase();

const ROUNDS = 8;
const item = (amount: string) => ({ name: `Thing ${amount}`, amount, date: "2026-11-19" });
const log = (amount: string) => ["log_expenses", { items: [item(amount)] }] as const;
const count = async (books: Books) => (await books.call("list_expenses")).total_count;

async function household() {
  const owner = await openBooks(database);
  const [member, manager] = [await owner.join(), await owner.join("manager")];
  await setRules(database, owner, [{ over: "200", currency: "EUR" }]);
  return { owner, member, manager };
}

Deno.test("concurrent small expenses add up like sequential ones", async () => {
  const { owner, member } = await household();
  const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => member.call(...log(`60.${10 + n}`))));
  // A call that waited too long for the lock gets an error.
  const written = answers.filter(({ ok }) => ok).length;
  assert(written <= 3, `${written} of 60 EUR each`);
  assertEquals(await count(owner), written);
  for (const { error } of answers.filter(({ ok }) => !ok)) assert(["awaiting_approval", "busy"].includes(error.code));
});

Deno.test("concurrent imports add up like sequential ones", async () => {
  const { owner, member } = await household();
  const commits: Json[] = [];
  for (let n = 0; n < 4; n++) {
    const row = { line: 2, name: `Row ${n}`, amount: `150.${10 + n}`, date: `2026-11-0${n + 1}` };
    const { preview } = await member.ok("import_expenses", importOf([row]));
    commits.push({ import_id: preview.import_id, ...preview.commit_with });
  }
  const answers = await Promise.all(commits.map((commit) => member.call("import_expenses", commit)));
  assertEquals(await count(owner), 1);
  assertEquals(answers.filter(({ ok }) => ok).length, 1);
  for (const { error } of answers.filter(({ ok }) => !ok)) assert(["awaiting_approval", "busy"].includes(error.code));
});

Deno.test("eight concurrent approvals of a proposal write it once", async () => {
  const { owner, member, manager } = await household();
  const id = await proposes(member, ...log("900"));
  const { hash } = await readProposal(database, owner, id);
  const outcomes = await Promise.all(
    Array.from({ length: 8 }, (_, n) => decide(database, n % 2 ? owner : manager, id, "approve", hash)),
  );
  assertEquals(outcomes.filter(({ outcome }) => outcome === "approved").length, 1);
  assert(outcomes.every(({ outcome }) => ["approved", "already", "busy"].includes(outcome)));
  assertEquals(await count(owner), 1);
});

Deno.test("concurrent approval and rejection: one wins, and the books match it", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { owner, member, manager } = await household();
    const id = await proposes(member, ...log("900"));
    const { hash } = await readProposal(database, owner, id);
    const [yes, no] = await Promise.all([
      decide(database, owner, id, "approve", hash),
      decide(database, manager, id, "refuse", hash),
    ]);
    assertEquals(
      [yes.outcome, no.outcome].toSorted(),
      yes.outcome === "approved" ? ["already", "approved"] : [
        "already",
        "refused",
      ],
    );
    assertEquals(await count(owner), yes.outcome === "approved" ? 1 : 0);
  }
});

Deno.test("an approval and a concurrent change of its rows are serialized", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { owner, member } = await household();
    const { data: { results: [{ id: expense }] } } = await owner.call(...log("500"));
    const id = await proposes(member, "update_expenses", { ids: [expense], set: { amount: "900" } });
    const { hash } = await readProposal(database, owner, id);
    const [decided, changed] = await Promise.all([
      decide(database, owner, id, "approve", hash),
      owner.call("update_expenses", { ids: [expense], set: { amount: "501" } }),
    ]);
    const { data } = await owner.call("list_expenses");
    assertEquals(changed.ok, true);
    // The second call wins, or changes nothing.
    assertEquals([data.rows[0].amount, ["approved", "stale"].includes(decided.outcome)], ["501.00", true]);
  }
});

Deno.test("approving a proposal while its proposer is removed writes it only as a member's", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { owner, member } = await household();
    const id = await proposes(member, ...log("900"));
    const { hash } = await readProposal(database, owner, id);
    const [decided] = await Promise.all([
      decide(database, owner, id, "approve", hash),
      database.asService("remove_member", {
        user_id: owner.userId,
        organization_id: owner.organizationId,
        member_id: member.userId,
        at: noon(owner),
      }),
    ]);
    assert(["approved", "already"].includes(decided.outcome), decided.outcome);
    assertEquals(await count(owner), decided.outcome === "approved" ? 1 : 0);
  }
});

Deno.test("a rule added during a write applies to the next write", async () => {
  for (let round = 0; round < ROUNDS; round++) {
    const { owner, member } = await household();
    await Promise.all([
      member.call(...log("100")),
      setRules(database, owner, [{ tool: "log_expenses" }]).catch(() => {}),
    ]);
    await setRules(database, owner, [{ tool: "log_expenses" }]);
    await member.fails("awaiting_approval", ...log("1"));
  }
});

Deno.test("eight concurrent senders claim each mail once", async () => {
  const { owner, member } = await household();
  for (let n = 0; n < 5; n++) await proposes(member, ...log(`90${n}`));
  const claimed = (await Promise.all(
    Array.from(
      { length: 8 },
      () => database.asService<Json[]>("claim_mails", { about: null, at_most: 4, at: noon(owner) }),
    ),
  )).flat().map(({ id }) => id);
  assertEquals(new Set(claimed).size, claimed.length);
});

Deno.test("concurrent removals claim one mail", async () => {
  const { owner, member } = await household();
  const { userId: user_id, organizationId: organization_id } = owner;
  const removal = { user_id, organization_id, member_id: member.userId, at: noon(owner) };
  const outcomes = await Promise.all([1, 2].map(() => database.asService<Json>("remove_member", removal)));
  assertEquals(outcomes.map(({ outcome }) => outcome).toSorted(), ["removed", "unknown"]);
  const claims = await Promise.all(
    Array.from(
      { length: 8 },
      () => database.asService<Json[]>("claim_mails", { about: organization_id, at_most: 4, at: noon(owner) }),
    ),
  );
  assertEquals(claims.flat().map(({ kind, to }) => [kind, to]), [["removed", `${member.userId}@example.com`]]);
});
