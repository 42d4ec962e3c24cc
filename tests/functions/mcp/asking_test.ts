/** Questions that a client asks its person in a form, if it declares forms. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import type { Json } from "../../_support/books.ts";
import { connectApp, type ConnectedApp } from "../../_support/connected_app.ts";
import { addBill, at, database, fresh } from "../../db/reminder_run.ts";

const DAY = "2026-11-10";
const STATEMENT = "Date,Description,Amount\n03/04/2026,Coffee,-3.00\n05/06/2026,Tea,-2.00\n";

async function start(capabilities: Json = { elicitation: {} }) {
  const books = await fresh({ day: DAY });
  const clock = { now: new Date(at(DAY)) };
  const connect = (more: Json = capabilities) =>
    connectApp(database, books, { clock: () => clock.now, capabilities: more });
  const app = await connect();
  const bills = [await addBill(books, "Net one", "2026-11-12"), await addBill(books, "Net two", "2026-11-13")];
  const later = (minutes: number) => void (clock.now = new Date(clock.now.getTime() + minutes * 60_000));
  const paid = async () =>
    (await database.query<{ id: string }>("select expense_id as id from app.payments")).map(({ id }) => id);
  return { books, app, bills, connect, later, paid };
}

const pay = (app: ConnectedApp, more: Json = {}, args: Json = { bill_name: "net", amount: "9.00" }) =>
  app.ask("tools/call", { name: "mark_bill_paid", arguments: args, ...more });
const answers = (content: Json, action = "accept") => ({ inputResponses: { answers: { action, content } } });

Deno.test("an ambiguous bill leads to a form, and the chosen bill is paid", async () => {
  const { app, bills, paid } = await start();
  const asked = await pay(app);
  assertEquals(asked.resultType, "input_required");
  const { method, params } = asked.inputRequests.answers;
  assertEquals([method, params.mode, params.message], ["elicitation/create", "form", '2 bills match "net".']);
  assertEquals(params.requestedSchema.properties.bill_id.oneOf, [
    { const: bills[0], title: "Net one, 10.00 EUR, due 2026-11-12" },
    { const: bills[1], title: "Net two, 10.00 EUR, due 2026-11-13" },
  ]);
  assertEquals(await paid(), []);
  const state = { requestState: asked.requestState, ...answers({ bill_id: bills[1] }) };
  // A client may send its arguments in another order.
  const done = await pay(app, state, { amount: "9.00", bill_name: "net" });
  assertEquals([done.resultType, done.structuredContent.ok], ["complete", true]);
  assertEquals(await paid(), [bills[1]]);
  await pay(app, state);
  assertEquals(await paid(), [bills[1]], "a repeated answer pays once");
});

Deno.test("a client without forms, or a person who declines, gets the result with the candidates", async () => {
  for (const capabilities of [{}, { elicitation: { url: {} } }]) {
    const { app } = await start(capabilities);
    assertEquals((await pay(app)).structuredContent.error.code, "ambiguous_name");
  }
  const { books } = await start();
  const older = await connectApp(database, books, {
    clock: () => new Date(at(DAY)),
    capabilities: { elicitation: {} },
    revision: "2025-11-25",
  });
  assertEquals((await pay(older)).structuredContent.error.code, "ambiguous_name");
  const { app, paid } = await start();
  const { requestState } = await pay(app);
  for (const action of ["decline", "cancel"]) {
    const result = await pay(app, { requestState, ...answers({}, action) });
    assertEquals(result.structuredContent.error.code, "ambiguous_name");
  }
  assertEquals((await pay(app, { requestState })).structuredContent.error.code, "ambiguous_name");
  assertEquals(await paid(), []);
});

Deno.test("an answer outside the options is refused, including another bill's id", async () => {
  const { books, app, paid } = await start();
  const other = await addBill(books, "Rent", "2026-11-12");
  const { requestState } = await pay(app);
  for (const content of [{ bill_id: other }, { bill_id: ["net"] }, { bill_id: "__proto__" }, {}, { bill_name: "x" }]) {
    assertEquals((await pay(app, { requestState, ...answers(content) })).code, -32602, JSON.stringify(content));
  }
  assertEquals(await paid(), []);
});

Deno.test("a state is valid only unaltered, for its own grant, tool and arguments, for ten minutes", async () => {
  const { app, bills, connect, later, paid } = await start();
  const { requestState } = await pay(app);
  const answer = { requestState, ...answers({ bill_id: bills[0] }) };
  const code = async (asking: Promise<Json>) => (await asking).code;
  assertEquals(await code(pay(await connect(), answer)), -32602, "another grant of the same person");
  assertEquals(await code(pay(app, answer, { bill_name: "net", amount: "9000.00" })), -32602);
  const update = { name: "update_bill", arguments: { bill_name: "net", amount: "9.00" } };
  assertEquals(await code(app.ask("tools/call", { ...update, ...answer })), -32602);
  const [body, signature] = requestState.split(".");
  const claims = JSON.parse(atob(body.replaceAll("-", "+").replaceAll("_", "/")));
  const forged = btoa(JSON.stringify({ ...claims, exp: claims.exp + 9 })).replaceAll("+", "-").replaceAll("/", "_");
  for (const state of [`${forged.replace(/=+$/, "")}.${signature}`, "", "a.b", `${requestState}x`]) {
    assertEquals(await code(pay(app, { ...answer, requestState: state })), -32602, state);
  }
  later(10);
  assertEquals(await code(pay(app, answer)), -32602, "expired");
  assertEquals(await paid(), []);
});

Deno.test("a state is invalid after its grant ended or was limited to reading", async () => {
  for (const sql of ["update oauth.grants set access = 'read'", "update oauth.tokens set revoked_at = '2026-11-10'"]) {
    const { app, bills, paid } = await start();
    const { requestState } = await pay(app);
    await database.query(sql);
    const refused = await pay(app, { requestState, ...answers({ bill_id: bills[0] }) });
    assertEquals([refused.resultType, await paid()], [undefined, []], sql);
    assert(refused.code < 0 || refused.error, JSON.stringify(refused));
  }
});

Deno.test("a form asks the questions of a statement, and the preview follows from the answers", async () => {
  const { app } = await start();
  const call = (more: Json = {}) =>
    app.ask("tools/call", { name: "import_expenses", arguments: { csv: STATEMENT }, ...more });
  const asked = await call();
  const { message, requestedSchema } = asked.inputRequests.answers.params;
  assertEquals(message, "The statement has 1 question.");
  assertEquals(requestedSchema.properties.date_format.oneOf.map(({ const: value }: Json) => value), [
    "DD/MM/YYYY",
    "MM/DD/YYYY",
  ]);
  assertMatch(requestedSchema.properties.date_format.title, /first date/);
  const { requestState } = asked;
  assertEquals((await call({ requestState, ...answers({ decimal: "," }) })).code, -32602);
  const { data } = (await call({ requestState, ...answers({ date_format: "MM/DD/YYYY" }) })).structuredContent;
  assertEquals([data.written, data.preview.questions, data.preview.period], [0, [], {
    from: "2026-03-04",
    to: "2026-05-06",
  }]);
  const open = (await call({ requestState, ...answers({}, "decline") })).structuredContent.data.preview;
  assertEquals(open.questions.length, 1, "declined, so the assistant asks");
});

Deno.test("answers of yes or no, and answers about a row, reach the statement unchanged", async () => {
  const { app, books } = await start();
  await books.ok("log_expenses", { items: [{ name: "Diner", amount: "20.00", date: "2026-10-05" }] });
  const csv = "Date,Description,Amount\n2026-10-06,DINER NYC,-26.00\n2026-10-02,Coffee,5.00\n";
  const call = (more: Json = {}) => app.ask("tools/call", { name: "import_expenses", arguments: { csv }, ...more });
  const { requestState, inputRequests } = await call();
  const fields = Object.entries<Json>(inputRequests.answers.params.requestedSchema.properties);
  assertEquals(fields.map(([id, { oneOf }]) => [id, oneOf.map(({ title }: Json) => title)]), [
    ["negative_is_expense", ["Negative amounts are spent", "Positive amounts are spent"]],
    ["row_2", ["The same", "A new one"]],
  ]);
  const content = Object.fromEntries(fields.map(([id, { oneOf }]) => [id, oneOf[0].const]));
  const { structuredContent } = await call({ requestState, ...answers(content) });
  assertEquals([structuredContent.ok, structuredContent.data.preview.questions], [true, []]);
});
