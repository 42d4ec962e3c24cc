/**
 * Every tool, succeeding, warning and refusing, in the test language en-XA: unaccented text other than a fact is
 * hard-coded outside the catalog. The database returns facts: its strings contain no sentence unless a person typed
 * it. All texts use the same format for figures.
 */
import { assert, assertEquals } from "@std/assert";
import { present } from "../../../../functions/mcp/present/present.ts";
import { importExpenses } from "../../../../functions/mcp/tools/import_expenses/contract.ts";
import { TOOLS } from "../../../../functions/mcp/tools/mod.ts";
import { type FactEnvelope, toolResult } from "../../../../shared/connector/result.ts";
import { writeExpenses } from "../../../../shared/export/expense_file.ts";
import { type ImportProblem, readImport } from "../../../../shared/import/read_import.ts";
import { en } from "../../../../shared/words/en/mod.ts";
import { accented, plainWords, stringsIn } from "../../../_support/accented.ts";
import { importOfFile } from "../../../_support/import_args.ts";
import { type Books, confirmed, type Json, openBooks } from "../../../_support/books.ts";
import { sharedDatabase, type TestDatabase } from "../../../_support/database.ts";
import { oddFigures } from "../../../_support/figures.ts";

/** Column names, the same in every language. */
const CSV_HEADER = writeExpenses([], { uncategorized: "" }).trim();
/** Tools without warnings. */
const NEVER_WARN = [
  "decide_proposal",
  "get_context",
  "list_expenses",
  "review_bills",
  "sync_bill_amounts",
  "undo_change",
];

const told = new Map<string, Set<string>>(TOOLS.map(({ listed }) => [listed.name, new Set()]));
const typed = new Set<string>(["Household", "Internet and phone", "Taxes and fees"]);

function presentAccented(tool: string, facts: FactEnvelope, args: Record<string, unknown> = {}): Json {
  for (const text of stringsIn(args)) typed.add(text);
  const sentences = stringsIn(facts).filter((text) =>
    /(\p{L}{2,}[ ,]+){2}\p{L}{2,}/u.test(text) && ![...typed].some((one) => one.includes(text))
  );
  assertEquals(sentences, [], `${tool} has words where facts belong`);
  const kinds = told.get(tool);
  kinds?.add(facts.ok ? "success" : "refusal");
  if (facts.warnings?.length) kinds?.add("warning");
  const answer = present(tool, facts, accented);
  // A client gets the first part of a code.
  const known = [...stringsIn(facts).flatMap((fact) => [fact, fact.split(".")[0]!]), ...stringsIn(args), CSV_HEADER];
  for (const text of stringsIn(answer)) assertEquals(plainWords(text, known), [], `${tool}: ${text}`);
  const plain: Json = present(tool, facts, en);
  for (const text of stringsIn(plain)) {
    // A letter formats days for its readers.
    if (!text.startsWith(CSV_HEADER) && text !== plain.data?.letter?.text) {
      assertEquals(oddFigures(text, typed), [], `${tool}: ${text}`);
    }
  }
  return answer;
}

/** Arguments that the contract refuses. */
function refused(tool: string, args: Record<string, unknown>): Json {
  const parsed = TOOLS.find(({ listed }) => listed.name === tool)!.parse(args);
  assert(!parsed.ok, `${tool} takes ${JSON.stringify(args)}`);
  return presentAccented(tool, parsed, args);
}

const TODAY = "2026-11-20";

/** A change too old to undo. */
async function addOldChange(database: TestDatabase, books: Books): Promise<string> {
  const { change_id } = await books.call("log_expenses", { items: [{ name: "Old", amount: "1" }] });
  await database.query("update app.change_sets set created_at = '2026-01-01' where id = $1", [change_id]);
  return change_id;
}

const database = await sharedDatabase();

const open = (options = {}) => openBooks(database, { day: TODAY, present: presentAccented, ...options });
const withBooks = (work: (books: Books) => Promise<void>) => async () => await work(await open());
const codesOf = (answer: Json): string[] => (answer.warnings ?? []).map(({ code }: Json) => code);

Deno.test(
  "en-XA: log_expenses, update_expenses, list_expenses, delete_records",
  withBooks(async (books) => {
    const lunch = { name: "Thing", amount: "14.50", tags: ["work"] };
    const { data: { results: [{ id }] } } = await books.call("log_expenses", {
      items: [lunch, { name: "Tea", amount: "3", date: "tomorrow" }],
    });
    assertEquals(
      codesOf(await books.call("log_expenses", { items: [lunch, { name: "Hat", amount: "5", currency: "USD" }] })),
      [
        "duplicate",
        "rate_missing",
      ],
    );
    await books.fails("category_not_found", "log_expenses", {
      items: [lunch, { ...lunch, category: "Foood" }, { ...lunch, amount: "0" }, { ...lunch, date: "2027-01-01" }],
    });
    for (
      const wrong of [
        { tax: "15" },
        { tax: "2.00", tax_percent: 19 },
        { tax: "2.76", tax_percent: 19 },
        { reimbursement: "none", reimbursed_by: "Bistro" },
        { split: [{}, {}] },
        { split: [{ amount: "20" }] },
        { split: [{ amount: "14.50" }, {}] },
      ]
    ) await books.fails("invalid_argument", "log_expenses", { items: [{ ...lunch, ...wrong }] });
    assertEquals(
      codesOf(await books.call("update_expenses", { ids: [id], set: { note: "Bistro" }, dry_run: true })),
      ["dry_run"],
    );
    await books.ok("update_expenses", { ids: [id], set: { amount: "15", payee: "Bistro" } });
    const { details } = await books.fails("stale_version", "update_expenses", {
      ids: [id],
      set: { note: "x" },
      expected_version: 1,
    });
    assertEquals(details.current.category, accented.labels.uncategorized);
    await books.fails("not_found", "update_expenses", { ids: ["exp_00000000", id], set: { note: "x" } });
    await books.ok("list_expenses");
    await books.ok("list_expenses", { format: "csv" });
    await books.fails("invalid_argument", "list_expenses", { from: "2026-11-02", to: "2026-11-01" });
    await books.fails("expectation_mismatch", "delete_records", { ids: [id], expected: [{ id, amount: "1" }] });
    await books.ok("delete_records", { ids: [id], reason: "Twice" });
    await books.fails("not_found", "delete_records", { ids: [id] });
  }),
);

Deno.test(
  "en-XA: import_expenses",
  withBooks(async (books) => {
    const send = async (args: Record<string, unknown>) => {
      const parsed = importExpenses.parse(args);
      if (!parsed.ok) return presentAccented("import_expenses", parsed, args);
      const answer = await books.call("import_expenses", parsed.value);
      if (answer.data?.import?.state !== "reading") return answer;
      // The account remembers no columns, so the second reading refuses the file.
      const error = readImport(args.csv as string) as ImportProblem;
      return presentAccented("import_expenses", { ok: false, error }, args);
    };
    await books.ok("add_bill", { name: "Rent", amount: "1200", first_due: "2026-12-01" });
    const csv = [
      "Date,What,Cost,Kind of thing",
      "01/02/2026,Lunch,14.50,Nothing known",
      "02/02/2026,Rent,1200.00,",
      ",Tea,1,",
      "03/02/2026,,1,",
      "x,Tea,1,",
      "04/02/2026,Tea,,",
      "04/02/2026,Tea,x,",
      "04/02/2026,Tea,0,",
      "31/02/2026,Tea,1,",
      "05/02/2026,Tea,1,,,",
      "2026-01-01,Tea\ufffd,1,",
    ].join("\n");
    const shown = await send({ csv, mapping: { category: "Kind of thing" } });
    assertEquals(shown.ok, true, JSON.stringify(shown.error));
    const { preview } = shown.data;
    assert(preview.rows_bad.length >= 6, JSON.stringify(preview));
    assert(codesOf(shown).includes("encoding"), JSON.stringify(shown.warnings));
    assert(codesOf(shown).includes("category_not_found"), JSON.stringify(shown.warnings));
    assertEquals((await send(preview.commit_with)).error.code, "category_not_found");
    const wrong = { ...preview.commit_with, expected_count: 9, create_missing_categories: true };
    assertEquals((await send(wrong)).error.code, "expectation_mismatch");
    assertEquals((await send({ ...preview.commit_with, create_missing_categories: true })).ok, true);
    assertEquals((await send({ ...preview.commit_with, import_id: "imp_00000000" })).error.code, "not_found");
    assertEquals((await send({ csv: "Date,Name,Amount\n2026-13-01,Tea,1" })).error.code, "invalid_argument");
    for (
      const file of [
        "2026-01-01,Tea,1,EUR,USD\n",
        "Date,Name,Amount,A,B\n2026-01-02,Tea,1.234,EUR,USD\n2026-01-03,Tea,-1.234,EUR,USD",
        "Date,Name,Amount\n2026-01-02,Tea,-1\n2026-01-03,Tea,1\n2026-01-04,Tea,-2",
        "Date,Name,Amount\n01/02/2026,Tea,1",
      ]
    ) assertEquals((await send({ csv: file })).ok, true, file);
    const link = await send({});
    assertEquals((await send({ import_id: link.data.upload.import_id })).error.code, "not_found");
    assertEquals((await send({ csv, account: "acc_00000000" })).error.code, "not_found");
    const { import_id: open } = (await send({ csv: "Date,Name,Amount\n2026-01-05,Tea,1" })).data.preview;
    for (
      const args of [
        { expected_count: 1 },
        { csv, import_id: "imp_00000000" },
        { import_id: "imp_00000000", expected_count: 1 },
        { import_id: open, answers: { row_1: "same" } },
        { import_id: open, answers: { decimal: ";" } },
        { import_id: open, skip_lines: [1] },
        { csv: "Date,Name,Amount" },
        { csv: "Date,Name,Amount\n".repeat(2100) },
        { csv: "x,".repeat(300) },
        { csv: "Name,What\nTea,x" },
        { csv: "Date,Name,Amount\n2026-01-01,Tea,1", mapping: { amount: "Price" } },
      ]
    ) assertEquals((await send(args)).error?.code, "invalid_argument", JSON.stringify(args));
  }),
);

Deno.test(
  "en-XA: reconcile",
  withBooks(async (books) => {
    const file = importOfFile("Date,Name,Amount\n2026-01-05,Tea,1", { account: "Card" });
    const { preview } = await books.ok("import_expenses", file);
    await books.ok("import_expenses", preview.commit_with);
    await books.ok("reconcile", { account: "Card", to: "2026-06-01" });
    await books.fails("not_found", "reconcile", { account: "Bank" });
    await books.fails("invalid_argument", "reconcile", { account: "Card", from: "2026-01-05", to: "2026-01-01" });
  }),
);

Deno.test(
  "en-XA: summarize_spending and show_spending_chart",
  withBooks(async (books) => {
    await books.ok("log_expenses", {
      items: [
        { name: "Lunch", amount: "10", tags: ["work", "food"], category: "Food and drink", date: "2026-11-02" },
        { name: "Hat", amount: "5", currency: "USD", date: "2026-11-02" },
        { name: "Tea", amount: "8", date: "2026-10-02" },
        { name: "Cake", amount: "1", date: "2026-11-03" },
      ],
      create_missing_categories: true,
    });
    await books.ok("add_bill", { name: "Rent", amount: "1200", first_due: "2026-11-25" });
    await books.ok("add_bill", { name: "Power", amount_mode: "variable", first_due: "2026-11-25" });
    await books.ok("add_bill", { name: "Rolls", amount: "2", frequency: "daily", first_due: "2026-11-21" });
    await books.ok("add_bill", { name: "Phone", amount: "2", currency: "USD", first_due: "2026-11-21" });
    for (const group of ["category", "tag", "payee", "member", "month"]) {
      await books.ok("summarize_spending", { group_by: [group], top: 1, include_upcoming: true });
    }
    const warned = await books.call("summarize_spending", {
      group_by: ["tag"],
      compare: "previous_period",
      include_upcoming: true,
    });
    assertEquals(codesOf(warned).toSorted(), ["amount_missing", "rate_missing", "tags_overlap"]);
    for (const compare of ["previous_period", "same_period_last_year"]) {
      await books.ok("summarize_spending", { compare, period: "last_12_months" });
    }
    await books.fails("invalid_argument", "summarize_spending", { period: "this_month", from: "2026-01-01" });
    await books.fails("date_out_of_range", "summarize_spending", { from: "1999-01-01", to: "2026-01-01" });
    for (const chart of ["by_category", "over_time", "category_over_time", "upcoming_bills"]) {
      for (const period of ["this_month", "last_month", "last_30_days", "last_12_months", "this_year"]) {
        await books.ok("show_spending_chart", { chart, period });
      }
      await books.ok("show_spending_chart", { chart, from: "2026-11-02", to: "2026-12-20" });
    }
    assertEquals(codesOf(await books.call("show_spending_chart", { chart: "by_category" })), ["rate_missing"]);
    await books.fails("date_out_of_range", "show_spending_chart", { chart: "upcoming_bills", to: "2040-01-01" });
  }),
);

Deno.test(
  "en-XA: draft_cancellation",
  withBooks(async (books) => {
    const contract = { started_on: "2026-01-01", term_months: 12, renewal_months: 12, notice: "1 month" };
    const { bill } = await books.ok("add_bill", { name: "Gym", amount: "20", first_due: "2026-12-20", contract });
    await books.ok("draft_cancellation", { bill_id: bill.id });
    const early = await books.call("draft_cancellation", { bill_id: bill.id, leave_on: "2026-12-24" });
    assertEquals(codesOf(early), ["other_end"]);
    for (const form of ["letter", "email", "online", "any"]) {
      await books.ok("draft_cancellation", { bill_id: bill.id, contract: { form, notice: "12 months" } });
    }
    await books.fails("date_out_of_range", "draft_cancellation", { bill_id: bill.id, leave_on: "2026-11-01" });
    const set = { contract: { confirmed_on: "2026-11-19" } };
    await books.ok("update_bill", { bill_id: bill.id, set });
    await books.fails("invalid_argument", "draft_cancellation", { bill_id: bill.id });
    await books.fails("date_out_of_range", "update_bill", {
      bill_id: bill.id,
      set: { contract: { confirmed_on: "2027-11-19" } },
    });
    const rest = { amount: "20", first_due: "2026-12-20" };
    await books.ok("add_bill", { name: "Phone", ...rest, contract: { notice: "2 months to month" } });
    await books.ok("add_bill", { name: "Club", ...rest, contract: { term_months: 3, renewal_months: 3 } });
    await books.ok("add_bill", {
      name: "Pool",
      ...rest,
      contract: { term_months: 0, renewal_months: 0, notice: "1 day" },
    });
    await books.ok("add_bill", { name: "Unknown", ...rest, contract: { started_on: "2020-01-01" } });
    await books.ok("review_bills", { horizon_days: 60 });
  }),
);

Deno.test(
  "en-XA: attach_document",
  withBooks(async (books) => {
    const keep = (number: string, more: Json = {}) =>
      books.ok("attach_document", {
        step: "keep",
        content: btoa(number),
        name: `${number}.xml`,
        type: "application/xml",
        facts: {
          kind: "invoice",
          format: "ubl",
          payee: "Baker",
          gross: "7.00",
          currency: "EUR",
          number,
          questions: [],
          ...more,
        },
      });
    const { document: unread } = await keep("0", { payee: undefined });
    const { document: first } = await keep("1", { issued_on: "2026-11-19", iban: "DE89370400440532013000" });
    const { results: [{ id }] } = await books.ok("log_expenses", { items: [{ name: "Baker", amount: "7.00" }] });
    await books.ok("attach_document", { document_id: first.id });
    const { document: next } = await keep("2", { issued_on: "2026-11-19", iban: "GB82WEST12345698765432" });
    assertEquals(codesOf(await books.call("attach_document", { document_id: next.id, to: id })), ["iban_changed"]);
    await books.ok("attach_document", { document_id: next.id, to: "none" });
    await books.ok("attach_document", { document_id: unread.id });
    await books.fails("not_found", "attach_document", { document_id: "doc_000000000000" });
    await books.fails("not_found", "attach_document", { document_id: unread.id, to: "exp_000000000000" });
    await database.query(
      "insert into app.inbound_mails (organization_id, provider_id, state, refusals, leased_until, received_at) " +
        "select $1, 'mail ' || n, case n when 1 then 'waiting' else 'read' end, case n when 1 then '{}' else " +
        "array['document_quota', 'invalid_argument.document_too_large'] end, $2, $2 from generate_series(1, 2) as n",
      [books.organizationId, `${TODAY}T08:00:00Z`],
    );
    for (let nth = 0; nth < 25; nth++) await keep(`more ${nth}`);
    const warned = codesOf(await books.call("list_documents"));
    assertEquals(warned, ["mails_waiting", "mails_not_kept", "documents_more"]);
    await books.fails("not_found", "list_documents", { document_id: "doc_000000000000", content: true });
  }),
);

Deno.test(
  "en-XA: settle_up",
  withBooks(async (books) => {
    const { userId } = await books.join();
    const to = `${userId}@example.com`;
    await books.fails("invalid_argument", "settle_up", {});
    await books.fails("invalid_argument", "settle_up", { to });
    await books.ok("settle_up", { to, amount: "5.00" });
    assert(codesOf(await books.call("settle_up", { to, amount: "5.00" })).includes("duplicate"));
    assert(codesOf(await books.call("settle_up", { to, amount: "6.00" })).includes("more_than_owed"));
    const { results: [{ id }] } = await books.ok("log_expenses", {
      items: [{ name: "Groceries", amount: "10.00", currency: "USD", shared: {} }],
    });
    await books.ok("list_expenses");
    await books.fails("invalid_argument", "settle_up", {});
    await books.fails("invalid_argument", "update_expenses", { ids: [id], set: { shared: { shares: [1] } } });
    const amounts = { shared: { amounts: ["1.00", "2.00"] } };
    await books.fails("invalid_argument", "update_expenses", { ids: [id], set: amounts });
    await books.ok("get_context", { include: ["balances"] });
  }),
);

Deno.test(
  "en-XA: add_bill, list_bills, mark_bill_paid, update_bill, review_bills",
  withBooks(async (books) => {
    const { bill } = await books.ok("add_bill", {
      name: "Rent",
      amount: "1200",
      month_days: [1, 31],
      my_share_percent: 50,
      reminder_days_before: 3,
    });
    assert(
      codesOf(
        await books.call("add_bill", {
          name: "Rent",
          amount: "1300",
          first_due: "2026-12-05",
          weekend_rule: "after",
        }),
      ).includes("same_name"),
    );
    assert(
      codesOf(await books.call("add_bill", { name: "Rent", amount: "1200", month_days: [1, 31] })).includes(
        "duplicate",
      ),
    );
    for (const frequency of ["once", "daily", "weekly", "yearly"]) {
      await books.ok("add_bill", {
        name: `A ${frequency} one`,
        amount: "5",
        frequency,
        first_due: "2026-11-25",
        trial_ends_on: "2026-11-25",
      });
    }
    await books.ok("add_bill", {
      name: "Power",
      amount_mode: "variable",
      first_due: "2026-11-22",
      renews_on: "2026-12-24",
      notice_days: 5,
    });
    await books.fails("invalid_argument", "add_bill", { name: "Gas" });
    await books.fails("invalid_argument", "add_bill", {
      name: "Gas",
      amount: "1",
      frequency: "once",
      month_days: [1],
    });
    books.goTo("2026-12-10");
    assertEquals(codesOf(await books.call("list_bills", { due_within_days: 60 })), ["amount_missing"]);
    await books.fails("not_found", "list_bills", { bill_id: "bill_00000000" });
    await books.fails("ambiguous_name", "mark_bill_paid", { bill_name: "Rent" });
    await books.fails("not_found", "mark_bill_paid", { bill_name: "Rnt" });
    const partly = await books.call("mark_bill_paid", { bill_id: bill.id, amount: "200" });
    assertEquals(codesOf(partly), ["partly_paid", "overdue"]);
    await books.fails("already_paid", "mark_bill_paid", { bill_id: bill.id, amount: "200" });
    await books.fails("date_out_of_range", "mark_bill_paid", { bill_id: bill.id, paid_on: "2020-01-01" });
    await books.fails("invalid_argument", "mark_bill_paid", { bill_id: bill.id, advance: true });
    await books.fails("overpayment", "mark_bill_paid", { bill_id: bill.id, amount: "2000", due_on: "2026-11-30" });
    await books.fails("invalid_argument", "mark_bill_paid", { bill_id: bill.id, due_on: "2026-12-02" });
    await books.fails("date_out_of_range", "mark_bill_paid", { bill_id: bill.id, paid_on: "2027-01-01" });
    const changed = await books.call("update_bill", {
      bill_id: bill.id,
      set: { amount: "1500", my_share_percent: 100, note: "New" },
      apply_from: "2027-03-01",
      occurrence: { due_on: "2026-12-01", action: "snooze", snooze_until: "2026-12-15" },
    });
    assert(
      codesOf(changed).includes("snoozed") && codesOf(changed).includes("applies_later"),
      JSON.stringify(changed.warnings),
    );
    for (const occurrence of [{ action: "set_amount", amount: "1000" }, { action: "skip" }, { action: "reopen" }]) {
      await books.ok("update_bill", { bill_id: bill.id, occurrence: { due_on: "2026-12-31", ...occurrence } });
    }
    for (const status of ["paused", "active", "cancelled"]) {
      await books.ok("update_bill", { bill_id: bill.id, set: { status } });
    }
    await books.fails("invalid_argument", "update_bill", { bill_id: bill.id });
    await books.fails("stale_version", "update_bill", { bill_id: bill.id, set: { note: "x" }, expected_version: 1 });
    const items = [{ name: "Giro", amount: "90", kind: "balance" }];
    await books.ok("log_expenses", { items });
    await books.fails("date_out_of_range", "forecast", { until: "2029-01-01" });
    await books.ok("forecast", { spend: "10" });
    await books.ok("update_settings", { category: { action: "make_private", name: "Health" } });
    const kept = await books.join();
    await kept.ok("log_expenses", { items });
    assert(codesOf(await kept.call("forecast")).includes("forecast_partial"));
    const review = await books.ok("review_bills");
    for (const section of ["overdue", "trials_ending", "cancel_by"]) {
      assert(section in review, `${section}: ${JSON.stringify(review)}`);
    }
    assertEquals(codesOf(await books.call("delete_records", await confirmed(books, [bill.id]))), [
      "payments_deleted",
    ]);
  }),
);

Deno.test(
  "en-XA: sync_bill_amounts",
  withBooks(async (books) => {
    const { bill } = await books.ok("add_bill", { name: "Power", amount_mode: "variable", first_due: "2026-11-25" });
    const answers: Json[] = [
      { outcome: "statement", amount: "84.20", currency: "EUR" },
      { outcome: "statement", amount: "300", currency: "USD" },
      ...["not_ready", "auth", "rate_limited", "no_adapter", "upstream"].map((code) => ({ outcome: "failed", code })),
    ];
    await books.ok("sync_bill_amounts", { bill_ids: [bill.id] });
    await books.fails("not_found", "sync_bill_amounts", { bill_ids: ["bill_00000000"] });
    await books.fails("date_out_of_range", "sync_bill_amounts", { period: "2027-01" });
    await database.query(
      `insert into app.provider_links (organization_id, expense_id, provider_key, provider_name, account_label, status, created_at)
     values ($1, $2, 'utility', 'City Utility', 'Ac…01', 'active', '2026-01-01')`,
      [books.organizationId, bill.id],
    );
    for (const [day, answer] of answers.entries()) {
      books.goTo(`2026-11-${20 + day}`);
      await database.query("update app.provider_links set status = 'active', ask_after = null");
      const { bills, pending } = (await books.facts("sync_bill_amounts")).data;
      assertEquals(pending.length, 1, JSON.stringify(bills));
      const results = pending.map(({ link_id, lease_token, period }: Json) => ({
        link_id,
        lease_token,
        period,
        answer,
      }));
      await books.ok("store_bill_amounts", { bills, results });
      await books.ok("sync_bill_amounts");
      await books.ok("review_bills");
      await books.ok("list_bills");
    }
  }),
);

Deno.test(
  "en-XA: undo_change, update_settings, get_context",
  withBooks(async (books) => {
    const lunch = await books.call("log_expenses", {
      items: [{ name: "Lunch", amount: "14.50" }, { name: "Tea", amount: "3" }],
    });
    const [{ id }] = lunch.data.results;
    const changed = await books.call("update_expenses", { ids: [id], set: { note: "x", date: "2026-11-01" } });
    await books.fails("undo_conflict", "undo_change", { change_id: lunch.change_id });
    const undone = await books.call("undo_change", { change_id: changed.change_id });
    await books.fails("already_undone", "undo_change", { change_id: changed.change_id });
    await books.ok("undo_change", { change_id: undone.change_id });
    await books.fails("not_found", "undo_change", { change_id: "chg_00000000" });
    for (const action of ["create", "rename", "archive"]) {
      await books.ok("update_settings", {
        category: { action, name: action === "archive" ? "Parrots" : "Pets", new_name: "Parrots" },
      });
    }
    const warned = await books.call("update_settings", {
      timezone: "Europe/Berlin",
      base_currency: "USD",
      reminders: { default_lead_days: 2 },
    });
    assertEquals(codesOf(warned), ["revalued"]);
    await books.fails("invalid_argument", "update_settings", { timezone: "Berlin" });
    await books.fails("category_not_found", "update_settings", { category: { action: "archive", name: "Nothing" } });
    const member = await books.join();
    await member.fails("forbidden_role", "update_settings", { base_currency: "INR" });
    await books.ok("get_context", { include: ["categories", "payees", "members", "recent_changes"] });
    await books.fails("undo_expired", "undo_change", { change_id: await addOldChange(database, books) });
  }),
);

Deno.test("en-XA: arguments that the contract refuses", () => {
  const item = (more: Json) => ({ items: [{ name: "Lunch", amount: "14.50", ...more }] });
  for (
    const more of [
      { amount: "-5" },
      { amount: "much" },
      { amount: "1,234" },
      { amount: "€5,00", currency: "USD" },
      { date: "last week" },
      { date: "03/04/2026" },
      { currency: "$" },
      { name: null },
      { payee: "x".repeat(121) },
      { colour: "red" },
      { amount: 5, name: 5 },
      { is_refund: "perhaps" },
    ]
  ) refused("log_expenses", item(more));
  refused("log_expenses", {});
  refused("log_expenses", { items: [] });
  refused("add_bill", { name: "Rent", amount: "-5", my_share_percent: 0, month_days: [0] });
  refused("delete_records", { ids: ["pay_2pw4nx1fdn72"] });
  refused("update_expenses", { ids: ["bill_2pw4nx1fdn72"], set: {} });
  refused("update_expenses", { ids: ["exp_2pw4nx1fdn72"], set: { payee: null } });
  refused("get_context", { include: ["members", "members"], changes_limit: 51 });
  refused("review_bills", { horizon_days: "soon" });
  refused("forecast", { until: "soon" });
});

Deno.test("en-XA: internal errors, locks and shortened answers", () => {
  presentAccented("log_expenses", {
    ok: false,
    error: { code: "internal", params: { details: { request_id: "r1" } } },
  });
  presentAccented("log_expenses", { ok: false, error: { code: "busy" } });
  const long = { ok: true, data: { rows: Array.from({ length: 3000 }, () => ({ id: "exp_1" })) } };
  const text = (data: Json) => JSON.parse(toolResult({ ...long, data }, accented).content[0]!.text).hint;
  assertEquals(plainWords(text(long.data), ["rows"]), []);
  assertEquals(plainWords(text({ note: { text: "x".repeat(30_000) } }), []), []);
});

Deno.test("en-XA: proposals", () => {
  const waiting = {
    asked: ["mira@example.com"],
    reasons: [
      { reason: "any" },
      { reason: "records", limit: 5, records: 6 },
      { reason: "amount", limit: "200.00", total: "231.50", currency: "EUR" },
      { reason: "unconvertible", limit: "200.00", currency: "EUR", currencies: ["KWD"] },
    ],
    details: { proposal_id: "prop_1", expires_at: "2026-11-27T12:00:00Z" },
  };
  for (const asked of [waiting.asked, []]) {
    presentAccented("log_expenses", {
      ok: false,
      error: { code: "awaiting_approval", params: { ...waiting, asked } },
    });
  }
  presentAccented("log_expenses", { ok: false, error: { code: "too_many_proposals", params: { most: 50 } } });
  presentAccented("decide_proposal", { ok: true, data: { proposal_id: "prop_1", state: "refused" } });
  const undecided = [
    ...["unknown", "expired", "changed"].map((outcome) => [outcome, {}] as const),
    ...["withdrawn", "stale"].map((state) => ["already", { state }] as const),
    ...["page", "own", "others", "owner", "manager"].map((why) => ["not_allowed", { why }] as const),
    ["stale", {}] as const,
  ];
  for (const [outcome, params] of undecided) {
    presentAccented("decide_proposal", { ok: false, error: { code: `not_decided.${outcome}`, params } });
  }
});

Deno.test("en-XA: the cases cover every tool", () => {
  for (const [tool, kinds] of told) {
    const expected = ["success", "refusal", ...(NEVER_WARN.includes(tool) ? [] : ["warning"])];
    const missing = expected.filter((kind) => !kinds.has(kind));
    assertEquals(missing, [], `${tool}: add a call with each kind of answer, or the tool to NEVER_WARN`);
  }
});

Deno.test("test of the test: a word outside the catalog is found, a fact is not", () => {
  assertEquals(
    plainWords(accented.refusals["not_found.bill"]({ id: "bill_1", organization: "Our home" }).message, [
      "Our home",
      "bill_1",
    ]),
    [],
  );
  assertEquals(plainWords(`${accented.labels.uncategorized} in total`, []), ["total"]);
  assertEquals(plainWords("Lunch, 14.50 EUR", ["Lunch"]), ["EUR"]);
});
