/** Events that apps poll: their causes, their recipients, and the continuation of a poll. */
import { assert, assertEquals } from "@std/assert";
import { decide, proposes, setRules } from "../../_support/approvals.ts";
import { type Books, type Json, openBooks } from "../../_support/books.ts";
import { connectApp, type ConnectedApp, SITE } from "../../_support/connected_app.ts";
import { importOf } from "../../_support/import_args.ts";
import { addBill, at, database, fresh, run } from "../../db/reminder_run.ts";

const DAY = "2026-11-10";
const clock = { now: new Date(at(DAY)) };
const goTo = (day: string, time?: string) => void (clock.now = new Date(at(day, time)));
const connect = (books: Books) => connectApp(database, books, { clock: () => clock.now });
const NAMES = [
  "bill.due",
  "bill.overdue",
  "price.rose",
  "budget.reached_80",
  "budget.reached_100",
  "import.asked",
  "proposal.waiting",
  "proposal.decided",
  "digest.sent",
  "document.added",
];

/** Starts polling every event. @returns the events since the last call: ids by event */
async function listen(app: ConnectedApp) {
  const cursors = new Map<string, string>();
  for (const name of NAMES) cursors.set(name, (await app.ask("events/poll", { name })).cursor);
  return async (): Promise<Record<string, string[]>> => {
    const heard: [string, string[]][] = [];
    for (const name of NAMES) {
      const answer = await app.ask("events/poll", { name, cursor: cursors.get(name) });
      assert(answer.events, JSON.stringify(answer));
      cursors.set(name, answer.cursor);
      for (const { data } of answer.events) heard.push([name, data.ids]);
    }
    return Object.fromEntries(heard);
  };
}

const draft = (amount: string) => ({ items: [{ name: "Chair", amount, date: DAY }] });

Deno.test("the extension is announced, and lists its events with their schemas", async () => {
  goTo(DAY);
  const app = await connect(await fresh({ day: DAY }));
  const { capabilities } = await app.ask("server/discover");
  assertEquals([capabilities.events, capabilities.extensions], [{}, {
    "io.modelcontextprotocol/events": {},
    "io.modelcontextprotocol/skills": {},
  }]);
  const { events } = await app.ask("events/list");
  assertEquals(events.map(({ name }: Json) => name), NAMES);
  for (const { description, payloadSchema } of events) {
    assert(description.length <= 200);
    assertEquals(payloadSchema.required, ["organization_id", "ids", "count"]);
  }
});

Deno.test("a reminder run emits due and overdue bills, budgets and the digest", async () => {
  const books = await fresh({ day: "2026-11-05" });
  goTo(DAY, "07:00");
  const heard = await listen(await connect(books));
  const overdue = await addBill(books, "Gas", "2026-11-07", { frequency: "once" });
  books.goTo(DAY);
  const due = await addBill(books, "Water", "2026-11-12");
  await books.ok("update_settings", {
    category: { action: "create", name: "Treats" },
    budget: { action: "set", category: "Treats", amount: "100" },
  });
  await books.ok("log_expenses", { items: [{ name: "Cake", amount: "120", category: "Treats", date: DAY }] });
  const [budget] = await database.query<{ id: string }>("select id from app.budgets");
  const sent = (await run(at(DAY, "08:00"))).length;
  assertEquals(sent, 1);
  goTo(DAY, "08:02");
  const events = await heard();
  assertEquals(events["bill.overdue"], [overdue]);
  assert(events["bill.due"]?.includes(due), JSON.stringify(events));
  assertEquals([events["budget.reached_80"], events["budget.reached_100"]], [[budget!.id], [budget!.id]]);
  for (const id of [due, overdue, budget!.id]) assert(events["digest.sent"]?.includes(id), id);
  assertEquals(await heard(), {}, "each is heard once");
});

Deno.test("a price rise is emitted when it is announced", async () => {
  const books = await fresh({ day: DAY });
  const music = await addBill(books, "Music", "2026-11-12", { remind_days_before: 0 });
  goTo("2026-12-05", "07:00");
  const heard = await listen(await connect(books));
  await run(at("2026-11-12"));
  books.goTo("2026-11-13");
  await books.ok("update_bill", { bill_id: music, set: { amount: "12" }, apply_from: "2026-12-01" });
  await run(at("2026-12-05"));
  goTo("2026-12-05", "08:02");
  assertEquals((await heard())["price.rose"], [music]);
});

Deno.test("people who may see a proposal get events while it is pending and when it is decided", async () => {
  const owner = await fresh({ day: DAY });
  const [member, other] = [await owner.join(), await owner.join()];
  goTo(DAY, "11:00");
  const heard = await Promise.all([owner, member, other].map(async (one) => listen(await connect(one))));
  await setRules(database, owner, [{ over: "200", currency: "EUR" }]);
  const id = await proposes(member, "log_expenses", draft("900"));
  goTo(DAY, "12:02");
  const waiting = { "proposal.waiting": [id] };
  assertEquals(await Promise.all(heard.map((one) => one())), [waiting, waiting, {}]);
  await decide(database, owner, id, "refuse");
  goTo(DAY, "12:04");
  const decided = { "proposal.decided": [id] };
  assertEquals(await Promise.all(heard.map((one) => one())), [decided, decided, {}]);
});

Deno.test("a decided proposal is no longer reported as pending, and a reminder reaches only its person's apps", async () => {
  const owner = await fresh({ day: DAY });
  const member = await owner.join();
  goTo(DAY, "07:00");
  const [owners, members] = await Promise.all([owner, member].map(async (one) => listen(await connect(one))));
  await setRules(database, owner, [{ over: "200", currency: "EUR" }]);
  const id = await proposes(member, "log_expenses", draft("900"));
  await decide(database, owner, id, "refuse");
  const bill = await addBill(owner, "Water", "2026-11-12");
  await run(at(DAY));
  goTo("2026-11-10", "14:00");
  const { "digest.sent": _, ...heard } = await owners!();
  assertEquals(heard, { "bill.due": [bill], "proposal.decided": [id] });
  assertEquals(await members!(), { "proposal.decided": [id] }, "a member sees the bill, but was not reminded");
});

Deno.test("only the uploader gets the event of a statement with questions", async () => {
  const books = await fresh({ day: DAY });
  const other = await books.join();
  goTo(DAY, "11:00");
  const heard = await Promise.all([books, other].map(async (one) => listen(await connect(one))));
  await books.ok("log_expenses", { items: [{ name: "Market Hall", amount: "20.00", date: "2026-11-02" }] });
  await books.ok("log_expenses", {
    items: [{ name: "Market Hall", amount: "20.00", date: "2026-11-03" }],
    on_duplicate: "allow",
  });
  const clear = await books.ok(
    "import_expenses",
    importOf([{ line: 2, name: "Tea", amount: "3", date: "2026-11-04" }]),
  );
  const asking = await books.ok(
    "import_expenses",
    importOf([{ line: 2, name: "Bakery 4", amount: "20.00", date: "2026-11-03" }]),
  );
  assertEquals([clear.preview.questions, asking.preview.questions.length], [[], 1]);
  goTo(DAY, "12:02");
  assertEquals(await Promise.all(heard.map((one) => one())), [{ "import.asked": [asking.preview.import_id] }, {}]);
});

Deno.test("a read-only app gets no events, and no event is announced to it", async () => {
  const owner = await fresh({ day: DAY });
  goTo(DAY, "07:00");
  const app = await connect(owner);
  const { cursor } = await app.ask("events/poll", { name: "bill.due" });
  await addBill(owner, "Water", "2026-11-12");
  await run(at(DAY));
  await database.query("update oauth.grants set access = 'read' where id = $1", [app.grantId]);
  goTo(DAY, "08:02");
  const { capabilities } = await app.ask("server/discover");
  assertEquals([capabilities.events, capabilities.extensions], [undefined, {
    "io.modelcontextprotocol/skills": {},
  }]);
  for (const method of ["events/list", "events/poll", "events/subscribe"]) {
    assertEquals((await app.ask(method, { name: "bill.due", cursor })).code, -32601, method);
  }
  const [token] = await database.query<{ hash: string }>(
    "select encode(token_hash, 'hex') as hash from oauth.tokens where grant_id = $1",
    [app.grantId],
  );
  const polled = await database.asService<Json>("poll_events", {
    token_hash: token!.hash,
    resource: `${SITE}/api/mcp`,
    name: "bill.due",
    after: { at: at(DAY, "07:00"), id: "" },
    at_most: 5,
    at: at(DAY, "08:02"),
  });
  assertEquals([polled.outcome, polled.events], ["ok", []], "the database refuses it too");
});

Deno.test("rights are checked when an event is read, not when it is written", async () => {
  const owner = await fresh({ day: DAY });
  goTo(DAY, "07:00");
  const heard = await listen(await connect(owner));
  const bill = await addBill(owner, "Water", "2026-11-12");
  const gone = await addBill(owner, "Gas", "2026-11-12");
  await run(at(DAY));
  await database.query("update app.expenses set deleted_at = now() where id = $1", [gone]);
  goTo(DAY, "08:02");
  assertEquals((await heard())["bill.due"], [bill]);
});

Deno.test("others don't get events in a category that has become private", async () => {
  const owner = await fresh({ day: DAY });
  const member = await owner.join();
  await database.query("update identity.memberships set mails = 'all'");
  goTo(DAY, "07:00");
  const [own, theirs] = [await listen(await connect(owner)), await listen(await connect(member))];
  await owner.ok("update_settings", { category: { action: "create", name: "Payroll" } });
  const bill = await addBill(owner, "Wages", "2026-11-12", { category: "Payroll" });
  await run(at(DAY));
  await owner.ok("update_settings", { category: { action: "make_private", name: "Payroll" } });
  goTo(DAY, "08:02");
  assertEquals((await own())["bill.due"], [bill]);
  assertEquals(await theirs(), {});
  const rows = await database.query("select from app.events where user_id = $1 and $2 = any (about)", [
    member.userId,
    bill,
  ]);
  assert(rows.length > 0, "it was written while they could still see it");
});

Deno.test("a poll continues after the previous one, page by page, and omits the last 90 seconds", async () => {
  const owner = await fresh({ day: DAY });
  goTo(DAY, "07:00");
  const app = await connect(owner);
  const { cursor, events, truncated } = await app.ask("events/poll", { name: "bill.due" });
  assertEquals([events, truncated], [[], false]);
  const bill = await addBill(owner, "Water", "2026-11-12");
  await database.query(
    `insert into app.events (organization_id, user_id, name, about, created_at)
     select $1, $2, 'bill.due', array[$3], $4::timestamptz + n * interval '1 second' from generate_series(1, 5) as n`,
    [owner.organizationId, owner.userId, bill, at(DAY)],
  );
  const poll = (more: Json = {}) => app.ask("events/poll", { name: "bill.due", cursor, ...more });
  goTo(DAY, "08:01");
  assertEquals((await poll()).events, []);
  goTo(DAY, "08:02");
  const first = await poll({ maxEvents: 3 });
  assertEquals([first.events.length, first.hasMore, first.nextPollMs], [3, true, 0]);
  const rest = await poll({ maxEvents: 3, cursor: first.cursor });
  assertEquals([rest.events.length, rest.hasMore], [2, false]);
  assertEquals(first.events[2].cursor, first.cursor);
  assertEquals(new Set([...first.events, ...rest.events].map(({ eventId }: Json) => eventId)).size, 5);
  assertEquals(
    (await poll()).events.map(({ eventId }: Json) => eventId).slice(0, 3),
    first.events.map(({ eventId }: Json) => eventId),
  );
  goTo("2026-11-11", "09:00");
  const late = await poll();
  assertEquals([late.events, late.truncated], [[], true]);
});

Deno.test("everybody who sees a new document gets its event", async () => {
  const books = await fresh({ day: DAY });
  const stranger = await openBooks(database, { day: DAY });
  const [ben, carla] = [await books.join(), await books.join()];
  goTo(DAY, "11:00");
  const heard = await Promise.all([books, ben, carla, stranger].map(async (one) => listen(await connect(one))));
  const { document } = await ben.ok("attach_document", {
    step: "keep",
    content: btoa("invoice"),
    name: "invoice.pdf",
    type: "application/pdf",
    facts: { kind: "invoice", format: "pdf", questions: [] },
  });
  goTo(DAY, "12:02");
  const told = { "document.added": [document.id] };
  assertEquals(await Promise.all(heard.map((one) => one())), [told, told, {}, {}]);
});

Deno.test("unknown events, arguments and cursors are refused", async () => {
  goTo(DAY);
  const app = await connect(await fresh({ day: DAY }));
  const codes = await Promise.all(
    [
      { name: "bill.paid" },
      { name: "bill.due", arguments: { bill: "x" } },
      { name: "bill.due", cursor: "2026-11-10" },
      { name: "bill.due", cursor: "2026-99-10T00:00:00+00:00~evt_1" },
      { name: "bill.due", maxEvents: 0 },
      {},
    ].map(async (params) => (await app.ask("events/poll", params)).code),
  );
  assertEquals(codes, [-32011, -32602, -32602, -32602, -32602, -32602]);
});

Deno.test("a household without an app writes no reminder events", async () => {
  const books = await fresh({ day: DAY });
  await addBill(books, "Water", "2026-11-12");
  await run(at(DAY));
  assertEquals(await database.query("select from app.events"), []);
});
