import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { listExpenses } from "../../functions/mcp/tools/list_expenses/contract.ts";
import { type ReadImport, readImport } from "../../shared/import/read_import.ts";
import { testBooks } from "../_support/book_steps.ts";
import { addRate, type Books, type Json } from "../_support/books.ts";

const TODAY = "2026-10-06";

const log = (books: Books, ...items: Json[]) => books.ok("log_expenses", { items, on_duplicate: "allow" });
const names = async (books: Books, filter: Json) =>
  (await books.ok("list_expenses", filter)).rows.map(({ name }: Json) => name);

testBooks("list_expenses", { day: TODAY }, {
  "finds a word in other languages, and names the records that a word or category misses": async (books) => {
    const insurance = { category: "Insurance" };
    await log(
      books,
      { name: "Haftpflichtversicherung", amount: "5" },
      { name: "Car insurance", amount: "40", ...insurance },
      { name: "Allianz", amount: "60", ...insurance },
      { name: "Pago seguro", amount: "7" },
    );
    const told = async (tool: string, args: Json) => {
      const { data, warnings, totals_by_currency } = await books.call(tool, args);
      return [totals_by_currency?.EUR ?? data.total?.amount, ...warnings.map(({ message }: Json) => message)];
    };
    const missed =
      'Not included: 1 payment of the category Insurance without the word, 60.00 EUR (Allianz). categories ["Insurance"] finds it.';
    assertEquals(await told("list_expenses", { query: "insurance" }), ["45.00", missed]);
    assertEquals(await told("list_expenses", { query: "Versicherungen" }), ["45.00", missed]);
    assertEquals(await told("summarize_spending", { query: "insurance" }), ["45.00", missed]);
    const uncategorized =
      "Not included: 2 payments without a category, 12.00 EUR (Pago seguro and Haftpflichtversicherung). If some belong here, update_expenses sets their category.";
    assertEquals(await told("list_expenses", { categories: ["Insurance"] }), ["100.00", uncategorized]);
    assertEquals(await told("summarize_spending", { categories: ["insurance"] }), ["100.00", uncategorized]);
    assertEquals(await told("list_expenses", { categories: ["Insurance", "Uncategorized"] }), ["112.00"]);
    assertEquals(await told("list_expenses", { categories: ["Insurance"], to: "2026-10-05" }), [undefined]);
    // A change by a filter uses the words unchanged.
    const { preview } = await books.ok("delete_records", { filter: { query: "insurance" }, dry_run: true });
    assertEquals(preview?.count ?? 1, 1);
  },
  "shows payments and refunds, latest first, in the order of logging within a day": async (
    books,
    database,
  ) => {
    await addRate(database, "USD", "2026-10-05", "1.25");
    const { results } = await log(books, {
      name: "Lunch",
      payee: "Cafe",
      amount: "14.50",
      tags: ["a"],
      note: "With Eva",
    }, {
      name: "Shoes",
      amount: "20",
      currency: "USD",
      is_refund: true,
    }, { name: "Old", amount: "1", date: "2026-01-31" });
    const { bill } = await books.ok("add_bill", {
      name: "Rent",
      amount: "1200",
      first_due: "today",
      category: "Housing",
    });
    const { payment } = await books.ok("mark_bill_paid", { bill_id: bill.id, note: "By transfer" });
    const result = await books.call("list_expenses");
    assertEquals(result.data.rows, [
      {
        id: payment.id,
        kind: "bill_payment",
        date: TODAY,
        name: "Rent",
        category: "Housing",
        note: "By transfer",
        amount: "1200.00",
        currency: "EUR",
        base_amount: "1200.00",
        bill_id: bill.id,
        version: 1,
      },
      {
        id: results[1].id,
        kind: "refund",
        date: TODAY,
        name: "Shoes",
        category: "Shopping",
        amount: "20.00",
        currency: "USD",
        base_amount: "16.00",
        version: 1,
      },
      {
        id: results[0].id,
        kind: "one_off",
        date: TODAY,
        name: "Lunch",
        payee: "Cafe",
        category: "Food",
        tags: ["a"],
        note: "With Eva",
        amount: "14.50",
        currency: "EUR",
        base_amount: "14.50",
        version: 1,
      },
      {
        id: results[2].id,
        kind: "one_off",
        date: "2026-01-31",
        name: "Old",
        category: "Uncategorized",
        amount: "1.00",
        currency: "EUR",
        base_amount: "1.00",
        version: 1,
      },
    ]);
    assertEquals([result.total_count, result.totals_by_currency], [4, { EUR: "1215.50", USD: "-20.00" }]);
    assertEquals(result.next_cursor, undefined);
  },

  "is empty, not missing, without expenses": async (books) => {
    const { data, total_count, totals_by_currency } = await books.call("list_expenses");
    assertEquals({ data, total_count, totals_by_currency }, {
      data: { rows: [] },
      total_count: 0,
      totals_by_currency: {},
    });
  },

  "filters by every field": async (books, database) => {
    await addRate(database, "JPY", "2026-10-03", "150");
    await log(
      books,
      { name: "Lunch", payee: "Cafe Neu", amount: "14.50", tags: ["Trip", "Work"], date: "2026-10-01" },
      { name: "Train", amount: "80", tags: ["trip"], date: "2026-10-02", category: "Travel" },
      { name: "Sushi", amount: "3000", currency: "JPY", date: "2026-10-03", note: "With the cafe people" },
      { name: "Qwerty", amount: "80", is_refund: true, date: "2026-10-04" },
    );
    const { bill } = await books.ok("add_bill", { name: "Rent", amount: "1200", first_due: "today" });
    await books.ok("mark_bill_paid", { bill_id: bill.id, note: "Deposit" });
    const expected: [Json, string[]][] = [
      [{ from: "2026-10-02", to: "2026-10-03" }, ["Sushi", "Train"]],
      [{ from: "today" }, ["Rent"]],
      [{ to: "2026-10-01" }, ["Lunch"]],
      [{ query: " CAFE " }, ["Sushi", "Lunch"]],
      [{ query: "deposit" }, ["Rent"]],
      [{ query: "100%" }, []],
      [{ categories: ["food", "TRAVEL"] }, ["Sushi", "Train", "Lunch"]],
      [{ categories: ["Uncategorized"] }, ["Qwerty"]],
      [{ categories: ["none"] }, ["Qwerty"]],
      [{ categories: ["No category"] }, ["Qwerty"]],
      [{ categories: ["uncategorised", "Travel"] }, ["Qwerty", "Train"]],
      [{ tags: ["TRIP"] }, ["Train", "Lunch"]],
      [{ tags: ["work", "none"] }, ["Lunch"]],
      [{ payee: "cafe neu" }, ["Lunch"]],
      [{ payee: "train" }, ["Train"]], // summarize_spending uses this label for expenses without a payee.
      [{ not_categories: ["food", "travel"] }, ["Rent", "Qwerty"]],
      [{ not_categories: ["Uncategorized"] }, ["Rent", "Sushi", "Train", "Lunch"]],
      [{ categories: ["Food", "Travel"], not_categories: ["Travel"] }, ["Sushi", "Lunch"]],
      // 3,000 JPY are 20 EUR: one bound compares values, two bounds find a charged amount.
      [{ min_amount: "80" }, ["Rent", "Qwerty", "Train"]],
      [{ min_amount: "2990", max_amount: "3000" }, ["Sushi"]],
      [{ min_amount: "20", max_amount: "20.00" }, ["Sushi"]],
      [{ min_amount: "3000", currency: "JPY" }, ["Sushi"]],
      [{ min_amount: "14.50", max_amount: "80.00" }, ["Qwerty", "Sushi", "Train", "Lunch"]],
      [{ max_amount: "14.4999" }, []],
      [{ currency: "JPY" }, ["Sushi"]],
      [{ kind: "one_off" }, ["Sushi", "Train", "Lunch"]],
      [{ kind: "bill_payment" }, ["Rent"]],
      [{ kind: "refund" }, ["Qwerty"]],
      [{ tags: ["trip"], min_amount: "50", categories: ["Travel"], query: "tra", from: "2026-10-01" }, ["Train"]],
    ];
    for (const [filter, rows] of expected) assertEquals(await names(books, filter), rows, JSON.stringify(filter));
    const { total_count, totals_by_currency } = await books.call("list_expenses", { tags: ["trip"], limit: 1 });
    assertEquals([total_count, totals_by_currency], [2, { EUR: "94.50" }]);
    await database.query(
      "update app.categories set archived_at = now() where organization_id = $1 and name = 'Travel'",
      [books.organizationId],
    );
    assertEquals(await names(books, { categories: ["Travel"] }), ["Train"], "what was spent stays in the books");
  },

  "refuses invalid filters": async (books) => {
    const cases: [string, string, Json][] = [
      ["invalid_argument", "to", { from: "2026-10-02", to: "2026-10-01" }],
      ["date_out_of_range", "from", { from: "2026-02-30" }],
      ["invalid_argument", "max_amount", { min_amount: "2", max_amount: "1" }],
      ["currency_unknown", "currency", { currency: "XXX" }],
      ["category_not_found", "categories", { categories: ["Food", "Fod"] }],
    ];
    for (const [code, field, filter] of cases) {
      assertEquals((await books.fails(code, "list_expenses", filter)).field, field);
    }
    const hint = async (name: string) =>
      (await books.fails("category_not_found", "list_expenses", { categories: [name] })).hint;
    assertEquals(await hint("Fod"), "Use one of details.suggestions.");
    assertEquals(await hint("Kultur"), "details.categories has the existing ones.");
  },

  "pages through everything once, in every order": async (books) => {
    const items = Array.from({ length: 23 }, (_, i) => ({
      name: `N${i}`,
      amount: String(1 + (i * 7) % 5),
      date: `2026-09-${String(1 + (i * 3) % 4).padStart(2, "0")}`,
    }));
    const { results } = await log(books, ...items);
    const entry = new Map<string, number>(results.map(({ id }: Json, i: number) => [id, i]));
    for (const sort of ["date", "amount"]) {
      for (const order of ["desc", "asc"]) {
        const pages: Json[] = [];
        let cursor: string | undefined;
        do {
          const page: Json = await books.call("list_expenses", { sort, order, limit: 5, ...(cursor && { cursor }) });
          assertEquals([page.total_count, page.totals_by_currency], [23, { EUR: "69.00" }]);
          pages.push(...page.data.rows);
          cursor = page.next_cursor;
          assert(!cursor || /^[A-Za-z0-9_-]+$/.test(cursor));
        } while (cursor);
        const key = (row: Json) => sort === "date" ? row.date : row.amount;
        const sorted = pages.toSorted((one, other) =>
          (order === "asc" ? 1 : -1) *
          (key(one) < key(other) ? -1 : key(one) > key(other) ? 1 : entry.get(one.id)! - entry.get(other.id)!)
        );
        assertEquals(pages.map(({ id }) => id), sorted.map(({ id }) => id));
        assertEquals(new Set(pages.map(({ id }) => id)).size, 23);
      }
    }
  },

  "pages through the requested days to the last row": async (books) => {
    const days = ["2026-09-01", "2026-09-02", "2026-09-02", "2026-09-03", "2026-09-03", "2026-09-03", "2026-09-04"];
    await log(books, ...days.map((date, i) => ({ name: `N${i}`, amount: String(1 + i), date })));
    const cases: [Record<string, string>, string[]][] = [
      [{ from: "2026-09-02", to: "2026-09-03" }, ["N5", "N4", "N3", "N2", "N1"]],
      [{ from: "2026-09-03" }, ["N6", "N5", "N4", "N3"]],
      [{ to: "2026-09-02" }, ["N2", "N1", "N0"]],
      [{ from: "2026-09-05", to: "2026-09-06" }, []],
    ];
    for (const [period, expected] of cases) {
      for (const limit of [1, 2, 3, 9]) {
        const seen: string[] = [];
        let cursor: string | undefined;
        do {
          const page: Json = await books.call("list_expenses", { ...period, limit, ...(cursor && { cursor }) });
          assertEquals(page.total_count, expected.length);
          seen.push(...page.data.rows.map(({ name }: Json) => name));
          cursor = page.next_cursor;
        } while (cursor);
        assertEquals(seen, expected);
      }
    }
  },

  "keeps its place when rows are added between pages": async (books) => {
    await log(books, ...["A", "B", "C"].map((name) => ({ name, amount: "1" })));
    const first = await books.call("list_expenses", { limit: 2 });
    await log(books, { name: "D", amount: "1" });
    assertEquals(await names(books, { limit: 2, cursor: first.next_cursor }), ["A"]);
    // The page size may change, the filter may not.
    assertEquals(await names(books, { limit: 9, cursor: first.next_cursor }), ["A"]);
  },

  "refuses a damaged cursor and another query's cursor": async (books) => {
    await log(books, ...["A", "B", "C"].map((name) => ({ name, amount: "1" })));
    const { next_cursor: cursor } = await books.call("list_expenses", { limit: 1 });
    const text = atob(cursor.replaceAll("-", "+").replaceAll("_", "/"));
    const forged = btoa(text.replace(TODAY, "2026-10-05")).replaceAll("=", "");
    const other = await books.join();
    assertEquals(await names(other, { limit: 1, cursor }), ["B"]);
    const cases: Json[] = [
      { cursor: "x" },
      { cursor: "AAAA" },
      { cursor: cursor.slice(1) },
      { cursor: `${cursor}A` },
      { cursor: forged },
      { cursor: "€" },
      { cursor: "" },
      {
        cursor,
        sort: "amount",
      },
      { cursor, query: "a" },
    ];
    for (const filter of cases) {
      const error = await books.fails("invalid_argument", "list_expenses", { limit: 1, ...filter });
      assertEquals(error.field, "cursor");
    }
  },

  "refuses a forged cursor with a correct digest": async (books, database) => {
    for (const sort of ["date", "amount"]) {
      for (
        const key of [["x", 1], ["2026-99-99", 1], ["9".repeat(20), 1], [sort === "date" ? "5" : TODAY, 1], [null, "x"]]
      ) {
        const [made] = await database.query<Json>(
          "select app.write_cursor(jsonb_build_array($1::text, 'list_expenses', jsonb_build_object('sort', $2::text)), $3::text::jsonb) as cursor",
          [books.organizationId, sort, JSON.stringify(key)],
        );
        await books.fails("invalid_argument", "list_expenses", { sort, cursor: made.cursor });
      }
    }
  },

  "sorts amounts in several currencies by value": async (books, database) => {
    for (const [quote, rate] of [["JPY", "160"], ["USD", "1.1"]]) await addRate(database, quote!, "2026-10-06", rate!);
    await log(books, { name: "Yen", amount: "5000", currency: "JPY" }, {
      name: "Dollars",
      amount: "40",
      currency: "USD",
    }, { name: "Euros", amount: "35" });
    assertEquals(await names(books, { sort: "amount" }), ["Dollars", "Euros", "Yen"]);
    assertEquals(await names(books, { sort: "amount", order: "asc" }), ["Yen", "Euros", "Dollars"]);
  },

  "sorts refunds below every expense, page by page": async (books, database) => {
    await addRate(database, "USD", "2026-10-06", "1.1");
    await log(
      books,
      { name: "Large", amount: "35" },
      { name: "Small", amount: "2" },
      { name: "Much back", amount: "500", is_refund: true },
      { name: "Some back", amount: "20", is_refund: true },
      { name: "Dollars", amount: "40", currency: "USD" },
    );
    for (const more of [{}, { currency: "EUR" }, { query: "a" }]) {
      const all = ["Dollars", "Large", "Small", "Some back", "Much back"]
        .filter((name) => !("currency" in more) || name !== "Dollars").filter((name) =>
          !("query" in more) || /a/.test(name)
        );
      for (const [order, wanted] of [["desc", all], ["asc", all.toReversed()]] as const) {
        for (const limit of [1, 2, 25]) {
          const seen: string[] = [];
          for (let cursor: string | undefined, first = true; first || cursor; first = false) {
            const page: Json = await books.call("list_expenses", {
              ...more,
              sort: "amount",
              order,
              limit,
              ...(cursor && { cursor }),
            });
            seen.push(...page.data.rows.map(({ name }: Json) => name));
            cursor = page.next_cursor;
          }
          assertEquals(seen, wanted, `${order} by ${limit}`);
        }
      }
    }
  },

  "sorts amounts in one currency by amount, not by value": async (books, database) => {
    for (const [day, rate] of [["2026-10-01", "1.05"], ["2026-10-02", "1.2"]]) {
      await addRate(database, "USD", day!, rate!);
    }
    const dollars = { currency: "USD" };
    await log(
      books,
      { ...dollars, name: "Less", amount: "100", date: "2026-10-01" },
      { ...dollars, name: "More", amount: "110", date: "2026-10-02" },
      { name: "Euros", amount: "93" },
    );
    assertEquals(await names(books, { sort: "amount" }), ["Less", "Euros", "More"]);
    for (const [order, wanted] of [["desc", ["More", "Less"]], ["asc", ["Less", "More"]]] as const) {
      const asked = { ...dollars, sort: "amount", order };
      assertEquals(await names(books, asked), wanted);
      const first: Json = await books.call("list_expenses", { ...asked, limit: 1 });
      const second: Json = await books.call("list_expenses", { ...asked, limit: 1, cursor: first.next_cursor });
      assertEquals([first, second].flatMap(({ data }) => data.rows.map(({ name }: Json) => name)), wanted);
      assertEquals(second.next_cursor, undefined);
    }
  },

  "names the payer if it was another person": async (books) => {
    await log(books, { name: "Mine", amount: "1", date: "2026-10-01" });
    const ben = await books.join();
    await log(ben, { name: "Ben's", amount: "2", date: "2026-10-02" });
    const mail = `${ben.userId}@example.com`;
    const all = [{ name: "Ours", amount: "4", date: "2026-10-03", shared: {} }];
    await ben.ok("log_expenses", { items: all });
    const { rows } = await books.ok("list_expenses", { order: "asc" });
    assertEquals(rows.map(({ paid_by }: Json) => paid_by), [undefined, mail, undefined]);
    assertEquals(rows[2].shared.paid_by, mail);
    const { csv } = await books.ok("list_expenses", { order: "asc", format: "csv" });
    assertEquals(csv.split("\r\n").map((line: string) => line.split(",").at(-1)), ["paid_by", "", mail, mail, ""]);
  },

  "writes CSV that is safe to open in a spreadsheet": async (books) => {
    await log(
      books,
      {
        name: '=HYPERLINK("http://x")',
        payee: "+1",
        amount: "1",
        note: "@sum",
        tags: ["-x", "b,c"],
        date: "2026-10-01",
      },
      { name: "Line", amount: "2.50", note: "two\nlines", date: "2026-10-02" },
      { name: "＝1+1", amount: "3", is_refund: true, date: "2026-10-03" },
      { name: "After a line", amount: "4", note: "\n=1+1", date: "2026-10-04" },
    );
    const { csv, rows } = await books.ok("list_expenses", { format: "csv", order: "asc" });
    assertEquals(rows, undefined);
    for (
      const cells of [
        `,"'=HYPERLINK(""http://x"")",'+1,`,
        `,"'-x; b,c",'@sum,`,
        ',"two\nlines",',
        ",2026-10-03,'＝1+1,",
        ",-3.00,EUR,",
        `,"'\n=1+1",`,
      ]
    ) assertStringIncludes(csv, cells);
  },

  "writes CSV that adds up to the totals and reads back unchanged": async (books) => {
    await log(books, { name: "A", amount: "1" }, { name: "B", amount: "3", is_refund: true }, {
      name: "C",
      amount: "4",
      is_refund: true,
    });
    const { data, totals_by_currency } = await books.call("list_expenses", { format: "csv" });
    const [columns, ...lines] = data.csv.trimEnd().split("\r\n").map((line: string) => line.split(","));
    const sum = lines.reduce((sum: number, cells: string[]) => sum + Number(cells[columns.indexOf("amount")]), 0);
    assertEquals([totals_by_currency, sum], [{ EUR: "-6.00" }, -6]);
    const read = readImport(data.csv) as ReadImport;
    assertEquals([read.rows.map(({ amount, is_refund }) => [amount, is_refund]), read.rows_bad, read.mapping.assumed], [
      [["4", true], ["3", true], ["1", undefined]],
      [],
      [],
    ]);
  },

  "writes as many CSV rows as fit in an answer, page by page": async (books) => {
    for (let i = 0; i < 6; i++) await log(books, ...Array.from({ length: 90 }, () => ({ name: "A", amount: "1" })));
    const parse = (args: Record<string, unknown>) => {
      const parsed = listExpenses.parse(args);
      return parsed.ok ? parsed.value : {};
    };
    let cursor: string | undefined;
    const lines: number[] = [];
    do {
      const page = await books.call("list_expenses", parse({ format: "csv", limit: 100, ...(cursor && { cursor }) }));
      assertEquals(page.total_count, 540);
      lines.push(page.data.csv.trimEnd().split("\r\n").length - 1);
      cursor = page.next_cursor;
    } while (cursor);
    assertEquals(lines.reduce((sum, count) => sum + count), 540, `${lines}`);
    const few = await books.call("list_expenses", parse({ format: "csv", limit: 2 }));
    assertEquals([few.data.csv.split("\r\n").length, typeof few.next_cursor], [4, "string"]);
    assertEquals((await books.call("list_expenses", parse({}))).data.rows.length, 25);
  },

  "writes nothing": async (books, database) => {
    await log(books, { name: "A", amount: "1" });
    const dump = () =>
      database.query(
        "select (select count(*) from app.change_sets), (select count(*) from app.change_items), (select count(*) from app.payments)",
      );
    const before = await dump();
    for (
      const [tool, args] of [["list_expenses", { query: "a" }], ["list_expenses", { format: "csv" }], [
        "summarize_spending",
        {},
      ], ["get_context", {}]] as const
    ) {
      assertMatch(JSON.stringify(await books.ok(tool, args)), /\w/);
    }
    assertEquals(await dump(), before);
  },
});
