/** Importing, from a file's text to the books: previews write nothing, and a commit writes once, as one change. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { presentError } from "../../functions/mcp/present/error.ts";
import { importExpenses } from "../../functions/mcp/tools/import_expenses/contract.ts";
import { en } from "../../shared/words/en/mod.ts";
import { testBooks } from "../_support/book_steps.ts";
import { addRate, type Books, type Json } from "../_support/books.ts";

/** Lets the contract parse the file and then makes one call, as the connector does. */
async function send(books: Books, args: Record<string, unknown>): Promise<Json> {
  const parsed = importExpenses.parse(args);
  return parsed.ok
    ? await books.call("import_expenses", parsed.value)
    : { ok: false, error: presentError(parsed.error, en) };
}

/** A list of expenses, in which a minus is a refund. */
async function preview(books: Books, csv: string, more: Record<string, unknown> = {}): Promise<Json> {
  const result = await send(books, { csv, mapping: { negative_is_expense: false }, ...more });
  assertEquals(result.ok, true, JSON.stringify(result.error));
  return result.data.preview;
}

const commit = (books: Books, { commit_with }: Json, more: Record<string, unknown> = {}) =>
  send(books, { ...commit_with, ...more });
const count = async (books: Books) => (await books.call("list_expenses")).total_count;

const THREE =
  "Date,Name,Amount,Category\n2026-10-01,Lunch,14.50,Food\n2026-10-02,Taxi,20,\n2026-10-03,Lunch back,-4.50,Food\n";
const manyRows = (n: number) =>
  Array.from(
    { length: n },
    (_, i) => `2026-0${1 + i % 9}-${String(1 + i % 28).padStart(2, "0")},Item ${i},${1 + i % 50}.25`,
  );

testBooks("import_expenses", { day: "2026-10-06" }, {
  "the shop's name sets the category, not the card scheme's": async (books) => {
    const shown = await preview(books, "Date,Name,Amount\n2026-10-01,VISA REWE,-5\n2026-10-02,VISA FRESSNAPF,-6\n");
    assertEquals(shown.sample.map(({ category }: Json) => category), ["Groceries", "Uncategorized"]);
  },
  "a file's original-amount columns give the price, and its account amount gives the value": async (
    books,
  ) => {
    const csv = "Datum;Name;Betrag (EUR);Originalbetrag;Originalwährung\n" +
      "01.10.2026;ChatGPT;-17,94;-20,00;USD\n" +
      "02.10.2026;Coffee;-3,50;-3,50;EUR\n" +
      "03.10.2026;Taxi;-12,10;;\n" +
      "04.10.2026;Odd;-5,00;0,00;USD\n";
    const shown = await preview(books, csv);
    assertEquals([shown.rows_ok, shown.mapping.original_amount, shown.mapping.ignored], [4, "Originalbetrag", []]);
    await commit(books, shown);
    const { rows } = await books.ok("list_expenses", { order: "asc" });
    assertEquals(
      rows.map(({ amount, currency, charged, base_amount }: Json) => [amount, currency, charged, base_amount]),
      [
        ["20.00", "USD", { amount: "17.94", currency: "EUR" }, "17.94"],
        ["3.50", "EUR", undefined, "3.50"],
        ["12.10", "EUR", undefined, "12.10"],
        ["5.00", "EUR", undefined, "5.00"],
      ],
    );
    // The import recognizes an expense that was spoken earlier.
    assertEquals((await preview(books, csv)).duplicates.length, 4);
  },
  "a price in the base currency keeps its value on an account in another currency": async (books) => {
    const shown = await preview(
      books,
      "Date,Name,Amount,Currency,Original amount,Original currency\n2026-10-01,Hotel,-110.00,USD,-100.00,EUR\n" +
        "2026-10-02,Taxi,-20.00,USD,-20.00,USD\n",
    );
    await commit(books, shown);
    const { rows: [, hotel] } = await books.ok("list_expenses");
    assertEquals([hotel.amount, hotel.currency, hotel.charged, hotel.base_amount], [
      "100.00",
      "EUR",
      undefined,
      "100.00",
    ]);
  },
  "a refund and an expense of the same amount are not duplicates": async (books) => {
    const header = "Date,Name,Amount\n";
    const rows = { expense: "2026-10-01,Lunch,10.00\n", refund: "2026-10-01,Lunch,-10.00\n" };
    // The sign would be ambiguous in a file with one row.
    const others = "2026-10-02,Taxi,20\n2026-10-03,Tea,3\n";
    for (const [kept, read, day] of [["expense", "refund", "10-01"], ["refund", "expense", "09-20"]] as const) {
      const row = (which: "expense" | "refund") => rows[which].replace("2026-10-01", `2026-${day}`);
      await books.ok("log_expenses", {
        items: [{ name: "Lunch", amount: "10.00", date: `2026-${day}`, is_refund: kept === "refund" }],
      });
      const fresh = await preview(books, header + row(read) + others);
      assertEquals(fresh.duplicates, [], `a ${read} with a ${kept} in the books`);
      // Test of the test: actual repeats are found.
      const repeated = await preview(books, header + row(kept) + others);
      assertEquals(repeated.duplicates.map(({ line }: Json) => line), [2], `a ${kept} with itself in the books`);
    }
  },
  "commits nothing while a question is open, not even with the right totals": async (books) => {
    const csv = "Date,Description,Amount\n2026-10-01,Shop,-12.00\n2026-10-02,Work,2000.00\n";
    const shown = await preview(books, csv, { mapping: {} });
    assertEquals(shown.questions.map(({ id, options }: Json) => [id, options]), [["negative_is_expense", [
      true,
      false,
    ]]]);
    for (const repeat of [1, 2]) {
      const { error } = await commit(books, shown);
      assertEquals(
        [error.code, error.field, error.details.questions.length],
        ["needs_answer", "answers", 1],
        `${repeat}`,
      );
    }
    assertEquals(await count(books), 0);
    const answered = await preview(books, csv, { mapping: { negative_is_expense: true } });
    assertEquals([answered.questions, answered.totals], [[], { EUR: "12.00" }]);
    assertEquals(answered.left_out, [
      {
        kind: "income",
        message: "1 incoming payment (recorded as income, not as spending)",
        count: 1,
        totals: { EUR: "2000.00" },
        lines: [3],
      },
    ]);
    assertEquals((await commit(books, answered)).data.created, 1);
  },

  "totals skipped rows by currency, with the base currency as default": async (books) => {
    const csv = "Date,Description,Paid out,Paid in\n2026-10-01,Shop,12.00,\n2026-10-02,Salary,,2000.00\n" +
      "2026-10-02,Salary,,EUR 0.50\n2026-10-02,Salary,,$ 7\n";
    const { left_out, questions } = await preview(books, csv, { mapping: {} });
    assertEquals(questions, []);
    assertEquals(left_out, [{
      kind: "income",
      message: "3 incoming payments (recorded as income, not as spending)",
      count: 3,
      totals: { EUR: "2000.50", USD: "7.00" },
      lines: [3, 4, 5],
    }]);
  },

  "keeps the income and the balance of a statement without spending": async (books) => {
    const csv = "Date,Description,Paid out,Paid in,Balance\n2026-09-01,Salary,,2000.00,2500.00\n" +
      "2026-09-28,Salary,,2100.00,4600.00\n";
    const shown = await preview(books, csv, { mapping: {}, account: "Giro" });
    assertEquals([shown.rows_ok, shown.left_out[0].count], [0, 2]);
    const committed = await commit(books, shown);
    assertEquals(committed.data.created, 0, JSON.stringify(committed));
    const { rows } = await books.ok("list_expenses", { kind: "income" });
    assertEquals(rows.map(({ amount }: Json) => amount), ["2100.00", "2000.00"]);
    const { accounts } = await books.ok("get_context", { include: ["balances"] });
    assertEquals(accounts.map(({ amount, on }: Json) => [amount, on]), [["4600.00", "2026-09-28"]]);
    const again = await preview(books, csv, { mapping: {}, account: "Giro" });
    assertEquals((await commit(books, again)).ok, true);
    assertEquals((await books.ok("list_expenses", { kind: "income" })).rows.length, 2);
  },

  "keeps a refund of taxes as income, and a shop's refund as one": async (books) => {
    const csv =
      "Date,Payee,Description,Paid out,Paid in\n2026-08-20,Finanzamt Lindau,Erstattung Einkommensteuer 2025,,743.18\n" +
      "2026-08-21,Shop,Erstattung Schuhe,,40.00\n2026-08-22,Shop,Mantel,90.00,\n";
    const { rows, left_out } = await preview(books, csv, { mapping: {}, account: "Giro" });
    assertEquals(Object.fromEntries(rows.map(({ line, as }: Json) => [line, as])), { 2: "income", 3: "new", 4: "new" });
    assertEquals(left_out[0].totals, { EUR: "743.18" });
  },

  "finds the income of a statement by its words and by its employer": async (books) => {
    const csv =
      "Date,Payee,Description,Paid out,Paid in\n2026-08-31,Kraft Logistik,Salary Ben Weber 08/2026,,2180.00\n" +
      "2026-09-30,Kraft Logistik,Salary Ben Weber 09/2026,,2180.00\n2026-09-28,Clinic,Salary Anna Weber 09/2026,,2450.00\n";
    await commit(books, await preview(books, csv, { mapping: {}, account: "Giro" }));
    const days = async (more: Json) =>
      (await books.ok("list_expenses", { kind: "income", ...more })).rows.map(({ date }: Json) => date);
    const ben = ["2026-09-30", "2026-08-31"];
    assertEquals(await days({ query: "ben salary" }), ben);
    assertEquals(await days({ query: "kraft" }), ben);
    assertEquals(await days({ payee: "Kraft Logistik" }), ben);
    assertEquals(await days({ query: "gym" }), []);
    const { rows } = await books.ok("summarize_spending", {
      ...{ kind: "income", group_by: ["payee"], from: "2026-08-01", to: "2026-09-30" },
    });
    assertEquals(rows.map(({ amount, count }: Json) => [amount, count]), [["4360.00", 2], ["2450.00", 1]]);
  },

  "previews every write and writes nothing": async (books, database) => {
    const shown = await preview(books, THREE);
    assertEquals([shown.rows_ok, shown.rows_bad, shown.duplicates, shown.totals], [3, [], [], { EUR: "30.00" }]);
    assertMatch(shown.import_id, /^imp_/);
    assertEquals(shown.sample[0], {
      line: 2,
      date: "2026-10-01",
      name: "Lunch",
      amount: "14.50",
      currency: "EUR",
      category: "Food",
      category_source: "given",
    });
    assertEquals([shown.questions, shown.left_out], [[], []]);
    assertEquals([shown.sample[1].category, shown.sample[2].is_refund], ["Transport", true]);
    assertEquals(shown.commit_with, {
      import_id: shown.import_id,
      expected_count: 3,
      expected_totals: { EUR: "30.00" },
    });
    assertEquals(await count(books), 0);
    const [{ changes }] = await database.query<Json>(
      "select count(*)::int as changes from app.change_sets where organization_id = $1",
      [books.organizationId],
    );
    assertEquals(changes, 0);
  },

  "writes all rows as one change, which one undo reverts": async (books) => {
    const written = await commit(books, await preview(books, THREE));
    assertEquals([written.ok, written.data], [true, { created: 3, linked: 0, skipped: 0, totals: { EUR: "30.00" } }]);
    const listed = await books.call("list_expenses", { order: "asc" });
    assertEquals(listed.totals_by_currency, { EUR: "30.00" });
    assertEquals(listed.data.rows.map(({ name, kind, category }: Json) => [name, kind, category]), [
      ["Lunch", "one_off", "Food"],
      ["Taxi", "one_off", "Transport"],
      ["Lunch back", "refund", "Food"],
    ]);
    const { recent_changes } = await books.ok("get_context", { include: ["recent_changes"] });
    assertEquals(recent_changes[0].summary, "Imported 3 expenses: Lunch, Taxi and Lunch back");
    await books.ok("undo_change", { change_id: written.change_id });
    assertEquals(await count(books), 0);
  },

  "returns the first result for a repeated commit and writes nothing twice": async (books) => {
    const shown = await preview(books, THREE);
    const first = await commit(books, shown);
    const again = await commit(books, shown);
    assertEquals([again.ok, again.data, again.change_id, again.replayed], [true, first.data, first.change_id, true]);
    assertEquals(await count(books), 3);
    // After an undo, the client must send the file again, because the database did not keep it.
    await books.ok("undo_change");
    assertEquals((await commit(books, shown)).error.code, "not_found");
    assertEquals((await commit(books, await preview(books, THREE))).data.created, 3);
    assertEquals(await count(books), 3);
  },

  "lists duplicates of the books, and skips or allows them": async (books) => {
    await books.ok("log_expenses", { items: [{ name: "lunch", amount: "14.50", date: "2026-10-01" }] });
    const twice = "Date,Name,Amount\n2026-10-01,Lunch,14.50\n2026-10-01,Lunch,14.50\n2026-10-02,Taxi,20\n";
    const shown = await preview(books, twice);
    // Two equal lines are two lunches, one of which is already in the books.
    assertEquals([shown.rows_ok, shown.totals], [2, { EUR: "34.50" }]);
    assertEquals(shown.duplicates.map(({ line, name, amount }: Json) => [line, name, amount]), [[2, "Lunch", "14.50"]]);
    assertMatch(shown.duplicates[0].existing_id, /^exp_/);
    const refused = await commit(books, shown, { on_duplicate: "allow" });
    assertEquals([refused.error.code, refused.error.details.commit_with.expected_count], ["expectation_mismatch", 3]);
    assertEquals((await commit(books, shown)).data, { created: 2, linked: 0, skipped: 1, totals: { EUR: "34.50" } });
    const all = await preview(books, twice, { on_duplicate: "allow" });
    assertEquals([all.rows_ok, all.duplicates.length], [3, 3]);
    assertEquals((await commit(books, all, { on_duplicate: "allow" })).data.created, 3);
    assertEquals(await count(books), 6);
  },

  "writes nothing unless count and totals match those shown": async (books) => {
    const shown = await preview(books, THREE);
    for (
      const wrong of [{ expected_count: 2 }, { expected_totals: { EUR: "30.01" } }, { expected_totals: {} }, {
        expected_totals: { EUR: "30.00", USD: "1.00" },
      }, { expected_totals: { EUR: "thirty" } }]
    ) {
      const { error } = await commit(books, shown, wrong);
      assertEquals([error.code, error.field], ["expectation_mismatch", Object.keys(wrong)[0]]);
      assertEquals(
        error.message,
        "This would write 3 expenses, 30.00 EUR, and skip 0 that are already in the books. Nothing was written.",
      );
      assertEquals(error.details.commit_with, shown.commit_with);
    }
    assertEquals(await count(books), 0);
    assertEquals((await commit(books, shown, { expected_totals: { EUR: "30" } })).ok, true);
    // Expenses logged after the preview are not written again.
    const other = await preview(books, "Date,Name,Amount\n2026-10-04,Tea,2\n2026-10-04,Bun,3");
    await books.ok("log_expenses", { items: [{ name: "Tea", amount: "2", date: "2026-10-04" }] });
    assertEquals((await commit(books, other)).error.details.commit_with.expected_count, 1);
  },

  "names and counts rows that are cash or payments to a member": async (books, database) => {
    const named = async (csv: string, more: Json = {}) => {
      const mapping = { negative_is_expense: true };
      const { data, warnings } = await send(books, { csv, mapping, account: "Bank", ...more });
      return [data.preview.rows_ok, ...warnings.map(({ message }: Json) => message)];
    };
    const ben = await books.join();
    const clara = await books.join();
    for (const [{ userId }, email] of [[ben, "ben@home.example"], [clara, "clara.m.kowalska@home.example"]] as const) {
      await database.query("update identity.profiles set email = $2 where user_id = $1", [userId, email]);
    }
    const csv = "Date,Name,Amount\n2026-10-01,GA NR 4711 BARGELDAUSZAHLUNG,-100\n2026-10-02,Ben Brandt,-40\n" +
      "2026-10-03,Ben & Jerrys Store,-6\n2026-10-03,Geldautomat Gebühr,-2\n2026-10-04,ATM Withdrawal,-50\n" +
      "2026-10-04,Kowalska Clara Maria,-12.50\n2026-10-05,OTTO,-30\n2026-10-05,Kowalska Bakery,-3\n";
    assertEquals(await named(csv), [
      8,
      "2 rows are cash from a machine, 150.00 EUR (lines 2, 6), and counted as spending. Ask the person whether they " +
      "also log their purchases in cash. If so, leave these rows out with skip_lines.",
      'Line 3, "Ben Brandt", 40.00 EUR, may be for ben@home.example. Line 7, "Kowalska Clara Maria", 12.50 EUR, may be ' +
      "for clara.m.kowalska@home.example. Such rows count as spending. Ask the user; money that only settles shared " +
      "costs belongs in settle_up: leave it out with skip_lines.",
    ]);
    assertEquals(await named(csv, { skip_lines: [2, 3, 6, 7] }), [4]);
    const many = Array.from({ length: 12 }, (_, n) => `2026-09-${n + 10},Ben Brandt,-${n + 1}\n`).join("");
    assertMatch((await named(`Date,Name,Amount\n${many}`))[1], /ben@home\.example\. 2 more rows like these\. Such/);
  },

  "names each row that cannot be imported": async (books) => {
    const shown = await preview(
      books,
      "Date,Name,Amount,Currency\n2026-10-01,Ok,5,\n2027-01-01,Later,5,\n2011-01-01,Old,5,\n2026-10-01,Yen,5.5,JPY\n2026-10-01,None,5,XXQ\n2026-02-30,Day,5,\n2026-10-01,Zero,0,\n2026-10-01,,3,\n2026-10-01,Word,many,\n",
    );
    assertEquals([shown.rows_ok, shown.rows_bad_count], [2, 7]);
    assertEquals(shown.rows_bad.map(({ line, reason }: Json) => `${line}: ${reason}`), [
      "3: 2027-01-01 is more than a day ahead: only past payments can be logged.",
      "4: 2011-01-01 is more than 10 years ago.",
      "5: 5.5 has too many decimals: JPY has none.",
      '6: "XXQ" is not a currency in use.',
      '7: "2026-02-30" is not a date in the format YYYY-MM-DD.',
      "8: The amount is zero.",
      '10: "many" is not an amount with a decimal point.',
    ]);
    const { error } = await send(books, { csv: "Date,Name,Amount\n2030-01-01,Later,5" });
    assertEquals([error.code, error.field], ["invalid_argument", "csv"]);
    assertMatch(error.message, /No row of this file can be imported\. Line 2: 2030-01-01 is more than a day ahead/);
  },

  "asks before it creates categories": async (books) => {
    const shown = await preview(
      books,
      "Date,Name,Amount,Category\n2026-10-01,A,5,Grocries\n2026-10-02,B,5,Hobby\n2026-10-03,C,5,hobby",
    );
    assertEquals(shown.unknown_categories.map(({ name, rows }: Json) => [name, rows]), [["Hobby", 2], ["Grocries", 1]]);
    assert(shown.unknown_categories[1].suggestions.includes("Groceries"));
    const { error } = await commit(books, shown);
    assertEquals([error.code, error.field], ["category_not_found", "create_missing_categories"]);
    assertEquals(await count(books), 0);
    const written = await commit(books, shown, { create_missing_categories: true });
    assertEquals(written.data.created, 3);
    await books.ok("undo_change");
    const { categories } = await books.ok("get_context", { include: ["categories"] });
    assertEquals(categories.some(({ name }: Json) => name === "Hobby"), false);
  },

  "names the first 20 unknown categories and suggests matches for 10": async (books) => {
    const rows = Array.from({ length: 30 }, (_, i) => `2026-10-01,A,${i + 1},Of its own ${i}`);
    const shown = await preview(
      books,
      ["Date,Name,Amount,Category", "2026-10-01,B,5,Of its own 29", ...rows].join("\n"),
    );
    assertEquals([shown.unknown_categories.length, shown.unknown_categories_count], [20, 30]);
    assertEquals([shown.unknown_categories[0].name, shown.unknown_categories[0].rows], ["Of its own 29", 2]);
    assertEquals(shown.unknown_categories.filter(({ suggestions }: Json) => suggestions).length, 10);
    const { error } = await commit(books, shown);
    assertEquals([error.details.unknown_categories.length, error.details.unknown_categories_count], [20, 30]);
    const all = { create_missing_categories: true };
    const wrong = { commit_with: { ...shown.commit_with, expected_count: 2 ** 40 } };
    assertEquals((await commit(books, wrong, all)).error.code, "expectation_mismatch");
    assertEquals((await commit(books, shown, all)).data.created, 31);
  },

  "resolves ambiguous currency symbols, and uses the day's rates": async (books, database) => {
    await addRate(database, "USD", "2026-10-01", "1.25");
    const shown = await preview(books, "Date,Name,Amount\n2026-10-01,A,$10\n2026-10-01,B,€2\n", {});
    assertEquals(shown.totals, { USD: "10.00", EUR: "2.00" });
    assertEquals((await preview(books, "Date,Name,Amount\n2026-10-01,A,$10", { default_currency: "CAD" })).totals, {
      CAD: "10.00",
    });
    await commit(books, shown);
    const { rows } = await books.ok("list_expenses", { query: "A" });
    assertEquals(rows[0].base_amount, "8.00");
  },

  "accepts a commit from the person who saw the preview, for a day": async (books) => {
    const shown = await preview(books, THREE);
    const member = await books.join();
    assertEquals((await commit(member, shown)).error.code, "not_found");
    books.goTo("2026-10-08");
    const { error } = await commit(books, shown);
    assertEquals([error.code, error.hint], [
      "not_found",
      "Call without arguments to get a new upload link, or with csv.",
    ]);
  },

  "imports 2,000 rows and undoes them": async (books) => {
    // A tenth of the rows in memory, which takes as long.
    const rows = Deno.env.get("TEST_DATABASE_URL") ? 2000 : 200;
    const done = async (work: Promise<Json>): Promise<Json> => {
      const result = await work;
      assertEquals(result.ok, true, JSON.stringify(result.error));
      return result;
    };
    const shown = await done(send(books, { csv: ["Date,Name,Amount", ...manyRows(rows)].join("\n") }));
    assertEquals(shown.data.preview.rows_ok, rows);
    const written = await done(commit(books, shown.data.preview));
    assertEquals(written.data.created, rows);
    await done(books.call("undo_change", { change_id: written.change_id }));
    assertEquals(await count(books), 0);
    const { error } = await send(books, { csv: ["Date,Name,Amount", ...manyRows(2001)].join("\n") });
    assertEquals([error.field, error.message], [
      "csv",
      "The file has more than 2000 rows, the maximum for an import.",
    ]);
  },

  "imports an export of list_expenses": async (books) => {
    await books.ok("log_expenses", {
      items: [
        {
          name: "=Sum, of",
          amount: "3.00",
          date: "2026-10-01",
          payee: 'Bob "B"',
          category: "Food",
          note: "two\nlines",
        },
        { name: "Back", amount: "1.00", date: "2026-10-02", is_refund: true },
      ],
    });
    const { csv } = await books.ok("list_expenses", { format: "csv" });
    const shown = await preview(books, csv);
    assertEquals([shown.rows_ok, shown.duplicates.length], [0, 2]);
  },
});

if (Deno.env.get("TEST_DATABASE_URL")) {
  testBooks("parallel imports", { day: "2026-10-06" }, {
    "of one preview write once": async (books) => {
      const shown = await preview(books, THREE);
      const answers = await Promise.all(Array.from({ length: 6 }, () => commit(books, shown)));
      assertEquals(answers.filter(({ ok }) => ok).length, 6);
      assertEquals(answers.filter(({ replayed }) => !replayed).length, 1);
      assertEquals(new Set(answers.map(({ change_id }) => change_id)).size, 1);
      assertEquals(await count(books), 3);
    },

    "of one file, each with its own preview, write once": async (books) => {
      const previews = await Promise.all(Array.from({ length: 4 }, () => preview(books, THREE)));
      const answers = await Promise.all(previews.map((shown) => commit(books, shown)));
      assertEquals(answers.map(({ ok, error }) => ok ? "ok" : error.code).toSorted(), [
        "expectation_mismatch",
        "expectation_mismatch",
        "expectation_mismatch",
        "ok",
      ]);
      assertEquals(await count(books), 3);
    },
  });
}
