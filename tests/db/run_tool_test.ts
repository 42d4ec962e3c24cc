/** Behavior that all tools share: the envelope, previews, idempotency keys and tenant isolation. */
import { assert, assertEquals, assertNotEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { testBooks } from "../_support/book_steps.ts";
import { addMember, type Books, type Json, openBooks } from "../_support/books.ts";
import type { TestDatabase } from "../_support/database.ts";

const TODAY = "2026-10-06";
const LUNCH = { items: [{ name: "Lunch", amount: "14.50", category: "Sport" }], create_missing_categories: true };

/** All rows of an organization. */
const dump = (database: TestDatabase, books: Books): Promise<Json> => {
  const tables = [
    "categories",
    "expenses",
    "expense_occurrences",
    "payments",
    "change_sets",
    "change_items",
    "idempotency_keys",
    "provider_links",
  ];
  const queries = tables.map((table) =>
    `select '${table}' as name, to_jsonb(t) as row from app.${table} as t where organization_id = $1`
  );
  return database.query(`select * from (${queries.join(" union all ")}) as t order by name, row::text`, [
    books.organizationId,
  ]);
};

const count = async (books: Books) => (await books.call("list_expenses")).total_count;

testBooks("run_tool", { day: TODAY, timezone: "Pacific/Auckland" }, {
  "a change without a description fails, instead of breaking the list of changes": async (books, database) => {
    const { change_id } = await books.call("log_expenses", { items: [{ name: "Lunch", amount: "1" }] });
    await assertRejects(
      () => database.query("select app.finish_change($1, null)", [change_id]),
      Error,
      'null value in column "facts"',
    );
  },

  "returns an envelope without nulls, dated by the owner's day": async (books) => {
    const result = await books.call("log_expenses", LUNCH);
    // Noon UTC is after midnight in Auckland.
    assertEquals(result.context.today, "2026-10-07");
    assertEquals(Object.keys(result).toSorted(), ["change_id", "context", "data", "ok", "warnings"]);
    assert(!JSON.stringify(result).includes("null"));
    const failed = await books.call("delete_records", { ids: ["exp_000000000000"] });
    assertEquals(Object.keys(failed), ["ok", "error"]);
    assertEquals(Object.keys(failed.error).toSorted(), ["code", "details", "field", "hint", "message", "retryable"]);
  },

  "previews a write's effects and writes nothing": async (books, database) => {
    const before = await dump(database, books);
    const preview = await books.call("log_expenses", { ...LUNCH, dry_run: true, idempotency_key: "key-000001" });
    assertEquals([preview.data.results[0].status, preview.data.results[0].id, preview.change_id], [
      "would_create",
      undefined,
      undefined,
    ]);
    assertEquals(preview.warnings, [{ code: "dry_run", message: "This is a preview; nothing was written." }]);
    assertEquals(await dump(database, books), before);
    const { results: [{ id }] } = await books.ok("log_expenses", LUNCH);
    const stored = await dump(database, books);
    const update = await books.call("update_expenses", { ids: [id], set: { amount: "15" }, dry_run: true });
    assertEquals([update.data.updated[0].after, update.change_id], [{ amount: "15.00" }, undefined]);
    await books.fails("amount_precision", "update_expenses", { ids: [id], set: { amount: "1.234" }, dry_run: true });
    assertEquals(await dump(database, books), stored);
  },

  "leaves no trace of a write that failed": async (books, database) => {
    const before = await dump(database, books);
    const items = [...LUNCH.items, { name: "Bad", amount: "1", currency: "XXX" }];
    await books.fails("currency_unknown", "log_expenses", { ...LUNCH, items, idempotency_key: "key-000001" });
    assertEquals(await dump(database, books), before);
  },

  "returns the first result for a repeated call": async (books) => {
    const call = { ...LUNCH, idempotency_key: "key-000001" };
    const first = await books.call("log_expenses", call);
    assertEquals(await books.call("log_expenses", call), { ...first, replayed: true });
    assertEquals(await count(books), 1);
    const error = await books.fails("idempotency_conflict", "log_expenses", {
      ...call,
      items: [{ name: "Tea", amount: "2" }],
    });
    assertEquals([error.field, error.retryable], ["idempotency_key", false]);
    // A key belongs to one person and tool, for a day.
    const member = await books.join();
    assertEquals((await member.call("log_expenses", call)).data.results[0].status, "duplicate");
    await books.ok("add_bill", { name: "Rent", amount: "1", first_due: "today", idempotency_key: "key-000001" });
    books.goTo("2026-10-07");
    assertEquals((await books.call("log_expenses", call)).replayed, undefined);
    assertEquals(await count(books), 2);
  },

  "a repeat after an undo writes again": async (books) => {
    const call = { ...LUNCH, idempotency_key: "key-000001" };
    const first = await books.call("log_expenses", call);
    await books.ok("undo_change", { change_id: first.change_id });
    const second = await books.call("log_expenses", call);
    assertEquals([second.replayed, second.data.results[0].status, await count(books)], [undefined, "created", 1]);
    assertEquals(await books.call("log_expenses", call), { ...second, replayed: true });
  },

  "a repeat after a redo returns the first result": async (books) => {
    const call = { ...LUNCH, idempotency_key: "key-000001" };
    const first = await books.call("log_expenses", call);
    const undo = await books.call("undo_change", { change_id: first.change_id });
    await books.ok("undo_change", { change_id: undo.change_id });
    assertEquals(await books.call("log_expenses", call), { ...first, replayed: true });
  },

  "runs only for members": async (books, database) => {
    const stranger = await openBooks(database, { day: TODAY });
    const run = (claims: Json) =>
      database.asRole(
        "authenticated",
        claims,
        (session) => session.query("select app.run_tool('get_context', '{}', now()) as result"),
      );
    const nothing = [{ result: null }];
    assertEquals(await run({ sub: stranger.userId, organization_id: books.organizationId }), nothing);
    assertEquals(await run({ sub: books.userId }), nothing);
    assertEquals(await run({}), nothing);
    assertNotEquals(await run({ sub: books.userId, organization_id: books.organizationId }), nothing);
  },

  "is callable only by the service": async (_books, database) => {
    for (const role of ["anon", "authenticated"] as const) {
      const call = (sql: string) => database.asRole(role, {}, (session) => session.query(sql));
      await assertRejects(
        () => call("select public.call_tool('00', 'r', 'get_context', '{}', now())"),
        Error,
        "permission denied",
      );
      await assertRejects(
        () => call("select public.authenticate_bearer('00', 'r', now())"),
        Error,
        "permission denied",
      );
    }
  },

  "shows a member of two organizations only the token's organization": async (books, database) => {
    const other = await openBooks(database, { day: TODAY });
    await addMember(database, books.organizationId, other.userId, "member");
    await books.ok("log_expenses", LUNCH);
    assertEquals([await count(books), await count(other)], [1, 0]);
    const context = await other.ok("get_context", { include: ["members", "recent_changes", "categories", "payees"] });
    assertEquals([context.members.length, context.recent_changes, context.payees], [1, [], []]);
    assert(!JSON.stringify(context).includes("Sport"));
  },

  "reaches no other organization, whatever ids it receives": async (books, database) => {
    const other = await openBooks(database, { day: TODAY });
    const secret = "Vienna-secret";
    const logged = await other.call("log_expenses", {
      items: ["1", "2", "3"].map((amount) => ({
        name: secret,
        payee: secret,
        amount,
        category: secret,
        tags: [secret],
        external_id: `x${amount}`,
      })),
      create_missing_categories: true,
    });
    const { bill } = await other.ok("add_bill", { name: secret, amount: "9", first_due: "today" });
    const { payment } = await other.ok("mark_bill_paid", { bill_id: bill.id });
    const { next_cursor } = await other.call("list_expenses", { limit: 1 });
    const { categories } = await other.ok("get_context", { include: ["categories"] });
    await books.ok("log_expenses", LUNCH);
    const own = (await books.ok("list_expenses")).rows[0].id;
    const before = await dump(database, other);

    const exp = fc.constantFrom(...logged.data.results.map(({ id }: Json) => id), own, "exp_000000000000");
    const billId = fc.constantFrom(bill.id, "bill_000000000000");
    const id = fc.oneof(exp, billId, fc.constant(payment.id));
    const change = fc.constantFrom(logged.change_id, "chg_000000000000");
    const text = fc.constantFrom(secret, categories.at(-1).id, other.organizationId, "Food");
    const arbitrary = fc.oneof(
      fc.tuple(
        fc.constant("list_expenses"),
        fc.record({
          query: text,
          payee: text,
          categories: fc.tuple(text),
          cursor: fc.constant(next_cursor),
          limit: fc.constant(1),
        }, { requiredKeys: [] }),
      ),
      fc.tuple(
        fc.constant("summarize_spending"),
        fc.record({
          query: text,
          categories: fc.tuple(text),
          group_by: fc.constantFrom(["payee"], ["member"], ["tag"]),
        }, { requiredKeys: [] }),
      ),
      fc.tuple(
        fc.constant("get_context"),
        fc.constant({ include: ["categories", "payees", "settings", "recent_changes", "provider_links", "members"] }),
      ),
      fc.tuple(
        fc.constant("list_bills"),
        fc.record({ bill_id: billId, query: text, cursor: fc.constant(next_cursor) }, { requiredKeys: [] }),
      ),
      fc.tuple(
        fc.constant("log_expenses"),
        fc.record({
          dry_run: fc.constant(true),
          items: fc.tuple(
            fc.record({
              name: fc.constant("N"),
              amount: fc.constant("1"),
              payee: text,
              category: text,
              external_id: fc.constant("x1"),
            }, { requiredKeys: ["name", "amount"] }),
          ),
        }),
      ),
      fc.tuple(
        fc.constant("update_expenses"),
        fc.record({
          ids: fc.uniqueArray(id, { minLength: 1 }),
          set: fc.record({ category: text, note: fc.constant("taken") }, { requiredKeys: ["note"] }),
        }),
      ),
      fc.tuple(fc.constant("delete_records"), fc.record({ ids: fc.uniqueArray(id, { minLength: 1 }) })),
      fc.tuple(fc.constant("mark_bill_paid"), fc.record({ bill_id: billId, bill_name: text }, { requiredKeys: [] })),
      fc.tuple(fc.constant("undo_change"), fc.record({ change_id: change })),
    );
    await fc.assert(
      fc.asyncProperty(arbitrary, async ([tool, args]) => {
        const answer = await books.call(tool, args as Json);
        const said = JSON.stringify(answer.ok ? answer : answer.error.details ?? {});
        const given = new Set(JSON.stringify(args).match(/[\w-]+/g));
        for (
          const word of [secret, ...JSON.stringify([logged, bill, payment]).match(/(?:exp|bill|pay|chg|cat)_\w{15}/g)!]
        ) {
          assert(!said.includes(word) || given.has(word), `${tool} ${JSON.stringify(args)} says ${word}: ${said}`);
        }
        if (
          /update|delete|undo|mark/.test(tool) && /(exp|bill|pay|chg)_/.test(JSON.stringify(args).replaceAll(own, ""))
        ) assertEquals(answer.ok, false);
      }),
      { numRuns: 150 },
    );
    assertEquals(await dump(database, other), before);
  },
});

testBooks("get_context", { day: TODAY, baseCurrency: "INR", timezone: "Asia/Kolkata" }, {
  "returns the caller, the organization and the plan": async (books, database) => {
    await database.query(
      "update identity.organizations set plan = 'free', trial_ends_at = '2026-10-20T20:00:00Z' where id = $1",
      [
        books.organizationId,
      ],
    );
    const data = await books.ok("get_context");
    const { categories, settings, ...rest } = data;
    assertEquals(rest, {
      user: { id: books.userId, email: `${books.userId}@example.com`, client: "Tests" },
      role: "owner",
      plan: { name: "team", status: "active", trial_ends_on: "2026-10-21" },
      features: ["ai:connector", "bills:variable", "reminders:email"],
    });
    assertEquals(categories.length, 16);
    assertEquals(settings, {
      timezone: "Asia/Kolkata",
      base_currency: "INR",
      reminders: {
        email_enabled: true,
        email: `${books.userId}@example.com`,
        default_days_before: 3,
        hide_amounts_in_email: false,
        my_mails: "mine",
      },
    });
    await database.query(
      "insert into app.fx_rates (quote, rate_on, source, rate) values ('USD', '2026-10-02', 'ecb', 1.1), ('SEK', '2026-10-05', 'ecb', 11)",
    );
    assertEquals((await books.ok("get_context", { include: [] })).fx_as_of, "2026-10-05");
    assertEquals((await books.ok("get_context", { include: [] })).categories, undefined);
    books.goTo("2026-10-21");
    assertEquals((await books.ok("get_context")).features, []);
  },

  "warns in time of features that end with a trial or a failed payment": async (books, database) => {
    const warnings = async (day: string) => {
      books.goTo(day);
      return (await books.call("get_context")).warnings?.map(({ message }: Json) => message) ?? [];
    };
    const set = (changes: string) =>
      database.query(`update identity.organizations set ${changes} where id = $1`, [books.organizationId]);
    const [{ name }] = await database.query<{ name: string }>("select name from identity.organizations where id = $1", [
      books.organizationId,
    ]) as [{ name: string }];
    await set("plan = 'free', trial_ends_at = '2026-10-20T12:00:00Z'");
    assertEquals(await warnings("2026-10-12"), []);
    assertEquals(await warnings("2026-10-15"), [
      `The trial of the Team plan ends on 2026-10-20. From then on ${name} is without access for AI assistants, amounts from bill ` +
      "providers and reminder emails until its owner chooses a plan that includes them.",
    ]);
    // The payments remain in the history.
    await set("plan = 'pro'");
    assertEquals(await warnings("2026-10-15"), [
      `The trial of the Team plan ends on 2026-10-20. From then on ${name} is without amounts from bill providers until its owner ` +
      "chooses a plan that includes them.",
    ]);
    await set("plan = 'team'");
    assertEquals(await warnings("2026-10-15"), []);
    await set("plan = 'free'");
    assertEquals(await warnings("2026-10-21"), []);
    await set("trial_ends_at = null, plan = 'pro', plan_status = 'past_due', past_due_since = '2026-10-10T12:00:00Z'");
    assertEquals(await warnings("2026-10-12"), [
      `A payment for the Pro plan did not arrive. Unless one does by 2026-10-17, ${name} loses access for AI assistants and reminder ` +
      "emails.",
    ]);
    await set("second_plan = 'team', second_past_due_since = '2026-10-09T12:00:00Z'");
    assertEquals(await warnings("2026-10-12"), [
      `A payment for the Team plan did not arrive. Unless one does by 2026-10-16, ${name} loses amounts from bill providers.`,
      `A payment for the Pro plan did not arrive. Unless one does by 2026-10-17, ${name} loses access for AI assistants and reminder emails.`,
    ]);
    await set("plan_status = 'active', past_due_since = null, second_plan = null, second_past_due_since = null");
    assertEquals(await warnings("2026-10-13"), []);
  },

  "lists the requested parts": async (books) => {
    const member = await books.join();
    await books.ok("log_expenses", {
      items: [{ name: "Lunch", payee: "Cafe", amount: "1" }, {
        name: "Train",
        payee: "Rail",
        amount: "2",
        category: "Travel",
      }],
    });
    await member.ok("log_expenses", {
      items: [{ name: "Dinner", payee: "cafe", amount: "3" }, {
        name: "Old",
        payee: "Before",
        amount: "1",
        date: "2026-01-01",
      }],
    });
    const data = await member.ok("get_context", {
      include: ["payees", "recent_changes", "members", "provider_links"],
      changes_limit: 1,
    });
    assertEquals(data.role, "member");
    assertEquals(data.payees.map(({ name, category }: Json) => [name, category]), [
      ["cafe", "Food"],
      ["Rail", "Travel"],
      ["Before", undefined],
    ]);
    const [change] = data.recent_changes;
    assertEquals(data.recent_changes, [{
      change_id: change.change_id,
      summary: "Logged 2 expenses: Dinner and Old",
      tool: "log_expenses",
      at: "2026-10-06 17:30",
      by: `${member.userId}@example.com`,
      client: "Tests",
      undone: false,
      effect: change.effect,
    }]);
    assertEquals(change.effect.split("; ").length, 2);
    assertEquals(
      data.members.map(({ id, role }: Json) => [id, role]).toSorted(),
      [[books.userId, "owner"], [member.userId, "member"]].toSorted(),
    );
    assertEquals(data.provider_links, []);
    assertNotEquals(data.user.id, books.userId);
  },
});
