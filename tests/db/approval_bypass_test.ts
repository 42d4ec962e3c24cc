/**
 * Attempts to evade an organization's policy, each by a member who may write 200 EUR a day and delete five records,
 * and whose settings and imports always need approval. Every write above a limit waits, and the books remain
 * unchanged.
 */
import { assert, assertEquals } from "@std/assert";
import { decide, decideAsAssistant, noon, proposes, readProposal, setRules } from "../_support/approvals.ts";
import { type Step, testBooks } from "../_support/book_steps.ts";
import { addMember, addRate, type Books, type Json, openBooks } from "../_support/books.ts";
import type { TestDatabase } from "../_support/database.ts";
import { importOf, importOfFile } from "../_support/import_args.ts";

const POLICY = [
  { over: "200", currency: "EUR" },
  { tool: "delete_records", over_records: 5 },
  { tool: "import_expenses" },
  { tool: "update_settings" },
];
const item = (amount: string, more: Json = {}) => ({ name: `Thing ${amount}`, amount, date: "2026-11-19", ...more });
const log = (...items: Json[]) => ["log_expenses", { items }] as const;

/** All rows of the books except their change sets. */
async function dump(database: TestDatabase, { organizationId }: Books): Promise<string> {
  const tables = [
    "categories",
    "budgets",
    "payee_rules",
    "expenses",
    "expense_occurrences",
    "payments",
    "accounts",
    "settlements",
  ];
  const found = await Promise.all(tables.map((table) =>
    database.query(
      `select to_jsonb(t) - array['version', 'updated_at'] as row from app.${table} as t where organization_id = $1 order by id`,
      [organizationId],
    )
  ));
  return JSON.stringify([
    found,
    await database.query("select base_currency, closed_through, own_only from identity.organizations where id = $1", [
      organizationId,
    ]),
  ]);
}

interface Attempt {
  member: Books;
  owner: Books;
  database: TestDatabase;
  /** Runs a call that must wait, and checks that the books remain unchanged. */
  waits(tool: string, args: Json): Promise<string>;
}

const attempt = (work: (attempt: Attempt) => Promise<void>): Step => async (owner, database) => {
  const member = await owner.join();
  await setRules(database, owner, POLICY);
  const waits: Attempt["waits"] = async (tool, args) => {
    const before = await dump(database, owner);
    const id = await proposes(member, tool, args);
    assertEquals(await dump(database, owner), before);
    return id;
  };
  await work({ member, owner, database, waits });
};

testBooks("approval rules can't be evaded by", {}, {
  "splitting an amount into small expenses": attempt(async ({ member, waits }) => {
    for (const amount of ["60", "61", "62"]) await member.ok(...log(item(amount)));
    await waits(...log(item("63")));
    await member.ok(...log(item("17")));
    await waits(...log(item("0.01")));
  }),

  "settling up in pieces or from the other side": attempt(async ({ member, owner, waits }) => {
    const to = `${owner.userId}@example.com`;
    await waits("settle_up", { to, amount: "200.01" });
    for (const amount of ["90", "91"]) await member.ok("settle_up", { to, amount });
    await waits("settle_up", { from: to, amount: "19.01" });
    await member.ok("settle_up", { to, amount: "19" });
    await waits("settle_up", { to, amount: "1" });
  }),

  "changing who pays or who shares an expense": attempt(async ({ member, owner, waits }) => {
    const shared = { between: [`${owner.userId}@example.com`] };
    const { results } = await owner.ok(...log(item("201"), item("60", { shared: {} })));
    const [whole, part] = results.map(({ id }: Json) => id);
    const { bill } = await owner.ok("add_bill", { name: "Rent", amount: "900", month_days: [1] });
    await waits("update_expenses", { ids: [whole], set: { shared } });
    await waits("update_expenses", { ids: [whole], set: { paid_by: "me" } });
    await waits("update_bill", { bill_id: bill.id, set: { paid_by: "me", shared } });
    await member.ok("update_expenses", { ids: [part], set: { shared } });
    await waits("update_expenses", { ids: [part], set: { shared: { between: ["me"] } } });
  }),

  "changing a record in which the member has only a share": attempt(async ({ member, owner, database }) => {
    await owner.ok("update_settings", { own_only: true });
    const whole = { between: [`${owner.userId}@example.com`, `${member.userId}@example.com`] };
    const { results } = await owner.ok(...log(item("60", { shared: whole }), item("20", { shared: whole })));
    const [id, other] = results.map(({ id }: Json) => id);
    const { bill } = await owner.ok("add_bill", { name: "Rent", amount: "90", first_due: "2026-11-20", shared: whole });
    await owner.ok("mark_bill_paid", { bill_id: bill.id });
    const before = await dump(database, owner);
    const attempts: [string, Json][] = [
      ["delete_records", { ids: [id] }],
      ["delete_records", { ids: [bill.id] }],
      ["update_expenses", { ids: [id], set: { amount: "1.00", shared: { between: [] } } }],
      ["update_expenses", { ids: [id], merge_into: other }],
    ];
    for (const [tool, args] of attempts) {
      await member.fails("forbidden_role", tool, args);
      assertEquals(await dump(database, owner), before, tool);
    }
    const { recent_changes } = await owner.ok("get_context", { include: ["recent_changes"] });
    assertEquals(recent_changes.length, 4);
  }),

  "waiting for midnight instead of 24 hours": attempt(async ({ member, waits, owner, database }) => {
    const { change_id } = await member.call(...log(item("150")));
    const backdate = (by: string) =>
      database.query("update app.change_sets set created_at = created_at - $2::interval where id = $1", [
        change_id,
        by,
      ]);
    await backdate("23:59:59");
    await waits(...log(item("60")));
    await backdate("-23:59:59");
    owner.goTo("2026-11-21");
    // At noon the next day, exactly 24 hours have passed.
    await member.ok(...log(item("151")));
    await waits(...log(item("60")));
  }),

  "adding and paying a bill, correcting, splitting or merging": attempt(async ({ member, owner, waits }) => {
    await waits("add_bill", { name: "Car", amount: "5000", first_due: "2026-12-01" });
    const { bill } = await member.ok("add_bill", { name: "Gym", amount: "40", first_due: "2026-11-25" });
    await waits("update_bill", { bill_id: bill.id, set: { amount: "400" } });
    await member.ok("update_bill", {
      bill_id: bill.id,
      occurrence: { due_on: "2026-11-25", action: "set_amount", amount: "170" },
    });
    await waits("mark_bill_paid", { bill_id: bill.id, due_on: "2026-11-25" });
    const { results } = await owner.ok(...log(item("500"), item("500.01"), item("12")));
    const [first, second, third] = results.map(({ id }: Json) => id);
    await waits("update_expenses", { ids: [third], set: { amount: "400" } });
    await waits("update_expenses", { ids: [first], set: { is_refund: true } });
    await waits("update_expenses", { ids: [second], merge_into: first });
    await waits("update_expenses", {
      ids: [first],
      set: { split: [{ amount: "100", category: "Groceries" }, { category: "Gifts" }] },
    });
  }),

  "an undo or the undo of an undo": attempt(async ({ member, owner, waits }) => {
    const made = await owner.call(...log(item("900")));
    await waits("undo_change", { change_id: made.change_id });
    const small = await member.call(...log(item("90")));
    const undone = await member.call("undo_change", { change_id: small.change_id });
    assertEquals(undone.ok, true);
    await waits("undo_change", { change_id: undone.change_id });
    // Undoing a deletion or a setting counts like one.
    const six = await owner.call(...log(...[1, 2, 3, 4, 5, 6].map((n) => item(`0.0${n}`))));
    await waits("undo_change", { change_id: six.change_id });
    const set = await owner.call("update_settings", { category: { action: "create", name: "Boats" } });
    await waits("undo_change", { change_id: set.change_id });
  }),

  "another currency, with or without a rate": attempt(async ({ member, waits, database }) => {
    await addRate(database, "USD", "2026-11-19", "1.10");
    await waits(...log(item("221", { currency: "USD" })));
    await member.ok(...log(item("110", { currency: "USD" })));
    await waits(...log(item("101")));
    await waits(...log(item("1", { currency: "KWD" })));
  }),

  "changing the base currency first": attempt(async ({ waits, owner, database, member }) => {
    await waits("update_settings", { category: { action: "create", name: "Boats" } });
    await addRate(database, "JPY", "2026-11-19", "160");
    await owner.ok("update_settings", { base_currency: "JPY" });
    await waits(...log(item("32001", { currency: "JPY" })));
    await member.ok(...log(item("31999", { currency: "JPY" })));
  }),

  "deleting a few records at a time or merging them": attempt(async ({ member, owner, waits }) => {
    const { results } = await owner.ok(...log(...[..."123456789"].map((n) => item(`0.0${n}`))));
    const ids = results.map(({ id }: Json) => id);
    await member.ok("delete_records", { ids: ids.slice(0, 3) });
    await waits("delete_records", { ids: ids.slice(3, 6) });
    await member.ok("delete_records", { ids: ids.slice(3, 5) });
    await waits("delete_records", { ids: ids.slice(5, 6) });
    await waits("update_expenses", { ids: ids.slice(6, 7), merge_into: ids[5] });
  }),

  "importing a file": attempt(async ({ member, waits, owner }) => {
    const { preview } = await member.ok("import_expenses", importOfFile("Date,Name,Amount\n2026-11-01,Milk,1.00\n"));
    const commit = { import_id: preview.import_id, ...preview.commit_with };
    const id = await waits("import_expenses", commit);
    assertEquals(await waits("import_expenses", commit), id);
    assertEquals((await owner.ok("list_expenses")).rows, []);
  }),

  "deleting by a filter": attempt(async ({ owner, member, waits }) => {
    await owner.ok(...log(...[..."123456"].map((n) => item(`0.0${n}`))));
    const filter = { from: "2026-11-19" };
    const { details } = await member.fails("confirmation_required", "delete_records", { filter });
    await waits("delete_records", { filter, confirm: details.confirm });
  }),

  "a small amount with a larger bank charge": attempt(async ({ member, owner, waits, database }) => {
    await addRate(database, "GBP", "2026-11-19", "0.5");
    const charged = (amount: string) => ({ charged: { amount, currency: "EUR" } });
    await waits(...log(item("1", { currency: "GBP", ...charged("201") })));
    const { results: [{ id }] } = await owner.ok(...log(item("1", { currency: "GBP" })));
    await waits("update_expenses", { ids: [id], set: charged("201") });
    // A large amount with a small charge waits too, because the larger one counts.
    await waits(...log(item("101", { currency: "GBP", ...charged("1") })));
    await waits(...log(item("1", { currency: "KWD", ...charged("1") })));
    await member.ok(...log(item("50", { currency: "GBP", ...charged("99") })));
    await member.ok(...log(item("99")));
    await waits(...log(item("2")));
  }),

  "moving an expense to another year or changing its tax": attempt(async ({ owner, member, waits }) => {
    const { results } = await owner.ok(...log(item("5000"), item("50")));
    const [large, small] = results.map(({ id }: Json) => id);
    await waits("update_expenses", { ids: [large], set: { date: "2025-12-31" } });
    await waits("update_expenses", { ids: [large], set: { tax: "798.32" } });
    // A changed date counts the whole amount, a changed tax only the tax.
    await member.ok("update_expenses", { ids: [small], set: { date: "2025-12-31" } });
    await member.ok("update_expenses", { ids: [large], set: { tax: "140" } });
    await waits("update_expenses", { ids: [large], set: { tax: "151" } });
  }),

  "changing a bill's schedule, payee, kind of amount or autopay": attempt(async ({ owner, member, waits }) => {
    const { bill: { id: bill_id } } = await owner.ok("add_bill", {
      name: "Rent",
      amount: "900",
      first_due: "2026-11-25",
    });
    for (
      const set of [
        { autopay: true },
        { status: "paused" },
        { status: "cancelled" },
        { frequency: "weekly" },
        {
          first_due: "2026-11-21",
        },
        { ends_on: "2026-12-25" },
        { month_days: [1, 15] },
        { payee: "Somebody else" },
        { amount_mode: "variable" },
      ]
    ) {
      await waits("update_bill", { bill_id, set });
    }
    await waits("update_bill", { bill_id, occurrence: { due_on: "2026-11-25", action: "skip" } });
    await owner.ok("update_bill", { bill_id, occurrence: { due_on: "2026-11-25", action: "skip" } });
    await waits("update_bill", { bill_id, occurrence: { due_on: "2026-11-25", action: "reopen" } });
    // A new name moves no money.
    await member.ok("update_bill", { bill_id, set: { name: "Flat" } });
    // For a variable amount, the latest one counts.
    const { bill: power } = await owner.ok("add_bill", {
      name: "Power",
      amount_mode: "variable",
      first_due: "2026-11-15",
    });
    await owner.ok("update_bill", {
      bill_id: power.id,
      occurrence: { due_on: power.next_due, action: "set_amount", amount: "300" },
    });
    await waits("update_bill", { bill_id: power.id, set: { autopay: true } });
    // Another currency without a known amount counts the same way.
    await owner.ok("mark_bill_paid", { bill_id: power.id, advance: true });
    await waits("update_bill", { bill_id: power.id, set: { autopay: true, currency: "JPY" } });
  }),

  "marking an expense as reimbursed": attempt(async ({ owner, waits }) => {
    const { results: [{ id }] } = await owner.ok(...log(item("201")));
    await waits("update_expenses", { ids: [id], set: { reimbursement: "open", reimbursed_by: "The firm" } });
    await owner.ok("update_expenses", { ids: [id], set: { reimbursement: "open" } });
    await waits("update_expenses", { ids: [id], set: { reimbursement: "done" } });
  }),

  "another app, no app or a page": attempt(async ({ member, waits, database }) => {
    await member.ok(...log(item("150")));
    const claims = { sub: member.userId, organization_id: member.organizationId, client_name: "Another" };
    const asApp = (grant_id?: string) =>
      database.asRole("authenticated", { ...claims, ...(grant_id && { grant_id }) }, async (session) => {
        const [row] = await session.query<Json>("select app.run_tool('log_expenses', $1::text::jsonb, $2) as result", [
          JSON.stringify({ items: [item("51")] }),
          noon(member),
        ]);
        return row.result;
      });
    for (const grant of [undefined, crypto.randomUUID()]) {
      assertEquals((await asApp(grant)).error.code, "awaiting_approval");
    }
    const page = await database.asService<Json>("run_page_tool", {
      user_id: member.userId,
      organization_id: member.organizationId,
      tool: "log_expenses",
      arguments: { items: [item("51")] },
      at: noon(member),
    });
    assertEquals(page.result.error.code, "awaiting_approval");
    await waits(...log(item("51")));
  }),

  "an idempotency key, a preview or a repeated call": attempt(async ({ member, waits }) => {
    const big = { items: [item("900")], idempotency_key: "key-00000001" };
    const id = await waits("log_expenses", big);
    assertEquals(await waits("log_expenses", big), id);
    const preview = await member.call("log_expenses", { items: [item("900")], dry_run: true });
    assertEquals([preview.ok, preview.change_id], [true, undefined]);
    await member.fails("idempotency_conflict", "log_expenses", { ...big, items: [item("1")] });
  }),

  "approval by the proposer or an outsider": attempt(
    async ({ member, waits, owner, database }) => {
      const id = await waits(...log(item("900")));
      const other = await owner.join();
      const viewer = await owner.join("viewer");
      const stranger = await openBooks(database);
      const { hash } = await readProposal(database, owner, id);
      for (
        const [who, outcome] of [[member, "not_allowed"], [other, "unknown"], [viewer, "unknown"], [
          stranger,
          "unknown",
        ]] as const
      ) {
        assertEquals((await decide(database, who, id, "approve", hash)).outcome, outcome);
        if (who !== member) assertEquals(await readProposal(database, who, id), undefined);
      }
      // A manager of another organization who is a member of this one.
      await addMember(database, stranger.organizationId, other.userId, "manager");
      assertEquals((await decide(database, other, id, "approve", hash)).outcome, "unknown");
    },
  ),

  "a manager who approves their own proposal while the owner could": attempt(
    async ({ owner, waits, database }) => {
      const manager = await owner.join("manager");
      const roles = ["member" as const, "manager" as const, "owner" as const];
      await setRules(database, owner, [{ tool: "log_expenses", roles }], { assistants: true });
      const id = await proposes(manager, ...log(item("900")));
      const { hash, may_decide } = await readProposal(database, manager, id);
      assertEquals(may_decide, false);
      const before = await dump(database, owner);
      const assistant = async () => (await decideAsAssistant(database, manager, { id, hash })).outcome;
      for (const decision of ["approve", "refuse"] as const) {
        assertEquals((await decide(database, manager, id, decision, hash)).outcome, "not_allowed");
      }
      assertEquals(await assistant(), "not_allowed");
      assertEquals(await dump(database, owner), before);
      // A manager may approve a colleague's proposal, also through an assistant.
      const colleagues = { id: await waits(...log(item("901"))), hash: "" };
      colleagues.hash = (await readProposal(database, manager, colleagues.id)).hash;
      assertEquals((await decideAsAssistant(database, manager, colleagues)).outcome, "approved");
      // A sole manager may approve on the page, but not through an assistant.
      await database.query("update identity.memberships set role = 'member' where user_id = $1", [owner.userId]);
      assertEquals(await assistant(), "not_allowed");
      assertEquals((await decide(database, manager, id, "approve", hash)).outcome, "approved");
    },
  ),

  "another proposal's hash or a second decision": attempt(async ({ owner, waits, database }) => {
    const one = await waits(...log(item("900")));
    const two = await waits(...log(item("901")));
    const { hash } = await readProposal(database, owner, one);
    assertEquals((await decide(database, owner, two, "approve", hash)).outcome, "changed");
    assertEquals((await decide(database, owner, one, "approve", hash)).outcome, "approved");
    for (const again of ["approve", "refuse"] as const) {
      assertEquals((await decide(database, owner, one, again, hash)).outcome, "already");
    }
    assertEquals((await owner.ok("list_expenses")).rows.length, 1);
  }),

  "a proposer who became a viewer or was removed": attempt(async ({ member, owner, waits, database }) => {
    const demoted = await waits(...log(item("900")));
    const removed = await waits(...log(item("901")));
    await database.query("update identity.memberships set role = 'viewer' where user_id = $1", [member.userId]);
    const stale = await decide(database, owner, demoted, "approve");
    assertEquals([stale.outcome, stale.problem.code], ["stale", "forbidden_role.read_only"]);
    await database.asService("remove_member", {
      user_id: owner.userId,
      organization_id: owner.organizationId,
      member_id: member.userId,
      at: noon(owner),
    });
    assertEquals((await decide(database, owner, removed, "approve")).outcome, "already");
    assertEquals((await owner.ok("list_expenses")).rows, []);
  }),

  "changing the policy without being the owner": attempt(async ({ member, owner, waits, database }) => {
    const manager = await owner.join("manager");
    for (
      const [who, outcome] of [[member, "unknown"], [manager, "not_allowed"], [
        await openBooks(database),
        "unknown",
      ]] as const
    ) {
      const answer = await database.asService<Json>("change_approval_policy", {
        user_id: who.userId,
        organization_id: owner.organizationId,
        rules: [],
        assistants_may_approve: true,
        at: noon(owner),
      });
      assertEquals(answer.outcome, outcome);
    }
    await waits(...log(item("900")));
    // Relaxing the policy does not write pending proposals. Once the policy is strict again, earlier writes count.
    await setRules(database, owner, []);
    assertEquals((await owner.ok("list_expenses")).rows, []);
    await member.ok(...log(item("901")));
    await setRules(database, owner, POLICY);
    await waits(...log(item("1")));
  }),

  "writing to the tables directly": attempt(async ({ member, waits, database }) => {
    const id = await waits(...log(item("900")));
    const claims = { sub: member.userId, organization_id: member.organizationId };
    for (
      const sql of [
        "update app.proposals set state = 'approved', decided_at = now()",
        "delete from app.proposals",
        "delete from app.approval_rules",
        "update app.approval_rules set over_minor = 1000000",
        "insert into app.approval_rules (organization_id, roles, approver) select organization_id, '{owner}', 'manager' from app.proposals",
        "select app.settle_proposal($$x$$, auth.uid(), 'page', 'x', 'approve', now())",
        "select public.decide_proposal(auth.uid(), 'x', 'x', 'approve', now())",
        "update app.change_sets set proposal_id = 'prop_000000000001'",
      ]
    ) {
      const error = await database.asRole("authenticated", claims, (session) => session.query(sql)).then(
        () => undefined,
        (thrown: Error) => thrown,
      );
      assert(error && /permission denied/.test(error.message), `${sql}: ${error?.message}`);
    }
    assertEquals(
      (await database.query<Json>("select state from app.proposals where id = $1", [id]))[0].state,
      "pending",
    );
  }),

  "setting the amount of one autopay date": attempt(async ({ member, waits }) => {
    const { bill } = await member.ok("add_bill", {
      name: "Gym",
      amount: "40",
      first_due: "2026-11-25",
      autopay: true,
    });
    const price = (amount: string) => ({
      bill_id: bill.id,
      occurrence: { due_on: "2026-11-25", action: "set_amount", amount },
    });
    await waits("update_bill", price("5000"));
    await member.ok("update_bill", price("200"));
    await waits("update_bill", price("201"));
  }),
});

/** Rules about one effect of a tool that other tools also have. */
const byTool = (policy: Parameters<typeof setRules>[2], work: (attempt: Attempt) => Promise<void>): Step =>
  attempt(async (given) => {
    await setRules(given.database, given.owner, policy);
    await work(given);
  });

testBooks("a rule about one tool also covers", {}, {
  "an import that adds expenses": byTool([{ tool: "log_expenses", over_records: 1 }], async ({ member, waits }) => {
    const csv = "Date,Name,Amount\n2026-11-01,Milk,1.00\n2026-11-02,Bread,1.00\n";
    const { preview } = await member.ok("import_expenses", importOfFile(csv));
    await waits("import_expenses", { import_id: preview.import_id, ...preview.commit_with });
    await member.ok(...log(item("1")));
    await waits(...log(item("2")));
  }),

  "a category merge that moves expenses or bills": byTool(
    [{ tool: "update_expenses", over_records: 1 }, { tool: "update_bill" }],
    async ({ owner, member, waits }) => {
      await owner.ok(...log(item("1", { category: "Gifts" }), item("2", { category: "Gifts" })));
      await owner.ok(...log(item("3", { category: "Travel" })));
      await owner.ok("add_bill", { name: "Club", amount: "9", first_due: "2026-12-01", category: "Health" });
      const merge = (name: string) => ({ category: { action: "merge", name, into: "Food" } });
      await waits("update_settings", merge("Gifts"));
      await waits("update_settings", merge("Health"));
      await member.ok("update_settings", merge("Travel"));
    },
  ),

  "a bill on autopay": byTool([{ tool: "mark_bill_paid" }], async ({ owner, member, waits }) => {
    const gym = { name: "Gym", amount: "9", first_due: "2026-11-25" };
    await waits("add_bill", { ...gym, autopay: true });
    const { bill } = await owner.ok("add_bill", gym);
    await waits("update_bill", { bill_id: bill.id, set: { autopay: true } });
    await member.ok("update_bill", { bill_id: bill.id, set: { amount: "10" } });
  }),

  "a higher autopay amount": byTool([{ tool: "mark_bill_paid" }], async ({ owner, member, waits }) => {
    const gym = { name: "Gym", amount: "9", first_due: "2026-11-25", autopay: true };
    const { bill } = await owner.ok("add_bill", gym);
    await waits("update_bill", { bill_id: bill.id, set: { amount: "9000" } });
    await waits("update_bill", { bill_id: bill.id, set: { amount: "9", currency: "USD" } });
    const occurrence = { due_on: "2026-11-25", action: "set_amount", amount: "9000" };
    await waits("update_bill", { bill_id: bill.id, occurrence });
    await member.ok("update_bill", { bill_id: bill.id, set: { note: "Near the station" } });
    await owner.ok("update_bill", { bill_id: bill.id, set: { autopay: false } });
    await member.ok("update_bill", { bill_id: bill.id, occurrence });
  }),

  "the undo of a change by that tool": byTool(
    [{ tool: "settle_up" }, { tool: "add_bill" }],
    async ({ owner, waits, member }) => {
      const bill = await owner.call("add_bill", { name: "Gym", amount: "9", first_due: "2026-11-25" });
      await waits("undo_change", { change_id: bill.change_id });
      const settled = await owner.call("settle_up", { to: `${member.userId}@example.com`, amount: "5" });
      await waits("undo_change", { change_id: settled.change_id });
    },
  ),
});

/** Only amounts are limited here, so an import alone needs no approval. */
const byAmount = (work: (attempt: Attempt) => Promise<void>): Step =>
  attempt(async (given) => {
    await setRules(given.database, given.owner, [{ over: "200", currency: "EUR" }]);
    await work(given);
  });

const row = (line: number, amount: string, more: Json = {}) => ({
  line,
  name: `Row ${line}`,
  amount,
  date: "2026-11-01",
  ...more,
});

testBooks("approval rules can't be evaded by a file", {}, {
  "with refunds that lower its total": byAmount(async ({ member, waits }) => {
    const { preview } = await member.ok(
      "import_expenses",
      importOf([row(2, "150"), row(3, "149", { is_refund: true })]),
    );
    assertEquals(preview.totals, { EUR: "1.00" });
    await waits("import_expenses", { import_id: preview.import_id, ...preview.commit_with });
  }),

  "that pays a bill and adds nothing": byAmount(async ({ member, owner, waits }) => {
    await owner.ok("add_bill", { name: "Rent", amount: "900", first_due: "2026-11-21" });
    const { preview } = await member.ok("import_expenses", importOfFile("Date,Name,Amount\n2026-11-20,Rent,900.00\n"));
    assertEquals(preview.rows_ok, 0);
    await waits("import_expenses", { import_id: preview.import_id, ...preview.commit_with });
  }),

  "split into small files": byAmount(async ({ member, waits }) => {
    const commit = async (line: number, amount: string) => {
      const { preview } = await member.ok("import_expenses", importOf([row(line, amount)]));
      return { import_id: preview.import_id, ...preview.commit_with };
    };
    const first = await commit(2, "150");
    await member.ok("import_expenses", first);
    // A repeated call refers to the same import.
    assertEquals((await member.call("import_expenses", first)).ok, true);
    await waits("import_expenses", await commit(3, "51"));
    await waits(...log(item("51")));
  }),

  "corrected after it was proposed": attempt(async ({ member, owner, waits, database }) => {
    const { preview } = await member.ok("import_expenses", importOf([row(2, "1"), row(3, "999")]));
    const { import_id } = preview;
    const id = await waits("import_expenses", { import_id, ...preview.commit_with });
    const shown = await readProposal(database, owner, id);
    assertEquals([shown.effects.length, shown.effects_count], [2, 2]);
    // The call has the same count and totals.
    await member.ok("import_expenses", {
      import_id,
      corrections: [{ line: 2, name: "Yacht", amount: "999" }, { line: 3, amount: "1" }],
    });
    const decided = await decide(database, owner, id, "approve", shown.hash);
    assertEquals([decided.outcome, decided.problem.code], ["stale", "not_decided.stale"]);
    assertEquals((await owner.ok("list_expenses")).rows, []);
  }),

  "of 1,001 rows": byAmount(async ({ member, owner, waits, database }) => {
    const rows = Array.from({ length: 1001 }, (_, n) => row(n + 2, "1", { name: `Coffee ${n}` }));
    const { preview } = await member.ok("import_expenses", importOf(rows));
    const id = await waits("import_expenses", { import_id: preview.import_id, ...preview.commit_with });
    const shown = await readProposal(database, owner, id);
    assertEquals([shown.effects.length, shown.effects_count, shown.effects[0].verb], [100, 1001, "added"]);
    assertEquals(shown.effects[0].subject.name, "Coffee 0");
    assertEquals((await decide(database, owner, id, "approve", shown.hash)).outcome, "approved");
    assertEquals((await owner.call("list_expenses")).total_count, 1001);
  }),
});

testBooks("an approval writes nothing", {}, {
  "during deletion or without the plan": attempt(async ({ owner, waits, database }) => {
    const id = await waits(...log(item("900")));
    const { hash } = await readProposal(database, owner, id);
    const set = (sql: string) =>
      database.query(`update identity.organizations set ${sql} where id = $1`, [owner.organizationId]);
    for (
      const [until, after, outcome] of [
        ["deletes_at = '2026-12-20T00:00:00Z'", "deletes_at = null", "no_changes"],
        ["plan = 'free'", "plan = 'team'", "not_allowed"],
      ] as const
    ) {
      await set(until);
      assertEquals((await readProposal(database, owner, id)).may_decide, false);
      assertEquals((await decide(database, owner, id, "approve", hash)).outcome, outcome);
      await set(after);
    }
    assertEquals((await owner.ok("list_expenses")).rows, []);
    assertEquals((await decide(database, owner, id, "approve", hash)).outcome, "approved");
  }),

  "while the proposer or the approver is suspended": attempt(async ({ owner, member, waits, database }) => {
    const [one, two] = [await waits(...log(item("900"))), await waits(...log(item("901")))];
    const manager = await owner.join("manager");
    const { hash } = await readProposal(database, owner, two);
    const suspend = (who: Books, until: string | null) =>
      database.query("update auth.users set banned_until = $2 where id = $1", [who.userId, until]);
    await suspend(manager, "2100-01-01T00:00:00Z");
    assertEquals(await readProposal(database, manager, two), undefined);
    assertEquals((await decide(database, manager, two, "approve", hash)).outcome, "not_allowed");
    await suspend(member, "2100-01-01T00:00:00Z");
    const stale = await decide(database, owner, one, "approve");
    assertEquals([stale.outcome, stale.problem.code], ["stale", "proposer_gone"]);
    assertEquals((await owner.ok("list_expenses")).rows, []);
    await suspend(manager, null);
    await suspend(member, null);
    assertEquals((await decide(database, manager, two, "approve", hash)).outcome, "approved");
  }),

  "after a refusal or expiry, which its key reports": attempt(async ({ member, owner, waits, database }) => {
    const big = { items: [item("900")], idempotency_key: "key-00000001" };
    const refused = await waits("log_expenses", big);
    assertEquals((await decide(database, owner, refused, "refuse")).outcome, "refused");
    const answer = await member.fails("not_decided", "log_expenses", big);
    assertEquals(answer.message, "This proposal has already been rejected. Nothing was changed.");
    const late = { items: [item("901")], idempotency_key: "key-00000002" };
    const expired = await waits("log_expenses", late);
    const { hash } = await readProposal(database, owner, expired);
    await database.query("update app.proposals set expires_at = created_at where id = $1", [expired]);
    assertEquals((await decide(database, owner, expired, "approve", hash)).outcome, "expired");
    const tooLate = await member.fails("not_decided", "log_expenses", late);
    assertEquals(tooLate.message, "This proposal has expired. Nothing was changed.");
    assertEquals((await owner.ok("list_expenses")).rows, []);
  }),
});
