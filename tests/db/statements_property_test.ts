/**
 * Random actions of providers and people in any order: closed dates remain unchanged, an open date gets only a stated
 * amount near the usual one, one statement per month counts, and a second run of the job changes nothing.
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import { openDatabase } from "../_support/database.ts";

/** Full length on a server, a sample in memory. */
const RUNS = Deno.env.get("TEST_DATABASE_URL") ? 80 : 12;
const PERIODS = ["2026-07-01", "2026-08-01", "2026-09-01"];
const DATES = ["2026-08-10", "2026-09-10", "2026-10-10"];

type Action =
  | { what: "said"; byJob: boolean; month: number; amount: string; currency: string }
  | { what: "paid"; month: number; amount?: string }
  | { what: "set" | "skip" | "reopen"; month: number; amount: string }
  | { what: "undo" };

const month = fc.integer({ min: 0, max: 2 });
const amount = fc.constantFrom("0", "50.00", "60.00", "69.90", "84.00", "100.00", "200.00");
const currency = fc.constantFrom("EUR", "EUR", "EUR", "USD");
const action: fc.Arbitrary<Action> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({ what: fc.constant("said" as const), byJob: fc.boolean(), month, amount, currency }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constant("paid" as const), month, amount }, { requiredKeys: ["what", "month"] }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ what: fc.constantFrom("set" as const, "skip" as const, "reopen" as const), month, amount }),
  },
  { weight: 1, arbitrary: fc.record({ what: fc.constant("undo" as const) }) },
);

interface Row {
  id: string;
  scheduled_on: string;
  status: string;
  expected: number | null;
  paid: number;
  source: string;
}

Deno.test("property: a statement changes at most one open date, and only to its own amount", async () => {
  await using database = await openDatabase();
  let link = { id: "", expense_id: "" };
  const rows = () =>
    database.query<Row & Record<string, unknown>>(
      `select id, scheduled_on::text, status, expected_minor::int as expected, paid_minor::int as paid, amount_source as source
       from app.expense_occurrences where expense_id = $1 order by scheduled_on`,
      [link.expense_id],
    );
  const statements = () =>
    database.query("select * from app.provider_statements where link_id = $1 order by id", [link.id]);

  /** Goes through the job's function or the tool's, under its own lease. */
  const say = async (books: Books, { byJob, month, amount, currency }: Extract<Action, { what: "said" }>) => {
    const token = crypto.randomUUID();
    await database.query("update app.provider_links set lease_token = $2 where id = $1", [link.id, token]);
    const answer = { outcome: "statement", amount, currency };
    const told = { link_id: link.id, lease_token: token, period: PERIODS[month] };
    if (byJob) {
      const kept = await database.asService<Json>("keep_provider_answer", {
        ...told,
        answer,
        at: "2026-10-05T12:00:00Z",
      });
      assertEquals(kept.outcome, "kept");
      return kept.status;
    }
    return (await books.ok("store_bill_amounts", { bills: [], results: [{ ...told, answer }] })).bills[0].status;
  };

  await fc.assert(
    fc.asyncProperty(fc.array(action, { minLength: 4, maxLength: 20 }), async (actions) => {
      const books = await openBooks(database, { day: "2026-08-01" });
      const { bill } = await books.ok("add_bill", { name: "Power", amount_mode: "variable", first_due: DATES[0] });
      const [made] = await database.query<{ id: string; expense_id: string }>(
        `insert into app.provider_links (organization_id, expense_id, provider_key, account_label, status)
         values ($1, $2, 'power', '…01', 'active') returning id, expense_id`,
        [books.organizationId, bill.id],
      );
      link = made!;
      books.goTo("2026-10-05");
      // From here on, every date has a row.
      await books.ok("update_bill", { bill_id: bill.id, set: { note: "Meter" } });
      for (const one of actions) {
        const due_on = DATES["month" in one ? one.month : 0];
        const change = { bill_id: bill.id, occurrence: { due_on, action: "skip" } };
        if (one.what === "paid") {
          await books.call("mark_bill_paid", { bill_id: bill.id, due_on, ...(one.amount && { amount: one.amount }) });
        } else if (one.what === "undo") await books.call("undo_change");
        else if (one.what === "set") {
          await books.call("update_bill", {
            ...change,
            occurrence: { due_on, action: "set_amount", amount: one.amount },
          });
        } else if (one.what !== "said") {
          await books.call("update_bill", { ...change, occurrence: { due_on, action: one.what } });
        } else {
          const before = await rows();
          const status = await say(books, one);
          const after = await rows();
          checkChange(before, after, { said: one, status });
          const kept = [after, await statements()];
          await say(books, { ...one, byJob: true });
          assertEquals([await rows(), await statements()], kept, "a second run of the job");
        }
        const [{ most }] = await database.query<{ most: number }>(
          `select coalesce(max(n), 0)::int as most from (
             select count(*) as n from app.provider_statements where link_id = $1 and status <> 'superseded' group by period
           ) as s`,
          [link.id],
        ) as [{ most: number }];
        assert(most <= 1, "one statement per month counts");
      }
    }),
    { numRuns: RUNS },
  );
});

function checkChange(
  before: Row[],
  after: Row[],
  { said, status }: { said: Extract<Action, { what: "said" }>; status: string },
): void {
  const minor = Math.round(Number(said.amount) * 100);
  const changed = after.filter((row) => {
    const was = before.find(({ id }) => id === row.id);
    return was && JSON.stringify(was) !== JSON.stringify(row);
  });
  assertEquals(changed.length, status === "updated" ? 1 : 0, `${status}: ${JSON.stringify(changed)}`);
  for (const row of changed) {
    const was = before.find(({ id }) => id === row.id)!;
    assertEquals([was.status, row.scheduled_on, row.expected, row.source, row.paid, said.currency], [
      "open",
      DATES[said.month],
      minor,
      "provider",
      was.paid,
      "EUR",
    ]);
    assertEquals(row.status, was.paid === minor ? "paid" : "open");
    const others = before.filter(({ id, expected, status }) =>
      id !== row.id && expected !== null && status !== "skipped"
    )
      .map(({ expected }) => expected!).toSorted((a, b) => a - b);
    if (others.length === 0) continue;
    // Contains all of them, because there are fewer than seven.
    const middle = others.length >> 1;
    const usual = others.length % 2 ? others[middle]! : Math.round((others[middle - 1]! + others[middle]!) / 2);
    assert(Math.abs(minor - usual) <= usual * 0.4, `${minor} is far from ${usual}`);
  }
}
