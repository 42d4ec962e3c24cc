/** Imports in steps: links, files, pages, answers, corrections, accounts and the results of a commit. */
import { assertEquals, assertMatch } from "@std/assert";
import { importExpenses } from "../../functions/mcp/tools/import_expenses/contract.ts";
import { keepFile, workThrough } from "../../shared/import/import_work.ts";
import { testBooks } from "../_support/book_steps.ts";
import { type Books, type Json, openBooks } from "../_support/books.ts";
import type { TestDatabase } from "../_support/database.ts";

const stepOf = (books: Books) => (args: Record<string, unknown>) => books.facts("import_expenses", args);
const clockOf = (books: Books) => () => new Date(`${books.today()}T12:00:00Z`);
const soon = (books: Books) => new Date(clockOf(books)().getTime() + 20_000);

const start = async (books: Books, args: Json = {}): Promise<Json> =>
  (await books.ok("import_expenses", { ...args, step: "start" })).upload;
const keep = (books: Books, text: string, args: Json = {}) =>
  keepFile(stepOf(books), { text, ...args }, clockOf(books)) as Promise<Json>;
const work = (books: Books, importId: string, args: Json = {}) =>
  workThrough(stepOf(books), { importId, deadline: soon(books), clock: clockOf(books), ...args }) as Promise<Json>;

/** Continues until the preview, as the page and the connector do. */
async function upload(books: Books, text: string, args: Json = {}): Promise<Json> {
  const kept = await keep(books, text, args);
  assertEquals(kept.problem, undefined);
  const importId = kept.state.import_id;
  assertEquals(await work(books, importId, { kept }), { state: "ready" });
  return (await books.ok("import_expenses", { import_id: importId })).preview;
}

/** A call of the tool, with the connector's work until the import is ready. */
async function say(books: Books, args: Json, isWorkedOn = true): Promise<Json> {
  const parsed = importExpenses.parse(args);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.error));
  const answer = await books.call("import_expenses", parsed.value);
  const { import_id, state } = answer.data?.import ?? {};
  if (!state || !isWorkedOn) return answer;
  assertEquals(await work(books, import_id), { state: "ready" });
  return await books.call("import_expenses", { import_id });
}

const CSV = "Date,Name,Amount\n2026-10-01,Kiosk,14.50\n2026-10-02,Taxi,20\n2026-10-03,Tea house,4\n";
const SIGNED = "Date,Description,Amount\n2026-10-01,Shop,-12.00\n2026-10-02,Work,2000.00\n";

const linesOf = async (database: TestDatabase, { organizationId }: Books) =>
  (await database.query<Json>(
    `select l.text, l.nth, l.is_skipped, count(k.payment_id)::int as payments from app.statement_lines as l
    left join app.statement_links as k on k.line_id = l.id
    where l.organization_id = $1 group by l.id order by l.booked_on, l.nth`,
    [organizationId],
  )).map(({ text, nth, is_skipped, payments }) => [text, nth, is_skipped, payments]);

testBooks("imports", { day: "2026-10-06" }, {
  "a link accepts one file, from its requester, within half an hour": async (books, database) => {
    await books.ok("update_settings", { timezone: "Asia/Kolkata" });
    const { import_id, expires_at } = await start(books);
    assertEquals(new Date(expires_at), new Date("2026-10-06T12:30:00Z"));
    const early = await books.fails("not_found", "import_expenses", { import_id });
    assertMatch(early.message, /Nothing has been uploaded/);
    assertMatch(early.hint, /works until 2026-10-06 18:00\./);
    const member = await books.join();
    const stranger = await openBooks(database, { day: "2026-10-06" });
    for (const other of [member, stranger]) {
      for (const args of [{ import_id }, { step: "open", import_id }, { step: "load", import_id }]) {
        await other.fails("not_found", "import_expenses", args);
      }
      assertEquals((await keep(other, CSV, { importId: import_id })).problem.code, "not_found.import");
    }
    assertEquals((await keep(books, CSV, { importId: import_id })).state.state, "reading");
    assertEquals((await keep(books, CSV, { importId: import_id })).problem.code, "invalid_argument.upload_used");

    const late = await start(books);
    await database.query("update app.import_batches set expires_at = '2026-10-06T11:59:59Z' where id = $1", [
      late.import_id,
    ]);
    assertEquals((await keep(books, CSV, { importId: late.import_id })).problem.code, "not_found.import");
  },

  "the page's calls require the importing person and organization": async (books, database) => {
    const { import_id } = await start(books);
    const stranger = await openBooks(database, { day: "2026-10-06" });
    const open = (userId: string, organizationId: string) =>
      database.asService<Json>("run_page_tool", {
        tool: "import_expenses",
        user_id: userId,
        organization_id: organizationId,
        arguments: { step: "open", import_id },
        at: "2026-10-06T12:00:00Z",
      });
    const { outcome, result } = await open(books.userId, books.organizationId);
    assertEquals([outcome, result.data.import.state, result.data.import.organization], ["ok", "waiting", "Household"]);
    assertEquals((await open(stranger.userId, stranger.organizationId)).result.error.code, "not_found.import");
    assertEquals(await open(stranger.userId, books.organizationId), { outcome: "refused" });
  },

  "reveal no line or payment of another organization, although they bypass row-level security": async (
    books,
    database,
  ) => {
    const { preview } = (await say(books, { csv: CSV, account: "Vault" })).data;
    await say(books, preview.commit_with);
    const [line] = await database.query<Json>(
      "select l.id, l.account_id from app.statement_lines as l join app.statement_links as k on k.line_id = l.id limit 1",
    );
    const stranger = await openBooks(database, { day: "2026-10-06" });
    const seenBy = ({ userId, organizationId }: Books) =>
      database.asRole("authenticated", { sub: userId, organization_id: organizationId }, async (session) => {
        const [seen] = await session.query<Json>(
          `select (select count(*)::int from app.list_known_lines($1, '2026-01-01', '2026-12-31')) as lines,
            (select count(expense_id)::int from app.list_line_records() where line_id = $2) as payments`,
          [line.account_id, line.id],
        );
        return seen;
      });
    assertEquals(await seenBy(books), { lines: 3, payments: 1 });
    assertEquals(await seenBy(stranger), { lines: 0, payments: 0 });
  },

  "treat ids of another organization like unknown ones, and write nothing": async (books, database) => {
    const stranger = await openBooks(database, { day: "2026-10-06" });
    const { import_id } = await upload(stranger, SIGNED, { account: "Vault" });
    const { preview } = (await say(stranger, { import_id, answers: { negative_is_expense: true } })).data;
    await say(stranger, preview.commit_with);
    const { layouts: [{ id: layout }] } = await stranger.ok("update_settings", { forget_layouts: [] });
    const [account] = layout.split(".");
    const [line] = await database.query<Json>(
      `select l.id, k.payment_id from app.statement_lines as l join app.statement_links as k on k.line_id = l.id
      where l.account_id = $1`,
      [account],
    );
    const imports = [
      import_id,
      (await upload(stranger, CSV, { account: "Vault" })).import_id,
      (await keep(stranger, CSV)).state.import_id,
      (await start(stranger)).import_id,
    ];

    await books.ok("log_expenses", { items: [{ name: "Dinner", amount: "20", date: "2026-10-02" }] });
    const own = await upload(books, CSV, { account: "Purse" });
    assertEquals(own.questions.map(({ id }: Json) => id), ["row_3"]);
    const keeping = { step: "keep", file: CSV, row_count: 3, mapping: {}, read: { questions: [], left_out: [] } };
    const page = { after: 0, revision: 1, through: 2, is_last: true, rows: [], rows_bad: [], left_out_rows: [] };
    const calls: [tool: string, ids: string[], args: (id: string) => Json][] = [
      ["import_expenses", imports, (import_id) => ({ import_id })],
      ["import_expenses", imports, (import_id) => ({ ...own.commit_with, import_id })],
      ["import_expenses", imports, (import_id) => ({ import_id, skip_lines: [2], account: "Purse" })],
      ["import_expenses", imports, (import_id) => ({ step: "open", import_id })],
      ["import_expenses", imports, (import_id) => ({ step: "load", import_id })],
      ["import_expenses", imports, (import_id) => ({ ...keeping, import_id })],
      ["import_expenses", imports, (import_id) => ({ step: "stage", import_id, ...page })],
      ["import_expenses", imports, (import_id) => ({ step: "match", import_id })],
      ["import_expenses", [account], (account) => ({ ...keeping, account })],
      ["import_expenses", [account], (account) => ({ import_id: own.import_id, account })],
      ["reconcile", [account], (account) => ({ account })],
      ["update_settings", [layout], (id) => ({ forget_layouts: [id] })],
      ["import_expenses", [line.id, line.payment_id], (answer) => ({
        ...{ import_id: own.import_id, answers: { row_3: answer } },
      })],
      ["delete_records", [line.id, line.payment_id], (id) => ({ ids: [id] })],
      ["update_expenses", [line.id, line.payment_id], (id) => ({ ids: [id], set: { note: "Mine" } })],
    ];
    const tables = ["accounts", "import_batches", "import_rows", "statement_lines", "statement_links", "payments"];
    const dump = () =>
      database.query<Json>(
        tables.map((name) => `select '${name}' as name, to_jsonb(t) as row from app.${name} as t`).join(" union all ") +
          " order by 1, 2",
      );
    const before = await dump();
    for (const [tool, ids, args] of calls) {
      for (const id of ids) {
        const unknown = id.replace(/(?<=_)[0-9a-z]+/, "000000000000");
        const [theirs, none] = [await books.call(tool, args(id)), await books.call(tool, args(unknown))];
        const what = `${tool} ${JSON.stringify(args(id))}`;
        assertEquals([theirs.ok, none.ok], [false, false], what);
        assertEquals(JSON.parse(JSON.stringify(theirs.error).replaceAll(id, unknown)), none.error, what);
      }
    }
    assertEquals(await dump(), before);
  },

  "resume where they stopped, and a repeated page changes nothing": async (books) => {
    const kept = await keep(books, CSV);
    const importId = kept.state.import_id;
    const over = { deadline: clockOf(books)() };
    assertEquals((await work(books, importId, over)).state, "under_way");
    const progress: Json[] = [];
    assertEquals(await work(books, importId, { onProgress: (one: Json) => progress.push(one) }), { state: "ready" });
    assertEquals(progress.map(({ done, total, phase }) => [done, total, phase]), [
      [3, 6, "reading"],
      [6, 6, "matching"],
    ]);
    const again = await stepOf(books)({
      ...{ step: "stage", import_id: importId, after: 0, revision: 1, through: 2, is_last: true },
      ...{ rows: [{ line: 2, name: "Other", amount: "1", date: "2026-10-01" }], rows_bad: [], left_out_rows: [] },
    });
    assertEquals(again.data.import.state, "ready");
    assertEquals((await books.ok("import_expenses", { import_id: importId })).preview.totals, { EUR: "38.50" });
  },

  "ask a question and remember the answer for the account": async (books) => {
    const account = "Main account";
    const shown = await upload(books, SIGNED, { account });
    assertEquals([shown.account.name, shown.questions.map(({ id }: Json) => id)], [account, ["negative_is_expense"]]);
    const open = await say(books, shown.commit_with);
    assertEquals(open.error.code, "needs_answer");
    const { preview } = (await say(books, { import_id: shown.import_id, answers: { negative_is_expense: true } })).data;
    assertEquals([preview.questions, preview.totals], [[], { EUR: "12.00" }]);
    assertEquals((await say(books, preview.commit_with)).data.created, 1);

    const next = await upload(books, SIGNED.replaceAll("2026-10", "2026-09"), { account: "main ACCOUNT" });
    assertEquals([next.questions, next.totals], [[], { EUR: "12.00" }]);
    // A remembered answer can still be changed.
    const other =
      (await say(books, { import_id: next.import_id, answers: { negative_is_expense: false } })).data.preview;
    assertEquals([other.rows_ok, other.totals], [2, { EUR: "1988.00" }]);
    await say(books, other.commit_with);
    const { layouts } = await books.ok("update_settings", { forget_layouts: [] });
    assertEquals(layouts.map(({ account, header, answers }: Json) => [account, header, answers]), [
      [account, "date | description | amount", { negative_is_expense: false }],
    ]);
    // The other account has learned nothing.
    assertEquals(
      (await upload(books, SIGNED.replaceAll("2026-10", "2026-07"), { account: "Card" })).questions.length,
      1,
    );
  },

  "repeat no question that was answered for an earlier statement of the account": async (books) => {
    const kinds: Record<string, { file: (month: string) => string; answers: Json }> = {
      "date order": {
        file: (month) => `Date,Name,Amount\n${month}/04/2026,Tea,5.25\n04/${month}/2026,Bread,7.25\n`,
        answers: { date_format: "MM/DD/YYYY" },
      },
      decimals: {
        file: (month) => `Date,Name,Amount\n2026-${month}-01,Tea,"1,500"\n`,
        answers: { decimal: "," },
      },
      sign: {
        file: (month) => SIGNED.replaceAll("2026-10", `2026-${month}`),
        answers: { negative_is_expense: false },
      },
      currency: {
        file: (month) => `Data;Kwota;Opis\n2026-${month}-01;12,50;Kiosk\n2026-${month}-02;3,10;Tramwaj\n`,
        answers: { default_currency: "PLN" },
      },
    };
    const ask = async (file: string, account?: string) => {
      const preview = await upload(books, file, { account });
      return { preview, ids: preview.questions.map(({ id }: Json) => id) };
    };
    for (const [account, { file, answers }] of Object.entries(kinds)) {
      const first = await ask(file("05"), account);
      assertEquals(first.ids, Object.keys(answers), account);
      const { preview } = (await say(books, { import_id: first.preview.import_id, answers })).data;
      assertEquals(preview.questions, [], account);
      assertEquals((await say(books, preview.commit_with)).ok, true, account);
      const second = await ask(file("06"), account);
      assertEquals([second.ids, second.preview.rows_ok], [[], preview.rows_ok], account);
      // Without an account, the same header line may belong to another bank with the opposite meaning.
      assertEquals((await ask(file("06"))).ids, first.ids, account);
    }
  },

  "ask and remember even for text passed in the call": async (books) => {
    const { data: { preview } } = await say(books, { csv: SIGNED, account: "Bank" });
    assertEquals(preview.questions.length, 1);
    const answered = await say(books, { import_id: preview.import_id, answers: { negative_is_expense: true } });
    await say(books, answered.data.preview.commit_with);
    const next = await say(books, { csv: SIGNED.replaceAll("2026-10", "2026-08"), account: "Bank" });
    assertEquals([next.data.preview.questions, next.data.preview.totals], [[], { EUR: "12.00" }]);
    // Without an account nothing is remembered, so the preview explains how to name one.
    const said = ({ warnings }: Json) => warnings.filter(({ code }: Json) => code === "layout_forgotten").length;
    const nameless = await say(books, { csv: SIGNED.replaceAll("2026-10", "2026-07") });
    const { import_id } = nameless.data.preview;
    const told = await say(books, { import_id, answers: { negative_is_expense: true } });
    const named = await say(books, { import_id, account: "Bank" });
    assertEquals(
      [preview, answered, next, nameless, told, named].map((one) => said(one.data ? one : { warnings: [] })),
      [
        ...[0, 0, 0, 1, 1, 0],
      ],
    );
  },

  "remember a mapping per account and header line until it is forgotten": async (books, database) => {
    const file = (month: string, header = "Zorv;Wex;Umpf;Blork") =>
      `${header}\n${month}-11;Shop;7123;-12,50\n${month}-12;Work;7124;2000,00\n`;
    const mapping = { date: "Zorv", name: "Wex", amount: "Blork" };
    const ask = async (args: Json) => {
      const { import_id } = (await say(books, args, false)).data.import;
      return { import_id, problem: (await work(books, import_id)).problem };
    };
    // A file in the call and an uploaded one need the same answer.
    const asked = await ask({ csv: file("2026-08") });
    assertEquals([asked.problem.code, asked.problem.field], ["invalid_argument.column_unclear", "mapping.date"]);
    const answers = { negative_is_expense: true };
    const { preview } = (await say(books, { import_id: asked.import_id, mapping, answers, account: "Zorv bank" })).data;
    assertEquals([preview.account.name, preview.questions, preview.totals], ["Zorv bank", [], { EUR: "12.50" }]);
    assertEquals((await say(books, preview.commit_with)).data.created, 1);

    const next = await say(books, { csv: file("2026-09"), account: "zorv bank" });
    assertEquals([next.data.preview.questions, next.data.preview.totals], [[], { EUR: "12.50" }]);
    assertEquals(next.data.preview.mapping.assumed, [
      'As confirmed for this account and header line before: date "Zorv", name "Wex", amount "Blork" and ' +
      "negative_is_expense true. update_settings with forget_layouts forgets it.",
    ]);
    const uploaded = await upload(books, file("2026-09"), { account: "Zorv bank" });
    assertEquals([uploaded.questions, uploaded.totals], [[], { EUR: "12.50" }]);
    // Another account, another header line and another organization have learned nothing.
    assertEquals((await ask({ csv: file("2026-09"), account: "Card" })).problem.field, "mapping.date");
    const other = await ask({ csv: file("2026-09", "Zorv;Wex;Umpf;Bloss"), account: "Zorv bank" });
    assertEquals(other.problem.field, "mapping.date");
    const stranger = await openBooks(database, { day: "2026-10-06" });
    const theirs = await keep(stranger, file("2026-09"), { account: "Zorv bank" });
    assertEquals((await work(stranger, theirs.state.import_id)).problem.field, "mapping.date");

    const listed = (await books.ok("update_settings", { forget_layouts: [] })).layouts
      .filter(({ account }: Json) => account === "Zorv bank");
    assertEquals(listed.map(({ header }: Json) => header), ["zorv | wex | umpf | blork"]);
    const forget_layouts = [listed[0].id];
    assertEquals((await stranger.ok("update_settings", { forget_layouts: [] })).layouts, []);
    await stranger.fails("not_found", "update_settings", { forget_layouts });
    await (await books.join("viewer")).fails("forbidden_role", "update_settings", { forget_layouts });
    await books.ok("update_settings", { forget_layouts });
    await books.fails("not_found", "update_settings", { forget_layouts });
    assertEquals((await ask({ csv: file("2026-09"), account: "Zorv bank" })).problem.field, "mapping.date");
  },

  "a remembered answer never overrides proof in the file": async (books) => {
    const statement = (rows: string) => `Date,Description,Amount,Balance\n${rows}`;
    const args = { account: "Proof", answers: { negative_is_expense: false } };
    const first = await say(books, { csv: statement("2026-08-01,Shop,12.00,100\n2026-08-02,Tea,-3.00,1\n"), ...args });
    await say(books, first.data.preview.commit_with);
    const proven = statement("2026-09-01,Shop,-12.00,100\n2026-09-02,Tea,-3.00,97\n2026-09-03,Pay,9.00,106\n");
    const next = await say(books, { csv: proven, account: "Proof" });
    assertEquals([next.data.preview.questions, next.data.preview.totals], [[], { EUR: "15.00" }]);
  },

  "refuse answers to unasked questions and unknown lines": async (books) => {
    const { import_id } = await upload(books, CSV);
    for (
      const [args, message] of [
        [{ answers: { row_2: "same" } }, '"row_2" is not a question of this import.'],
        [{ answers: { everything: true } }, '"everything" is not a question of this import.'],
        [{ answers: { negative_is_expense: "perhaps" } }, '"negative_is_expense" can be answered with true, false.'],
        [{ skip_lines: [9] }, "Line 9 of the file is not a row of this import."],
        [{ corrections: [{ line: 1, amount: "2" }] }, "Line 1 of the file is not a row of this import."],
      ] as const
    ) assertEquals((await say(books, { import_id, ...args })).error.message, message);
    const unknown = await say(books, { import_id, rules: [{ payee: "Kiosk", category: "Grocries" }] });
    assertEquals([unknown.error.code, unknown.error.field], ["category_not_found", "rules[0].category"]);
  },

  "are repaired without the file: lines are skipped, corrected and categorized": async (books) => {
    const { import_id, commit_with } = await upload(books, CSV);
    const repaired = await say(books, {
      import_id,
      skip_lines: [3],
      corrections: [{ line: 4, amount: "5.25", category: "Health", name: "Pharmacy" }],
      rules: [{ payee: "Kiosk", category: "Shopping" }],
    });
    const { preview } = repaired.data;
    assertEquals([preview.rows_ok, preview.skipped_count, preview.totals], [2, 1, { EUR: "19.75" }]);
    assertEquals(preview.sample.map(({ name, category, category_source }: Json) => [name, category, category_source]), [
      ["Kiosk", "Shopping", "payee_rule"],
      ["Pharmacy", "Health", "given"],
    ]);
    // The earlier preview is outdated.
    assertEquals((await say(books, commit_with)).error.code, "expectation_mismatch");
    // A correction in the commit itself counts, but is lost when the confirmed numbers differ.
    const wrong = await say(books, { ...preview.commit_with, skip_lines: [] });
    assertEquals(wrong.error.details.commit_with, {
      import_id,
      expected_count: 3,
      expected_totals: { EUR: "39.75" },
      skip_lines: [],
    });
    const written = await say(books, wrong.error.details.commit_with);
    assertEquals(written.data, { created: 3, linked: 0, skipped: 0, totals: { EUR: "39.75" } });
    const rules = async () => (await books.ok("get_context", { include: ["payees"] })).payee_rules;
    assertEquals(await rules(), [{ payee: "Kiosk", category: "Shopping" }]);
    // One undo reverts everything.
    await books.ok("undo_change", { change_id: written.change_id });
    assertEquals(await rules(), []);
  },

  "an empty list of corrections changes nothing": async (books) => {
    const { import_id, commit_with } = await upload(books, CSV);
    assertEquals((await say(books, { import_id, corrections: [] })).data.preview.rows_ok, 3);
    assertEquals((await say(books, commit_with)).data.created, 3);
  },

  "an unreadable row can be corrected": async (books) => {
    const shown = await upload(books, "Date,Name,Amount\n2026-10-01,Kiosk,many\n2026-10-02,Taxi,20\n");
    assertEquals([shown.rows_ok, shown.rows_bad_count], [1, 1]);
    const more = await say(books, {
      import_id: shown.import_id,
      corrections: [{ line: 2, name: "Kiosk", amount: "14.50", date: "2026-10-01" }],
    });
    assertEquals([more.data.preview.rows_ok, more.data.preview.totals], [2, { EUR: "34.50" }]);
    const wrong = await say(books, { import_id: shown.import_id, corrections: [{ line: 3, amount: "0" }] });
    assertEquals([wrong.data.preview.rows_ok, wrong.data.preview.rows_bad[0].line], [1, 3]);
  },

  "keep the lines of a statement until they are undone": async (books, database) => {
    const account = "Visa 1234";
    const shown = await upload(books, CSV, { account });
    const skipping = await say(books, { import_id: shown.import_id, skip_lines: [4] });
    const written = await say(books, skipping.data.preview.commit_with);
    assertEquals(await linesOf(database, books), [
      ["Kiosk", 1, false, 1],
      ["Taxi", 1, false, 1],
      ["Tea house", 1, true, 0],
    ]);
    await books.ok("undo_change", { change_id: written.change_id });
    assertEquals(await linesOf(database, books), []);
    const again = await upload(books, CSV, { account });
    assertEquals((await say(books, again.commit_with)).data.created, 3);
    assertEquals((await linesOf(database, books)).length, 3);
    const { change_id } = (await database.query<Json>(
      "select id as change_id from app.change_sets where organization_id = $1 order by recorded_seq desc limit 1",
      [books.organizationId],
    ))[0]!;
    const undone = await books.call("undo_change", { change_id });
    const redone = await books.ok("undo_change", { change_id: undone.change_id });
    assertEquals(redone.not_reversible.map(({ what }: Json) => what), [
      `The statement of ${account} was not restored: import the file again before you reconcile`,
    ]);
    assertEquals([(await books.call("list_expenses")).total_count, await linesOf(database, books)], [3, []]);
  },

  "write an allowed duplicate without a second statement line": async (books, database) => {
    const account = "Visa 1234";
    const shown = await upload(books, CSV, { account });
    const skipping = await say(books, { import_id: shown.import_id, skip_lines: [4] });
    await say(books, skipping.data.preview.commit_with);
    const again = await upload(books, CSV, { account });
    assertEquals([again.rows_ok, again.duplicates.length], [0, 3]);
    const all = (await say(books, { import_id: again.import_id, on_duplicate: "allow", skip_lines: [2] })).data.preview;
    assertEquals(all.rows_ok, 2);
    const written = await say(books, { ...all.commit_with, on_duplicate: "allow" });
    assertEquals(written.data?.created, 2, JSON.stringify(written.error));
    assertEquals(await linesOf(database, books), [
      ["Kiosk", 1, false, 1],
      ["Taxi", 1, false, 2],
      ["Tea house", 1, false, 1],
    ]);
    const { bank_only, books_only, totals } = await books.ok("reconcile", { account });
    assertEquals([bank_only, books_only, totals.difference], [[], [], { EUR: "-20.00" }]);
    await books.ok("undo_change", { change_id: written.change_id });
    assertEquals((await books.call("list_expenses")).total_count, 2);
  },

  "give an account the currency of most of its lines": async (books) => {
    const account = "Cash";
    const csv = "Date,Name,Amount,Currency\n2026-10-01,Kiosk,14.50,USD\n2026-10-02,Taxi,20,GBP\n2026-10-03,Tea,4,USD\n";
    await say(books, (await upload(books, csv, { account })).commit_with);
    const charged = { amount: "9", currency: "USD" };
    await books.ok("log_expenses", {
      items: [{ name: "Pub", amount: "7", currency: "GBP", date: "2026-10-02", charged }],
    });
    const { books_only } = await books.ok("reconcile", { account });
    assertEquals(books_only.map(({ name, amount, currency }: Json) => [name, amount, currency]), [[
      "Pub",
      "9.00",
      "USD",
    ]]);
  },

  "keep only their result after the commit, and report an undo": async (books, database) => {
    const shown = await upload(books, CSV);
    const written = await say(books, shown.commit_with);
    assertEquals((await say(books, shown.commit_with)).replayed, true);
    const [batch] = await database.query<Json>(
      "select state, file, read, result from app.import_batches where id = $1",
      [
        shown.import_id,
      ],
    );
    assertEquals([batch!.state, batch!.file, batch!.read], ["committed", null, {}]);
    const rows = await database.query("select from app.import_rows where import_id = $1", [shown.import_id]);
    assertEquals(rows.length, 0);
    await books.ok("undo_change", { change_id: written.change_id });
    const { message } = await books.fails("not_found", "import_expenses", shown.commit_with);
    assertEquals(message, "This import was undone, and its file is gone.");
  },

  "match expenses written after the preview, even at the commit": async (books) => {
    const shown = await upload(books, CSV);
    const taxi = { items: [{ name: "Taxi", amount: "20", date: "2026-10-02" }] };
    const { results: [{ id }] } = await books.ok("log_expenses", taxi);
    assertEquals((await say(books, shown.commit_with)).error.details.commit_with.expected_count, 2);
    const known = (await say(books, { import_id: shown.import_id })).data.preview;
    assertEquals(known.duplicates.map(({ line, existing_id }: Json) => [line, existing_id]), [[3, id]]);
    // The deleted record is back, too.
    await books.ok("delete_records", { ids: [id] });
    assertEquals((await say(books, { import_id: shown.import_id })).data.preview.rows_ok, 3);
  },

  "keep a member's twenty newest links": async (books, database) => {
    const first = await start(books);
    for (let i = 0; i < 20; i++) await start(books);
    await books.fails("not_found", "import_expenses", { import_id: first.import_id });
    const [kept] = await database.query<Json>(
      "select count(*)::int as count from app.import_batches where organization_id = $1 and state = 'waiting'",
      [books.organizationId],
    );
    assertEquals(kept!.count, 20);
  },

  "an assumed currency is reported unless the file name or an earlier statement names it": async (
    books,
  ) => {
    const read = async (args: Json, csv = CSV) => {
      const preview = await upload(books, csv, args);
      const isAssumed = JSON.stringify(preview.mapping.assumed).includes("was assumed");
      return { preview, says: [isAssumed, Object.keys(preview.commit_with.expected_totals ?? {})] };
    };
    assertEquals((await read({ account: "Purse" })).says, [true, ["EUR"]]);
    assertEquals((await read({ account: "Purse" }, "Date,Name,Amount (USD)\n2026-10-01,Kiosk,14.50\n")).says, [
      false,
      ["USD"],
    ]);
    const named = await read({ account: "Krona", name: "statement_SEK.csv" });
    assertEquals(named.says, [false, ["SEK"]]);
    assertEquals((await say(books, named.preview.commit_with)).ok, true);
    const next = "Date,Name,Amount\n2026-10-05,Bakery,30\n";
    assertEquals((await read({ account: "Krona" }, next)).says, [false, ["SEK"]]);
    assertEquals((await read({ account: "Purse" }, next)).says, [true, ["EUR"]]);
  },

  "a language of another currency is a question, once per account": async (books) => {
    const text = (day: string) => `Data;Kwota;Opis\n2026-10-${day};-12,50;Kiosk\n2026-10-${day};-3,10;Tramwaj\n`;
    const mapping = { negative_is_expense: true };
    const preview = await upload(books, text("01"), { account: "Konto", mapping });
    assertEquals(preview.questions.map(({ id, message, options }: Json) => [id, message, options]), [
      ["default_currency", "No currency is named, and the file looks like one in PLN: is it that, or EUR?", [
        "PLN",
        "EUR",
      ]],
    ]);
    assertEquals((await say(books, preview.commit_with)).error.code, "needs_answer");
    const { import_id } = preview;
    const wrong = await say(books, { import_id, answers: { default_currency: "SEK" } });
    assertEquals([wrong.error.code, wrong.error.field], ["invalid_argument", "answers"]);
    const answered = (await say(books, { import_id, answers: { default_currency: "PLN" } })).data.preview;
    assertEquals([answered.questions, answered.totals, answered.mapping.assumed], [[], { PLN: "15.60" }, []]);
    assertEquals((await say(books, answered.commit_with)).ok, true);
    const next = await upload(books, text("05"), { account: "Konto" });
    assertEquals([next.questions, next.totals], [[], { PLN: "15.60" }]);
    const said = {
      csv: text("02").replace("12,50", "77,70").replace("3,10", "9,10"),
      mapping,
      answers: { default_currency: "PLN" },
    };
    assertEquals((await say(books, said)).data.preview.totals, { PLN: "86.80" });
    // A bank's country is better evidence than its language.
    const english = "IBAN: CH9300762011623852957\n\nDate,Description,Amount\n2026-10-01,Shop,-1.00\n";
    assertEquals((await upload(books, english, { mapping })).questions[0].options, ["CHF", "EUR"]);
  },

  "the account's currency decides whether three digits are decimals": async (books) => {
    const text = (day: string) => `Date,Name,Amount\n2026-10-${day},Tea,"1,500"\n`;
    assertEquals((await upload(books, text("01"))).questions[0].id, "decimal");
    const yen = { account: "Card", default_currency: "JPY" };
    const answered = (await say(books, { csv: text("01"), ...yen })).data.preview;
    assertEquals([answered.questions, answered.totals], [[], { JPY: "1500" }]);
    assertEquals((await say(books, answered.commit_with)).ok, true);
    const next = await upload(books, text("02"), { account: "Card" });
    assertEquals([next.questions, next.totals], [[], { JPY: "1500" }]);
  },

  "a text that begins with a known payee's name gets that payee's category": async (books) => {
    const item = { amount: "90", date: "2026-09-01" };
    await books.ok("log_expenses", {
      items: [{ ...item, name: "Dinner", payee: "Nobu", category: "Dining" }, {
        ...item,
        name: "Abc",
        category: "Travel",
      }],
      create_missing_categories: true,
    });
    const csv = "Date,Name,Amount\n2026-10-01,NOBU BERLIN,88\n2026-10-02,NOBUKO TOKYO,7\n2026-10-03,ABC DEF,6\n";
    const { commit_with } = await upload(books, csv);
    assertEquals((await say(books, commit_with)).ok, true);
    const { rows } = await books.ok("list_expenses", { from: "2026-10-01" });
    const known = (rows as Json[]).filter(({ category }) => ["Dining", "Travel"].includes(category));
    assertEquals(known.map(({ name, category }) => [name, category]), [["NOBU BERLIN", "Dining"]]);
  },

  "the bank's own words and generic names set no category": async (books) => {
    const item = { amount: "90", date: "2026-09-01" };
    await books.ok("log_expenses", {
      items: [{ ...item, name: "Leeks", payee: "Market", category: "Groceries" }, {
        ...item,
        name: "VISA Debitkartenumsatz",
        category: "Travel",
      }],
    });
    const lines = [
      "Market Hall",
      "MARKET",
      "VISA Debitkartenumsatz vom 12.10.",
      "VISA Debitkartenumsatz",
      "MOBILE PAYMENT 1234",
      "Bank card payment LIDL 12/10",
      "Card not present",
    ];
    const csv = `Date,Name,Amount\n${lines.map((name, i) => `2026-10-0${i + 1},${name},${i + 1}`).join("\n")}\n`;
    const { commit_with } = await upload(books, csv);
    assertEquals((await say(books, commit_with)).ok, true);
    const { rows } = await books.ok("list_expenses", { from: "2026-10-01", order: "asc" });
    assertEquals((rows as Json[]).map(({ name, category }) => [name, category]), [
      ["Market Hall", "Uncategorized"],
      ["MARKET", "Groceries"],
      ["VISA Debitkartenumsatz vom 12.10.", "Uncategorized"],
      ["VISA Debitkartenumsatz", "Uncategorized"],
      ["MOBILE PAYMENT 1234", "Uncategorized"],
      ["Bank card payment LIDL 12/10", "Groceries"],
      ["Card not present", "Uncategorized"],
    ]);
  },

  "an account is found by its number, whatever its name": async (books, database) => {
    const read = (account: Json) => ({
      ...{ step: "all", file: "a", row_count: 1, through: 2, rows_bad: [], left_out_rows: [] },
      rows: [{ line: 2, name: "Tea", amount: "1", date: "2026-10-01", currency: "EUR" }],
      read: { mapping: { assumed: [] }, questions: [], left_out: [], account },
    });
    const named = async (account: Json, more: Json = {}) =>
      (await books.ok("import_expenses", { ...read(account), ...more })).preview.account?.name;
    assertEquals(await named({ number: "DE02 1234", name: "N26" }), "N26 …1234");
    assertEquals(await named({ number: "de021234", name: "N26" }), "N26 …1234");
    assertEquals(await named({ number: "DE99 1234", name: "N26" }), "N26 …1234 (2)");
    // The file's format already ends the account's name with the last digits of its number.
    assertEquals(await named({ number: "DE02 7890", name: "Girokonto 7890" }), "Girokonto 7890");
    assertEquals(await named({ number: "DE03 78ab", name: "Girokonto 78ab" }), "Girokonto 78ab");
    assertEquals(await named({ number: "12345678", name: "…5678" }), "…5678");
    assertEquals(await named({}), undefined);
    assertEquals(await named({}, { account: "Purse" }), "Purse");
    // Once a file gives the number, it identifies the account of the next file.
    assertEquals(await named({ number: "7777" }, { account: "Purse" }), "Purse");
    assertEquals(await named({ number: "7777" }), "Purse");
    const stranger = await openBooks(database, { day: "2026-10-06" });
    const theirs = (await stranger.ok("import_expenses", read({ number: "7777", name: "Bank" }))).preview.account;
    assertEquals(theirs.name, "Bank …7777");
    await books.fails("not_found", "import_expenses", { ...read({}), account: theirs.id });
    const [{ keys }] = await database.query<Json>("select jsonb_agg(key) as keys from app.accounts");
    assertEquals(keys.filter((key: string) => !/^[0-9a-f]{64}$/.test(key)), [], "an account's number is kept");
  },
});
