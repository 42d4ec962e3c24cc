/** The link from an expense to its receipt or order: every tool accepts or shows it, and undo restores it. */
import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { importOfFile } from "../_support/import_args.ts";
import type { Books, Json } from "../_support/books.ts";
import { testBooks } from "../_support/book_steps.ts";

const ORDER = "https://shop.example.com/orders/7?key=ä#receipt";
const OTHER = "http://shop.example.com";
const lunch = (more: Json = {}) => ({ name: "Lunch", amount: "14.50", date: "2026-11-19", ...more });

const log = async (books: Books, more: Json = {}): Promise<string> =>
  (await books.ok("log_expenses", { items: [lunch({ url: ORDER, ...more })] })).results[0].id;
const urls = async (books: Books): Promise<(string | undefined)[]> =>
  (await books.ok("list_expenses")).rows.map(({ url }: Json) => url);

testBooks("the url of an expense", {}, {
  "is stored and listed unchanged, and omitted when absent": async (books) => {
    await log(books);
    await log(books, { name: "Tea", url: " " });
    assertEquals(await urls(books), [undefined, ORDER]);
  },

  "is changed, removed, and restored by undo": async (books) => {
    const id = await log(books);
    const { data: { updated }, change_id } = await books.call("update_expenses", { ids: [id], set: { url: OTHER } });
    assertEquals([updated[0].before, updated[0].after], [{ url: ORDER }, { url: OTHER }]);
    const removed = await books.call("update_expenses", { ids: [id], set: { url: "" } });
    assertEquals(await urls(books), [undefined]);
    for (const [change, url] of [[removed.change_id, OTHER], [change_id, ORDER]]) {
      await books.ok("undo_change", { change_id: change });
      assertEquals(await urls(books), [url]);
    }
  },

  "can be shared by several expenses of an order": async (books) => {
    const ids = [await log(books, { url: "" }), await log(books, { name: "Tea", url: "" })];
    await books.ok("update_expenses", { ids, set: { url: ORDER } });
    assertEquals(await urls(books), [ORDER, ORDER]);
  },

  "is exported to a file and read back": async (books) => {
    const id = await log(books);
    const { csv } = await books.ok("list_expenses", { format: "csv" });
    assertMatch(csv, /,url,/);
    await books.ok("delete_records", { ids: [id] });
    const { preview } = await books.ok("import_expenses", importOfFile(csv));
    assertEquals([preview.mapping.url, preview.sample[0].url], ["url", ORDER]);
    await books.ok("import_expenses", preview.commit_with);
    assertEquals(await urls(books), [ORDER]);
  },

  "is refused by the database, too, unless it is a web URL": async (books, database) => {
    const id = await log(books);
    const bad = [
      "javascript:alert(1)",
      "//shop.example.com",
      "https://",
      "https://me:secret@shop.example.com",
      "https://a b",
    ];
    for (
      const url of [
        ...bad,
        "ftp://shop.example.com",
        "https://bank.example\\@evil.example",
        `https://a/${"x".repeat(2000)}`,
      ]
    ) {
      const logged = await books.fails("invalid_argument", "log_expenses", { items: [lunch({ name: "Tea", url })] });
      assertEquals(logged.field, "items[0].url");
      const changed = await books.fails("invalid_argument", "update_expenses", { ids: [id], set: { url } });
      assertEquals(changed.field, "set.url");
      await assertRejects(
        () => database.query("update app.expenses set url = $1 where id = $2", [url, id]),
        Error,
        "expenses_url_shape",
      );
    }
    assertEquals(await urls(books), [ORDER]);
  },
});
