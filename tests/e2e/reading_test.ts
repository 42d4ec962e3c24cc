/** Lists are complete, and comparisons use equal periods and currencies. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { addMember, addPerson, addRate } from "../_support/books.ts";
import { sharedDatabase } from "../_support/database.ts";
import { readDownload } from "../../shared/export/download_token.ts";
import { CODE_SECRET, type Json, type Member, newMember, NOW } from "./connector_harness.ts";

const database = await sharedDatabase();
await addRate(database, "JPY", "2026-10-05", "160");

/** A person in Berlin on Tuesday, 6 October 2026. */
const newPerson = () => newMember(database, { organization: "Acme" });

/** The view of a client that reads only the text of a result. */
async function readText(member: Member, tool: string, args: Json): Promise<Json> {
  const { text } = await member.call(tool, args);
  const { content, structuredContent } = JSON.parse(text).result;
  assert(content[0].text.length <= 25_000);
  assertEquals(JSON.parse(content[0].text), structuredContent, "the text and the data say the same");
  return structuredContent;
}

/** Every row of a list, page by page. */
async function readAll(member: Member, tool: string, args: Json, rowsOf: (data: Json) => string[]): Promise<string[]> {
  const rows: string[] = [];
  for (let cursor: string | undefined, page = 0; page < 20; page++) {
    const { data, next_cursor } = await readText(member, tool, { ...args, ...(cursor && { cursor }) });
    rows.push(...rowsOf(data));
    if (!next_cursor) return rows;
    cursor = next_cursor;
  }
  throw new Error("the list does not end");
}

Deno.test("paging by text reads the whole list, whatever the limit", async () => {
  const member = await newPerson();
  const items = (from: number) =>
    Array.from({ length: 100 }, (_, index) => ({
      name: `Number ${from + index}`,
      amount: `${from + index}`,
      payee: "A payee with quite a long name, as banks write it",
      note: "said at dinner ".repeat(index % 7),
      date: "2026-10-05",
      category: "Food",
    }));
  for (const from of [1, 101]) await member.ok("log_expenses", { items: items(from) });
  const all = Array.from({ length: 200 }, (_, index) => `Number ${200 - index}`);
  const names = ({ rows }: Json) => rows.map(({ name }: Json) => name);
  const first = await readText(member, "list_expenses", { limit: 100 });
  assert(first.data.rows.length > 50 && first.data.rows.length < 100, `${first.data.rows.length} rows fit`);
  assertEquals(first.total_count, 200);
  assertEquals(await readAll(member, "list_expenses", { limit: 100 }, names), all);
  assertEquals(await readAll(member, "list_expenses", { limit: 100, sort: "amount" }, names), all);
  // The last page is shortened as well.
  assertEquals(await readAll(member, "list_expenses", { limit: 100, query: "number 1" }, names), [
    ...all.slice(1, 101),
    ...all.slice(101).filter((name) => name.includes("1")),
  ]);
});

Deno.test("paging by text reads the whole list of bills", async () => {
  const member = await newPerson();
  const expected: string[] = [];
  for (let index = 10; index < 80; index++) {
    expected.push(`Bill ${index}`);
    await member.ok("add_bill", {
      name: `Bill ${index}`,
      amount: "5",
      first_due: "2026-11-01",
      note: "a contract with many words ".repeat(8),
    });
  }
  const rows = await readAll(member, "list_bills", { limit: 100 }, ({ bills }) => bills.map(({ name }: Json) => name));
  assertEquals(rows, expected);
});

Deno.test("a running quarter is compared with the same days of the last one", async () => {
  const clock = () => new Date("2026-08-31T09:00:00Z");
  const member = await newMember(database, { organization: "Acme", clock });
  const rents = ["2026-04-01", "2026-05-01", "2026-06-01", "2026-07-01", "2026-08-01"];
  await member.ok("log_expenses", {
    items: [
      ...rents.map((date) => ({ name: "Rent", amount: "900", date, category: "Housing" })),
      { name: "Sofa", amount: "300", date: "2026-05-31", category: "Housing" },
      { name: "Lamp", amount: "40", date: "2026-08-31", category: "Housing" },
    ],
  });
  const { data } = await member.ok("summarize_spending", { period: "this_quarter", compare: "previous_period" });
  assertEquals(data.period, {
    from: "2026-07-01",
    to: "2026-09-30",
    previous: { from: "2026-04-01", to: "2026-05-31" },
  });
  // Two rents and a lamp against two rents and a sofa, without June.
  assertEquals([data.total.amount, data.total.previous], ["1840.00", "2100.00"]);
  assertEquals(data.rows.map(({ group, amount, previous }: Json) => [group[0], amount, previous]), [
    ["Housing", "1840.00", "2100.00"],
  ]);
});

Deno.test("amounts are filtered in one currency: 1,280 JPY are not 1,000 EUR", async () => {
  const member = await newPerson();
  await member.ok("log_expenses", {
    items: [
      { name: "Ramen", amount: "1280", currency: "JPY", date: "2026-10-05" },
      { name: "Laptop", amount: "1280", date: "2026-10-05" },
    ],
  });
  const names = async (args: Json) => (await member.ok("list_expenses", args)).data.rows.map(({ name }: Json) => name);
  assertEquals(await names({ min_amount: "1000" }), ["Laptop"]);
  assertEquals(await names({ max_amount: "8" }), ["Ramen"]);
  assertEquals(await names({ min_amount: "1000 JPY" }), ["Ramen"]);
  const { data, warnings } = await member.ok("summarize_spending", { period: "this_month", min_amount: "1000" });
  assertEquals([data.total.count, warnings ?? []], [1, []]);
  // Both sums omit payments without a rate, and the answer names them.
  await member.ok("log_expenses", {
    items: [{ name: "Hut", amount: "1500", currency: "NPR" }, { name: "Tea", amount: "2", currency: "NPR" }],
  });
  for (const [tool, args] of Object.entries({ list_expenses: {}, summarize_spending: { period: "this_month" } })) {
    const { warnings } = await member.ok(tool, { ...args, min_amount: "1000" });
    assertEquals(warnings.map(({ code, message }: Json) => [code, message]), [[
      "rate_missing",
      "2 payments could not be compared with these amounts, since their exchange rate to EUR is not known; they are not included.",
    ]]);
  }
  const inOwn = await member.ok("list_expenses", { min_amount: "1000", currency: "NPR" });
  assertEquals([inOwn.total_count, inOwn.warnings ?? []], [1, []]);
  assertEquals((await member.ok("list_expenses", { min_amount: "1", query: "hut" })).warnings.length, 1);
  assertEquals((await member.ok("list_expenses", { min_amount: "1", query: "laptop" })).warnings ?? [], []);
  const preview = await member.ok("delete_records", { filter: { max_amount: "2000" }, dry_run: true });
  assertEquals([preview.data.count, preview.warnings[0].code], [2, "rate_missing"]);
  // Other people's payments don't count.
  const stranger = await newPerson();
  await stranger.ok("log_expenses", { items: [{ name: "Tea", amount: "5" }] });
  assertEquals((await stranger.ok("list_expenses", { min_amount: "1" })).warnings ?? [], []);
});

Deno.test("filters can exclude a category and select one member's records", async () => {
  const member = await newPerson();
  const other = await addPerson(database, "UTC");
  await addMember(database, member.organizationId, other, "member");
  await member.ok("log_expenses", {
    items: [{ name: "Rent", amount: "900", category: "Housing" }, { name: "Lunch", amount: "9", category: "Food" }],
  });
  await database.query(
    "update app.payments set paid_by = $1 where organization_id = $2 and amount_minor = 90000",
    [other, member.organizationId],
  );
  const { data } = await member.ok("summarize_spending", { group_by: "category", not_categories: "Housing" });
  assertEquals(data.rows.map(({ group, amount }: Json) => [group[0], amount]), [["Food", "9.00"]]);
  const names = async (who: string) =>
    (await member.ok("list_expenses", { member: who })).data.rows.map(({ name }: Json) => name);
  assertEquals(await names("me"), ["Lunch"]);
  assertEquals(await names(member.email.toUpperCase()), ["Lunch"]);
  assertEquals(await names(other), ["Rent"], "part of an address is enough where only one has it");
  // A stranger gets nothing, even with their own organization.
  const stranger = await newPerson();
  const { envelope: { error } } = await member.call("list_expenses", { member: stranger.email });
  assertEquals([error.code, error.details.members.includes(member.email)], ["not_found", true]);
  assert(!error.details.members.includes(stranger.email));
});

Deno.test("a short file is in the answer; a longer one has a link that works for ten minutes", async () => {
  const member = await newPerson();
  const items = Array.from(
    { length: 100 },
    (_, index) => ({ name: `Number ${index}`, amount: "1", date: "yesterday" }),
  );
  await member.ok("log_expenses", { items });
  const short = await readText(member, "list_expenses", { format: "csv", limit: null });
  assertEquals([short.data.csv.trimEnd().split("\r\n").length, short.next_cursor], [101, undefined]);
  for (let more = 0; more < 4; more++) {
    await member.ok("log_expenses", { items: items.map((item) => ({ ...item, name: `${item.name}, ${more}` })) });
  }
  const long = await readText(member, "list_expenses", { format: "csv", to: "yesterday", query: "number" });
  assertEquals([Object.keys(long.data), long.next_cursor, long.total_count, long.totals_by_currency], [
    ["csv_url", "expires_at"],
    undefined,
    500,
    { EUR: "500.00" },
  ]);
  const url = new URL(long.data.csv_url);
  assertEquals([url.origin, url.pathname], ["https://expenses.example", "/account/expenses.csv"]);
  assertEquals(new Date(long.data.expires_at).getTime() - NOW.getTime(), 600_000);
  await member.ok("update_settings", { timezone: "America/St_Johns" });
  const { expires_at } = (await member.ok("list_expenses", { format: "csv", to: "yesterday", query: "number" })).data;
  assertMatch(expires_at, /T\d\d:\d\d:00-02:30$/);
  assertEquals(new Date(expires_at), new Date(long.data.expires_at));
  const read = (at: Date) => readDownload([CODE_SECRET], { token: url.searchParams.get("t")!, at });
  const { userId, organizationId, filter } = (await read(NOW))!;
  assertEquals([userId, organizationId], [member.userId, member.organizationId]);
  // The requested day, regardless of the day on which the link is opened.
  assertEquals([filter.to, filter.query, filter.limit], ["2026-10-05", "number", undefined]);
  assertEquals(await read(new Date(NOW.getTime() + 600_000)), null);
});
