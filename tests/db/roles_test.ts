/** The rights of each role in the tools: read-only access, settings, and own-only access. */
import { assert, assertEquals } from "@std/assert";
import { TOOLS } from "../../functions/mcp/tools/mod.ts";
import { type Books, type Json } from "../_support/books.ts";
import { testBooks } from "../_support/book_steps.ts";
import { openDatabase, type TestDatabase } from "../_support/database.ts";

const names = (answer: Json): string[] => answer.data.rows.map(({ name }: Json) => name).toSorted();
const spent = async (person: Books): Promise<string> =>
  (await person.ok("summarize_spending", { from: "2026-01-01", to: "2026-12-31" })).total.amount;
const setRole = (database: TestDatabase, { userId }: Books, role: string) =>
  database.query("update identity.memberships set role = $2 where user_id = $1", [userId, role]);

/** Every row of the books, to check that none changed. */
async function dumpBooks(database: TestDatabase, { organizationId }: Books): Promise<string> {
  const tables = ["budgets", "categories", "change_sets", "expenses", "import_batches", "payments", "payee_rules"];
  const rows = await database.query(
    tables.map((name) => `select to_jsonb(t)::text as row from app.${name} as t where organization_id = $1`)
      .join(" union all ") + " order by 1",
    [organizationId],
  );
  return JSON.stringify(rows);
}

testBooks("a viewer", {}, {
  "can call every read tool and no other": async (owner, database) => {
    await owner.ok("log_expenses", {
      items: [{ name: "Lunch", amount: "10.00" }, { name: "Giro", amount: "500.00", kind: "balance" }],
    });
    const viewer = await owner.join("viewer");
    const before = await dumpBooks(database, owner);
    const [{ email }] = await database.query<{ email: string }>(
      "select email from identity.profiles where user_id = $1",
      [owner.userId],
    ) as [{ email: string }];
    for (const { listed } of TOOLS) {
      // Without arguments, because the role is checked first.
      const args = listed.name === "reconcile" ? { account: "None" } : {};
      const answer = await viewer.facts(listed.name, args);
      if (listed.annotations.readOnlyHint) {
        assert(answer.ok || answer.error.code === "not_found.statement_account", listed.name);
      } else {
        assertEquals(answer.error, { code: "forbidden_role.read_only", params: { who: [email] } }, listed.name);
      }
    }
    assertEquals(await dumpBooks(database, owner), before);
    const refused = await viewer.fails("forbidden_role", "log_expenses", { items: [{ name: "Tea", amount: "2.00" }] });
    assertEquals(refused.message, `You can read these books but not change them. Ask ${email} to do it.`);
    assertEquals(refused.retryable, false);
    assertEquals(await spent(viewer), "10.00");
  },
  "can't write with a preview, an earlier key or an earlier import": async (owner, database) => {
    const person = await owner.join();
    const items = [{ name: "Lunch", amount: "10.00" }];
    await person.ok("log_expenses", { items, idempotency_key: "lunch-key" });
    const { upload } = await person.ok("import_expenses", { step: "start" });
    await setRole(database, person, "viewer");
    await person.fails("forbidden_role", "log_expenses", { items, idempotency_key: "lunch-key" });
    await person.fails("forbidden_role", "log_expenses", { items, dry_run: true });
    await person.fails("forbidden_role", "undo_change");
    const { result } = await database.asService<Json>("open_upload", {
      user_id: person.userId,
      import_id: upload.import_id,
      at: "2026-11-20T12:00:00Z",
    });
    assertEquals(result.error.code, "forbidden_role.read_only");
  },
  "gets an error about read-only access": async (owner) => {
    const viewer = await owner.join("viewer");
    const { role, read_only } = await viewer.ok("get_context");
    assertEquals([role, read_only], ["viewer", true]);
    const context = await owner.ok("get_context");
    assertEquals([context.role, "read_only" in context], ["owner", false]);
  },
  "sees their own mail settings and not the owner's": async (owner, database) => {
    const viewer = await owner.join("viewer");
    await database.query(
      `update identity.profiles set reminder_email = 'secret@example.com', reminder_email_confirmed_at = now(),
         hide_amounts_in_email = true, default_lead_days = 5 where user_id = $1`,
      [owner.userId],
    );
    await database.query("update identity.profiles set email_enabled = false where user_id = $1", [viewer.userId]);
    const context = await viewer.ok("get_context", { include: ["settings", "members", "recent_changes"] });
    assertEquals(JSON.stringify(context).includes("secret@"), false);
    assertEquals(context.settings.reminders, {
      email_enabled: false,
      email: `${viewer.userId}@example.com`,
      default_days_before: 5,
      hide_amounts_in_email: false,
      my_mails: "mine",
    });
    const { settings } = await owner.ok("get_context");
    assertEquals([settings.reminders.email, settings.reminders.hide_amounts_in_email], ["secret@example.com", true]);
  },
  "of another organization has no access": async (owner, database) => {
    const other = await owner.join("viewer");
    await database.query("delete from identity.memberships where user_id = $1", [other.userId]);
    assertEquals(await other.facts("log_expenses", { items: [] }), null);
    assertEquals(await other.facts("list_expenses"), null);
  },
});

testBooks("a manager", {}, {
  "changes the organization's settings but not the owner's": async (owner) => {
    const manager = await owner.join("manager");
    await manager.ok("update_settings", { closed_through: "2026-09", own_only: true, base_currency: "USD" });
    const { settings } = await owner.ok("get_context");
    assertEquals([settings.closed_through, settings.own_only, settings.base_currency], ["2026-09", true, "USD"]);
    for (const args of [{ timezone: "UTC" }, { reminders: { hide_amounts_in_email: true } }]) {
      const { message } = await manager.fails("forbidden_role", "update_settings", { own_only: false, ...args });
      assertEquals(
        message.replace(/\S+@/, "owner@"),
        "Only the owner can change the time zone and the owner's emails. Ask " +
          "owner@example.com to do it.",
      );
    }
    assertEquals((await owner.ok("get_context")).settings.own_only, true);
  },
  "can undo organization settings, which a member can't": async (owner) => {
    const [manager, member] = [await owner.join("manager"), await owner.join()];
    const { change_id } = await owner.call("update_settings", { own_only: true });
    const { message } = await member.fails("forbidden_role", "undo_change", { change_id });
    assertEquals(message.match(/@/g).length, 2, "the owner and the manager are named");
    await manager.ok("undo_change", { change_id });
    assertEquals("own_only" in (await owner.ok("get_context")).settings, false);
    const own = await owner.call("update_settings", { timezone: "Asia/Kolkata" });
    await manager.fails("forbidden_role", "undo_change", { change_id: own.change_id });
  },
  "sees private categories and can make categories private": async (owner) => {
    const [manager, member] = [await owner.join("manager"), await owner.join()];
    await manager.ok("update_settings", { category: { action: "create", name: "Payroll" } });
    const made = await manager.ok("update_settings", { category: { action: "make_private", name: "Payroll" } });
    assertEquals([made.category.name, made.category.private], ["Payroll", true]);
    // Repeating a call has no further effect.
    const again = await manager.call("update_settings", { category: { action: "make_private", name: "Payroll" } });
    assertEquals([again.ok, again.change_id], [true, undefined]);
    const { categories } = await manager.ok("get_context");
    assertEquals(categories.filter((category: Json) => category.private).map(({ name }: Json) => name), ["Payroll"]);
    const seen = await member.ok("get_context");
    assertEquals(seen.categories.some(({ name }: Json) => name === "Payroll"), false);
  },
});

testBooks("a bill moved out of a private category", {}, {
  "keeps its closed payments private and counts them toward their dates": async (owner) => {
    const member = await owner.join();
    for (const name of ["Payroll", "Consulting"]) {
      await owner.ok("update_settings", { category: { action: "create", name } });
    }
    owner.goTo("2026-10-20");
    const { bill } = await owner.ok("add_bill", {
      name: "Adviser",
      amount: "100.00",
      first_due: "2026-10-20",
      category: "Payroll",
    });
    await owner.ok("mark_bill_paid", { bill_id: bill.id, due_on: "2026-10-20", amount: "60.00" });
    owner.goTo("2026-11-20");
    await owner.ok("update_settings", { category: { action: "make_private", name: "Payroll" } });
    await owner.ok("update_settings", { closed_through: "2026-10" });
    await owner.ok("update_bill", { bill_id: bill.id, set: { category: "Consulting" } });
    assertEquals((await member.call("list_expenses", { from: "2026-01-01" })).total_count, 0);
    await member.ok("mark_bill_paid", { bill_id: bill.id, due_on: "2026-10-20", amount: "40.00" });
    assertEquals([await spent(member), await spent(owner)], ["40.00", "100.00"]);
    const { bills } = await owner.ok("list_bills", { state: "overdue" });
    assertEquals(bills.some(({ due_on }: Json) => due_on === "2026-10-20"), false);
    await member.fails("already_paid", "mark_bill_paid", { bill_id: bill.id, due_on: "2026-10-20" });
  },
});

testBooks("with own-only access", {}, {
  "lists and totals contain a member's own and assigned records": async (owner, database) => {
    const [anna, ben, viewer] = [await owner.join(), await owner.join(), await owner.join("viewer")];
    await owner.ok("log_expenses", { items: [{ name: "Office", amount: "100.00" }] });
    await anna.ok("log_expenses", { items: [{ name: "Lunch", amount: "10.00" }] });
    await ben.ok("log_expenses", { items: [{ name: "Taxi", amount: "20.00" }] });
    const { bill } = await owner.ok("add_bill", { name: "Phone", amount: "15.00", first_due: "2026-11-20" });
    await owner.ok("update_bill", { bill_id: bill.id, set: { assignee: await emailOf(database, anna) } });
    await owner.ok("mark_bill_paid", { bill_id: bill.id });
    assertEquals(await spent(anna), "145.00");

    await owner.ok("update_settings", { own_only: true });
    assertEquals(names(await anna.call("list_expenses")), ["Lunch", "Phone"]);
    assertEquals(names(await ben.call("list_expenses")), ["Taxi"]);
    assertEquals([await spent(anna), await spent(ben)], ["25.00", "20.00"]);
    for (const person of [owner, viewer]) assertEquals(await spent(person), "145.00");
    const changes = (await ben.ok("get_context", { include: ["recent_changes"] })).recent_changes;
    assertEquals(/Office|Lunch|Phone/.test(JSON.stringify(changes)), false);
    await ben.fails("not_found", "mark_bill_paid", { bill_id: bill.id });
  },
  "nobody can assign away a record that they would no longer see": async (owner, database) => {
    const [anna, ben] = [await owner.join(), await owner.join()];
    const { bill } = await owner.ok("add_bill", { name: "Phone", amount: "15.00", first_due: "2026-12-20" });
    const assign = (person: Books, to: string) =>
      person.call("update_bill", { bill_id: bill.id, set: { assignee: to } });
    const assigned = await assign(owner, await emailOf(database, anna));
    await owner.ok("update_settings", { own_only: true });
    assertEquals((await assign(anna, await emailOf(database, ben))).error.code, "forbidden_role");
    await anna.fails("forbidden_role", "undo_change", { change_id: assigned.change_id });
    assertEquals((await anna.ok("list_bills")).bills.length, 1);
    // They may change their own.
    const own = await anna.ok("add_bill", { name: "Gym", amount: "5.00", first_due: "2026-12-20" });
    await anna.ok("update_bill", { bill_id: own.bill.id, set: { assignee: await emailOf(database, ben) } });
    assertEquals((await ben.ok("list_bills")).bills.map(({ name }: Json) => name), ["Gym"]);
    assertEquals((await anna.ok("list_bills")).bills.length, 2);
  },
  "two members can use the same external id": async (owner) => {
    const [anna, ben] = [await owner.join(), await owner.join()];
    await owner.ok("update_settings", { own_only: true });
    const item = { name: "Lunch", amount: "10.00", external_id: "receipt-1" };
    for (const person of [anna, ben]) {
      assertEquals((await person.ok("log_expenses", { items: [item] })).results[0].status, "created");
      assertEquals((await person.ok("log_expenses", { items: [item] })).results[0].status, "duplicate");
    }
    assertEquals((await owner.ok("log_expenses", { items: [item] })).results[0].status, "duplicate");
    assertEquals(await spent(owner), "20.00");
  },
});

const emailOf = async (database: TestDatabase, { userId }: Books): Promise<string> =>
  (await database.query<{ email: string }>("select email from identity.profiles where user_id = $1", [userId]))[0]!
    .email;

Deno.test("docs/roles.md matches the database", async () => {
  const page = await Deno.readTextFile(new URL("../../docs/roles.md", import.meta.url));
  const rows = page.split("\n").filter((line) => line.startsWith("|")).map((line) =>
    line.split("|").slice(1, -1).map((cell) => cell.trim())
  );
  const roles = rows[0]!.slice(1);
  const said = rows.flatMap(([what, ...cells]) => {
    const right = /^`(\w+:\w+)`/.exec(what!)?.[1];
    return right ? cells.flatMap((cell, index) => cell === "yes" ? `${roles[index]} ${right}` : []) : [];
  });
  await using database = await openDatabase();
  const kept = await database.query<{ said: string }>(
    `select role || ' ' || "right" as said from identity.role_rights`,
  );
  assertEquals(said.toSorted(), kept.map(({ said }) => said).toSorted());
});
