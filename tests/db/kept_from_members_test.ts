/** Hidden records stay hidden in mails, changes, totals and pages. */
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
  "are hidden from a member with own-only access": async (ana) => {
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
  "is shown only to members who see every line": async (ana) => {
    const [ben, manager] = [await ana.join(), await ana.join("manager")];
    await ana.ok("update_settings", { own_only: true });
    const csv = "Date,Name,Amount,Balance\n2026-11-18,Payroll,-4200.00,5800.00\n2026-11-19,LIDL,-23.45,5776.55\n";
    const args = importOfFile(csv, { account: "Giro", mapping: { negative_is_expense: true } });
    const { preview } = await ana.ok("import_expenses", args);
    await ana.ok("import_expenses", preview.commit_with);
    // His own line shows him the account, but not the total that includes other lines.
    const own = importOfFile("Date,Name,Amount\n2026-11-17,Tea,-2.00\n", {
      ...{ account: "Giro", mapping: { negative_is_expense: true } },
    });
    await ben.ok("import_expenses", (await ben.ok("import_expenses", own)).preview.commit_with);
    const balance = async (books: Books) => (await books.ok("reconcile", { account: "Giro" })).balance;
    assertEquals((await balance(ana)).closing, "5776.55");
    assertEquals((await balance(manager)).closing, "5776.55");
    assertEquals(await balance(ben), undefined);
  },
});

testBooks("reconcile", {}, {
  "takes the only account, names several, and says that a member sees only their own imports": async (ana) => {
    const ben = await ana.join();
    await ana.ok("update_settings", { own_only: true });
    assertEquals((await ana.fails("not_found", "reconcile")).message, "There is no account.");
    for (const account of ["Giro", "Visa"]) {
      const csv = `Date,Name,Amount\n2026-11-18,Shop ${account},-23.45\n`;
      const args = importOfFile(csv, { account, mapping: { negative_is_expense: true } });
      await ana.ok("import_expenses", (await ana.ok("import_expenses", args)).preview.commit_with);
      if (account === "Giro") assertEquals((await ana.ok("reconcile")).account, "Giro");
    }
    const { message, hint, field } = await ana.fails("not_found", "reconcile");
    assertEquals([message, hint, field], ["No account is given.", "There are Giro and Visa.", "account"]);
    const own = " This person sees only their own records and imports.";
    assertEquals((await ben.fails("not_found", "reconcile")).message, `There is no account.${own}`);
    assertEquals(
      (await ben.fails("not_found", "reconcile", { account: "Giro" })).message,
      `There is no account "Giro".${own}`,
    );
    await ben.ok("log_expenses", { items: [{ name: "Giro", amount: "5", kind: "balance" }] });
    assertEquals((await ben.call("reconcile")).warnings.map(({ message }: Json) => message), [
      "No statement of Giro is among this person's own imports, so nothing was compared. Import one first " +
      "(import_expenses).",
      "This person sees only their own records.",
    ]);
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
  "is neither named nor counted on a page": async (ana, database) => {
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
  "respond to a click on their page like nonexistent books": async (ana, database) => {
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

testBooks("a split with a private part", {}, {
  "looks like a single expense to a member who sees one part": async (ana, database) => {
    const [ben, viewer] = [await ana.join(), await ana.join("viewer")];
    await makePrivate(ana, "Payroll");
    const split = [{ amount: "60.00", category: "Office" }, { amount: "40.00", category: "Payroll" }];
    await ana.ok("update_settings", { category: { action: "create", name: "Office" } });
    await ana.ok("log_expenses", { items: [{ name: "Temp", amount: "100.00", date: "2026-11-19", split }] });
    const shown = async (books: Books, args: Json = {}) => (await books.ok("list_expenses", args)).rows;
    const splits = (rows: Json[]) => rows.filter((row) => row.split_id).length;
    assertEquals(splits(await shown(ana)), 2);
    const [part, ...others] = await shown(ben);
    assertEquals([part.amount, "split_id" in part, others.length], ["60.00", false, 0]);
    assert(!/spl_/.test(JSON.stringify(await ben.ok("list_expenses", { format: "csv" }))));
    const exported = await database.asService<Json>("read_export", {
      ...{ user_id: viewer.userId, organization_id: ana.organizationId, part: "payments", after: null },
      ...{ from_on: null, to_on: null, at: AT },
    });
    assertEquals(exported.page.rows.map(({ split_id }: Json) => split_id), [null]);
    // Errors don't reveal the other part either.
    const changed = JSON.stringify(await ben.ok("update_expenses", { ids: [part.id], set: { amount: "65.00" } }));
    assert(!/spl_|split/.test(changed), changed);
    assertEquals((await shown(ana)).map(({ amount }: Json) => amount).toSorted(), ["40.00", "65.00"]);
    await ben.ok("undo_change", {});
    assertEquals(splits(await shown(ana)), 2);
  },
  "refuses to change the amount of one of two visible parts": async (ana) => {
    const split = [{ amount: "60.00", category: "Food" }, { amount: "40.00", category: "Home" }];
    for (const name of ["Food", "Home"]) {
      await ana.call("update_settings", { category: { action: "create", name } });
    }
    await ana.ok("log_expenses", { items: [{ name: "Shop", amount: "100.00", date: "2026-11-19", split }] });
    const { rows: [part] } = await ana.ok("list_expenses", {});
    await ana.fails("invalid_argument", "update_expenses", { ids: [part.id], set: { amount: "65.00" } });
  },
});

testBooks("an account with private lines only", {}, {
  "is not named to members who can't see its lines, but accepts their file": async (ana, database) => {
    const [ben, viewer] = [await ana.join(), await ana.join("viewer")];
    await makePrivate(ana, "Payroll");
    const add = async (books: Books, account: string, csv: string) => {
      const { preview } = await books.ok(
        "import_expenses",
        importOfFile(csv, { account, mapping: { negative_is_expense: true } }),
      );
      return await books.ok("import_expenses", preview.commit_with);
    };
    await add(ana, "Main", "Date,Name,Amount\n2026-11-18,LIDL,-23.45\n");
    await add(ana, "PayrollAccount", "Date,Name,Amount\n2026-11-18,Wages,-4200.00\n");
    const { rows } = await ana.ok("list_expenses", { query: "Wages" });
    await ana.ok("update_expenses", { ids: [rows[0].id], set: { category: "Payroll" } });
    const hintFor = async (books: Books) =>
      JSON.stringify(await books.fails("not_found", "reconcile", { account: "x" }));
    assert((await hintFor(ana)).includes("PayrollAccount"));
    for (const reader of [ben, viewer]) {
      assert(!(await hintFor(reader)).includes("PayrollAccount"), await hintFor(reader));
      assert((await hintFor(reader)).includes("Main"));
      await reader.fails("not_found", "reconcile", { account: "PayrollAccount" });
    }
    const accounts = await database.asService<Json>("read_export", {
      ...{ user_id: viewer.userId, organization_id: ana.organizationId, part: "accounts", after: null },
      ...{ from_on: null, to_on: null, at: AT },
    });
    assertEquals(accounts.page.rows.map(({ name }: Json) => name), ["Main"]);
    // A second import of the same file adds no duplicate, and the member then sees the line.
    await add(ben, "PayrollAccount", "Date,Name,Amount\n2026-11-18,Wages,-4200.00\n2026-11-19,Tea,-2.00\n");
    assertEquals((await ana.ok("list_expenses", { query: "Wages" })).rows.length, 1);
    assertEquals((await ben.ok("reconcile", { account: "PayrollAccount" })).linked_count, 1);
  },
});

testBooks("a private bill assigned to a member who can't see it", {}, {
  "is not counted for them, and the answer warns about it": async (ana, database) => {
    const ben = await ana.join();
    await makePrivate(ana, "Payroll");
    const codes = ({ warnings }: Json) => (warnings ?? []).map(({ code }: Json) => code);
    const bill = { name: "Salaries", amount: "4000", first_due: "2026-12-01", category: "Payroll" };
    const added = await ana.call("add_bill", { ...bill, assignee: mail(ben) });
    assert(codes(added).includes("assignee_sees_nothing"), JSON.stringify(added));
    const set = (fields: Json) => ana.call("update_bill", { bill_id: added.data.bill.id, set: fields });
    assert(!codes(await set({ assignee: mail(ana) })).includes("assignee_sees_nothing"));
    assert(codes(await set({ assignee: mail(ben) })).includes("assignee_sees_nothing"));
    assert(!codes(await set({ category: "Food" })).includes("assignee_sees_nothing"));
    assert(codes(await set({ category: "Payroll" })).includes("assignee_sees_nothing"));
    const assigned = async (reader: Books) =>
      (await database.asService<Json>("read_removal", {
        ...{ user_id: reader.userId, organization_id: ana.organizationId, member_id: ben.userId, at: AT },
      })).assigned;
    assertEquals([await assigned(ana), await assigned(ben)], [1, 0]);
  },
});

const isServer = Boolean(Deno.env.get("TEST_DATABASE_URL"));

// See rows_read_test.ts: plans change whenever the server gathers statistics.
if (!isServer) {
  testBooks("rows of a private category", {}, {
    "need no lookup per row for a member who can't see them": async (ana, database) => {
      const ben = await ana.join();
      await makePrivate(ana, "Payroll");
      await ana.ok("log_expenses", { items: [{ name: "Tea", amount: "2.00", date: "2026-11-19" }] });
      await database.query(
        `with added as (
           insert into app.expenses (id, organization_id, kind, name, category_id)
           select app.new_id('exp'), c.organization_id, 'one_off', 'Wage ' || n, c.id
           from app.categories as c, generate_series(1, 1000) as n where c.organization_id = $1 and c.is_private
           returning *
         )
         insert into app.payments (organization_id, expense_id, amount_minor, currency, paid_on, category_id)
         select organization_id, id, 100, 'EUR', '2026-11-18', category_id from added`,
        [ana.organizationId],
      );
      await database.exec("analyze");
      const lookedUp = await database.asRole(
        "authenticated",
        { sub: ben.userId, organization_id: ana.organizationId },
        async (session) => {
          const count = async () =>
            (await session.query<{ rows: number }>(
              `select idx_tup_fetch::int as rows from pg_stat_xact_user_tables
               where schemaname = 'app' and relname = 'expenses'`,
            ))[0]!.rows;
          const before = await count();
          const [row] = await session.query<{ data: Json }>(
            "select app.run_tool('list_expenses', '{}', $1) -> 'data' as data",
            [AT],
          );
          assertEquals(row!.data.rows.length, 1);
          return await count() - before;
        },
      );
      assert(lookedUp < 20, `${lookedUp} expenses looked up, of which one is seen`);
    },
  });
}

testBooks("a statement of a shared account", {}, {
  "is compared for a member who may not see every row": async (ana) => {
    const ben = await ana.join();
    await makePrivate(ana, "Payroll");
    const rows = Array.from(
      { length: 60 },
      (_, n) => `2026-${n < 30 ? "09" : "10"}-${n % 28 + 1},Shop ${n},-${n + 1}.00`,
    );
    const csv = ["Date,Name,Amount", ...rows].join("\n");
    const args = importOfFile(csv, {
      account: "Joint",
      mapping: { negative_is_expense: true, date_format: "YYYY-MM-DD" },
    });
    await ana.ok("import_expenses", (await ana.ok("import_expenses", args)).preview.commit_with);
    const { data, warnings } = await ben.call("reconcile", { account: "Joint" });
    assertEquals([data.linked_count, warnings.map(({ message }: Json) => message)], [60, [
      "Rows of Joint that this person may not see are not compared: totals and difference exclude them.",
    ]]);
    assertEquals((await ana.call("reconcile", { account: "Joint" })).warnings, []);
    await ben.ok("review_bills");
  },
});

testBooks("the salary of a payer with a private category", {}, {
  "is hidden from the first import on": async (ana) => {
    const ben = await ana.join();
    await makePrivate(ana, "Payroll");
    await ana.ok("update_settings", { payee_rules: [{ payee: "Nordwind GmbH", category: "Payroll" }] });
    const csv = [
      '"Girokonto";"DE02120300000000202051"',
      '"Kontostand vom 31.10.2026:";"4.370,71 €"',
      '""',
      '"Buchungsdatum";"Wertstellung";"Status";"Zahlungspflichtige*r";"Zahlungsempfänger*in";"Verwendungszweck";"Umsatztyp";"IBAN";"Betrag (€)";"Gläubiger-ID";"Mandatsreferenz";"Kundenreferenz"',
      '"27.10.26";"27.10.26";"Gebucht";"Nordwind GmbH";"Ana";"Lohn/Gehalt 10/2026";"Eingang";"DE44";"2.850,00";"";"";""',
      '"17.10.26";"17.10.26";"Gebucht";"Ana";"REWE Markt";"Einkauf";"Ausgang";"DE44";"-38,77";"";"";""',
      '"16.10.26";"16.10.26";"Gebucht";"Ana";"Kiosk";"Einkauf";"Ausgang";"DE44";"-3,20";"";"";""',
    ].join("\n");
    const args = importOfFile(csv, { account: "Giro" });
    await ana.ok("import_expenses", (await ana.ok("import_expenses", args)).preview.commit_with);
    const [{ name, category, sort }] = (await ana.ok("list_expenses", { kind: "income" })).rows;
    assertEquals([name, category, sort], ["Lohn/Gehalt 10/2026, Nordwind GmbH", "Payroll", "salary"]);
    assertEquals((await ben.ok("list_expenses", { kind: "income" })).rows, []);
  },
});

testBooks("a member who sees only their own records", {}, {
  "learns about the restriction instead of reading that the books lack income": async (ana) => {
    const ben = await ana.join();
    await ana.ok("log_expenses", { items: [{ name: "Salary", amount: "2000", kind: "income", date: "2026-11-01" }] });
    await ana.ok("update_settings", { own_only: true });
    const codes = async (tool: string, args = {}) =>
      (await ben.call(tool, args)).warnings.map(({ code }: Json) => code);
    assertEquals(await codes("review_bills"), ["own_records_only"]);
    assertEquals(await codes("get_context", { include: ["balances"] }), ["own_records_only"]);
    assertEquals(await codes("summarize_spending", { kind: "net" }), [
      "own_records_only",
      "income_partly_known",
      "net_is_income_less_spending",
    ]);
  },
});
