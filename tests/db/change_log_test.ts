/** The log of changes: changes since a time, the author of a record's changes, and another assistant's changes. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { testBooks } from "../_support/book_steps.ts";
import { type Books, type Json } from "../_support/books.ts";

const mail = ({ userId }: Books) => `${userId}@example.com`;
const log = (books: Books, changes: Json = {}) => books.ok("get_context", { changes });
const summaries = ({ recent_changes }: Json) => recent_changes.map(({ summary }: Json) => summary);
const lunch = (books: Books, name: string) => books.ok("log_expenses", { items: [{ name, amount: "9.00" }] });

testBooks("get_context.changes", { day: "2026-11-20", timezone: "Europe/Berlin" }, {
  "filters by days in the owner's time zone": async (ana) => {
    ana.goTo("2026-11-12");
    await lunch(ana, "Soup");
    ana.goTo("2026-11-20");
    await lunch(ana, "Salad");
    const since = await log(ana, { from: "2026-11-13" });
    assertEquals(summaries(since), ["Logged Salad, 9.00 EUR"]);
    assertEquals(since.recent_changes[0].at, "2026-11-20 13:00");
    assertEquals(summaries(await log(ana, { to: "2026-11-12" })), ["Logged Soup, 9.00 EUR"]);
    assertEquals(
      (await ana.fails("invalid_argument", "get_context", { changes: { from: "today", to: "yesterday" } })).field,
      "changes.to",
    );
  },

  "names the calling client, and other assistants by person and client": async (ana) => {
    const ben = await ana.join();
    const [own, other, his] = [ana.through("Claude"), ana.through("Cursor"), ben.through("Claude")];
    await lunch(own, "Soup");
    await lunch(other, "Salad");
    await lunch(his, "Bread");
    const { user, recent_changes } = await log(own, { client: "other" });
    assertEquals(user.client, "Claude");
    assertEquals(recent_changes.map(({ client, by }: Json) => [client, by]), [["Claude", mail(ben)], [
      "Cursor",
      mail(ana),
    ]]);
    assertEquals(summaries(await log(own, { client: "curs" })), ["Logged Salad, 9.00 EUR"]);
    assertEquals(summaries(await log(own, { member: mail(ben) })), ["Logged Bread, 9.00 EUR"]);
  },

  "names the people who recorded a passive member's payments, and the beginning of the log": async (ana) => {
    const ben = await ana.join();
    ana.goTo("2026-11-18");
    await ana.ok("log_expenses", { items: [{ name: "Shoes", amount: "80.00", paid_by: mail(ben) }] });
    ana.goTo("2026-11-20");
    const { recent_changes, no_match } = await log(ana, { member: mail(ben), from: "2026-11-16" });
    assertEquals([recent_changes, no_match], [[], {
      log_begins: "2026-11-18",
      paid_by_member: [{ count: 1, recorded_by: mail(ana) }],
    }]);
    assertEquals((await log(ana, { member: mail(ben), from: "2026-11-19" })).no_match, { log_begins: "2026-11-18" });
  },

  "finds who changed a record, by its id or its name, with both values": async (ana) => {
    const ben = await ana.join();
    await ana.ok("add_bill", { name: "Rent", amount: "1150", first_due: "2026-12-01" });
    const { bill: { id } } = await ana.ok("add_bill", { name: "Gym", amount: "29.90", first_due: "2026-12-15" });
    await ben.ok("update_bill", { bill_id: id, set: { amount: "32.90" } });
    await ana.ok("mark_bill_paid", { bill_id: id, due_on: "2026-12-15" });
    await lunch(ana, "Soup");
    for (const record of [id, "gym"]) {
      const { recent_changes } = await log(ana, { record });
      assertEquals(recent_changes.map(({ tool, by }: Json) => [tool, by]), [
        ["mark_bill_paid", mail(ana)],
        ["update_bill", mail(ben)],
        ["add_bill", mail(ana)],
      ]);
      assertMatch(recent_changes[1].effect, /^Gym changed: amount 29\.90 EUR → 32\.90 EUR/);
    }
    const { results: [{ id: soup }] } = await ana.ok("log_expenses", { items: [{ name: "Soup", amount: "8.00" }] });
    await ana.ok("delete_records", { ids: [soup] });
    assertMatch((await log(ana, { record: "soup" })).recent_changes[0].effect, /^Soup deleted: amount 8\.00 EUR, /);
    assertEquals(summaries(await log(ana, { record: "exp_00000000" })), []);
  },

  "counts further changes and reports purged contents": async (ana) => {
    for (const name of ["Soup", "Salad", "Bread"]) await lunch(ana, name);
    const first = await log(ana, { limit: 2 });
    assertEquals([first.recent_changes.length, first.more_changes], [2, 1]);
    const all = await log(ana, { from: "2026-09-01" });
    assertEquals([all.recent_changes.length, all.more_changes, all.changes_kept_since], [3, undefined, "2026-10-21"]);
    // Returns only the requested part.
    assert(!("categories" in all) && !("settings" in all));
  },

  "names pages as the website and hides records that the person may not see": async (ana, database) => {
    const ben = await ana.join();
    await ana.ok("update_settings", { own_only: true });
    await lunch(ana, "Secret soup");
    await database.query("update app.change_sets set client_name = null where organization_id = $1", [
      ana.organizationId,
    ]);
    const [{ client, via }] = (await log(ana)).recent_changes;
    assertEquals([client, via], [undefined, "the website"]);
    for (const changes of [{}, { member: mail(ana) }, { client: "other" }]) {
      assertEquals(summaries(await log(ben, changes)).filter((text: string) => text.includes("soup")), []);
    }
    const { recent_changes, no_match } = await log(ben, { record: "soup" });
    assertEquals([recent_changes, no_match], [[], { unknown_record: "soup" }]);
  },
});
