/** What is kept from somebody is kept where it is easily forgotten: a mail, a change, a sum of everything, a page. */
import { assert, assertEquals } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import { type Books, type Json } from "../_support/books.ts";
import { addLink } from "../functions/cron-provider-sync/harness.ts";
import { importOfFile } from "../_support/import_args.ts";

const AT = "2026-11-20T12:00:00Z";
const mail = ({ userId }: Books) => `${userId}@example.com`;
const shared = (books: Books, amount: string) =>
  books.ok("log_expenses", { items: [{ name: "Dinner", amount, date: "2026-11-19", shared: {} }] });

async function makePrivate(owner: Books, name: string): Promise<void> {
  await owner.ok("update_settings", { category: { action: "create", name } });
  await owner.ok("update_settings", { category: { action: "make_private", name } });
}

testBooks("settlements between others", {}, {
  "are no change that a member reads who sees only their own": async (ana) => {
    const [ben, carla, dora] = [await ana.join(), await ana.join(), await ana.join("manager")];
    await ana.ok("update_settings", { own_only: true });
    await shared(ana, "30.00");
    await ana.ok("settle_up", { from: mail(ben), to: "me", amount: "7.50", note: "In cash" });
    const settled = async (books: Books) =>
      (await books.ok("get_context", { include: ["recent_changes"] })).recent_changes
        .filter(({ summary }: Json) => summary.includes("for shared costs")).length;
    assertEquals([await settled(ana), await settled(ben), await settled(dora), await settled(carla)], [1, 1, 1, 0]);
  },
});

testBooks("the balance of a bank account", {}, {
  "is told only to who sees everything that it is made of": async (ana) => {
    const [ben, manager] = [await ana.join(), await ana.join("manager")];
    await ana.ok("update_settings", { own_only: true });
    const csv = "Date,Name,Amount,Balance\n2026-11-18,Payroll,-4200.00,5800.00\n2026-11-19,LIDL,-23.45,5776.55\n";
    const args = importOfFile(csv, { account: "Giro", mapping: { negative_is_expense: true } });
    const { preview } = await ana.ok("import_expenses", args);
    await ana.ok("import_expenses", preview.commit_with);
    const balance = async (books: Books) => (await books.ok("reconcile", { account: "Giro" })).balance;
    assertEquals((await balance(ana)).closing, "5776.55");
    assertEquals((await balance(manager)).closing, "5776.55");
    assertEquals(await balance(ben), undefined);
  },
});

testBooks("app.member_sees()", {}, {
  "agrees with the policy for every role, record and setting": async (ana, database) => {
    const people = [ana, await ana.join(), await ana.join(), await ana.join("manager"), await ana.join("viewer")];
    const ben = people[1]!;
    await makePrivate(ana, "Payroll");
    const bill = { amount: "10", first_due: "2026-12-01" };
    await ana.ok("add_bill", { ...bill, name: "Ana's" });
    await ana.ok("add_bill", { ...bill, name: "Assigned to Ben", assignee: mail(ben) });
    await ana.ok("add_bill", { ...bill, name: "Salaries", category: "Payroll" });
    await ben.ok("add_bill", { ...bill, name: "Ben's" });
    await shared(ana, "30.00");
    await ana.ok("log_expenses", { items: [{ name: "Taxi", amount: "9", date: "2026-11-19" }] });
    for (const ownOnly of [false, true]) {
      await ana.ok("update_settings", { own_only: ownOnly });
      for (const { userId, organizationId } of people) {
        const judged = await database.query<{ name: string }>(
          `select e.name from app.expenses as e
           join identity.memberships as m on m.organization_id = e.organization_id and m.user_id = $1
           where e.organization_id = $2 and app.member_sees(e, m) order by e.name`,
          [userId, organizationId],
        );
        const seen = await database.asRole(
          "authenticated",
          { sub: userId, organization_id: organizationId },
          (session) => session.query<{ name: string }>("select name from app.expenses order by name"),
        );
        assertEquals(judged, seen);
        assert(seen.length > 0);
      }
    }
  },
});

testBooks("a private bill with a provider", {}, {
  "has no page that names or counts it": async (ana, database) => {
    const ben = await ana.join();
    await makePrivate(ana, "Payroll");
    const { bill } = await ana.ok("add_bill", {
      name: "Salaries",
      amount_mode: "variable",
      first_due: "2026-12-01",
      category: "Payroll",
    });
    const open = ({ userId }: Books) =>
      database.asService<Json>("open_connection", {
        user_id: userId,
        bill_id: bill.id,
        provider_key: null,
        quotas: [],
        at: AT,
      });
    assertEquals([(await open(ana)).outcome, await open(ben)], ["open", { outcome: "unknown_bill" }]);
    await addLink(database, { organizationId: ana.organizationId, billId: bill.id, provider: "power" });
    const links = async (reader: Books) =>
      (await database.asService<Json>("read_removal", {
        user_id: reader.userId,
        organization_id: ana.organizationId,
        member_id: ben.userId,
        at: AT,
      })).links;
    assertEquals([await links(ana), await links(ben)], [1, 0]);
  },
});

testBooks("the books of others", {}, {
  "answer a press on their page like books that aren't there": async (ana, database) => {
    const { bill } = await ana.ok("add_bill", { name: "Rent", amount: "800", first_due: "2026-11-25" });
    const press = (userId: string, organizationId = ana.organizationId) =>
      database.asService<Json>("pay_due_date", {
        user_id: userId,
        organization_id: organizationId,
        bill_id: bill.id,
        due_on: "2026-11-25",
        shown: "800.00",
        amount: null,
        idempotency_key: crypto.randomUUID(),
        at: AT,
      });
    assertEquals(await press(crypto.randomUUID()), { outcome: "unknown" });
    assertEquals(await press(ana.userId, "org_000000000099"), { outcome: "unknown" });
    assert((await press(ana.userId)).result.ok);
  },
});
