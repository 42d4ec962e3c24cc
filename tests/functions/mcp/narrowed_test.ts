/** After a person narrows an app to reading, its earlier uploads, proposals and links write nothing. */
import { assert, assertEquals, assertObjectMatch } from "@std/assert";
import { keepFile, type Step, workThrough } from "../../../shared/import/import_work.ts";
import { decide, noon, readProposal, setRules } from "../../_support/approvals.ts";
import { type Books, type Json, openBooks } from "../../_support/books.ts";
import { connectApp, type ConnectedApp, SITE } from "../../_support/connected_app.ts";
import { sharedDatabase } from "../../_support/database.ts";

const database = await sharedDatabase();
Deno.test.beforeEach(() => database.reset());

const CSV = "Date,Name,Amount,Currency\n2026-11-18,Shop,14.50,EUR\n2026-11-19,Tea,3.00,EUR\n";
const LUNCH = { items: [{ name: "Lunch", amount: "14.50" }] };

interface Connected {
  books: Books;
  app: ConnectedApp;
  /** Calls a tool. @returns its envelope, or the data of the refusal */
  call(tool: string, args?: Json): Promise<Json>;
  allow(access: "read" | "write"): Promise<void>;
}

async function connected(books: Books): Promise<Connected> {
  const clock = () => new Date(noon(books));
  const app = await connectApp(database, books, { clock });
  return {
    books,
    app,
    call: async (name, args = {}) => {
      const answer = await app.ask("tools/call", { name, arguments: args });
      return answer.structuredContent ?? answer.data;
    },
    allow: async (access) =>
      assertEquals(
        await database.asService<Json>("change_grant_access", {
          user_id: books.userId,
          grant_id: app.grantId,
          access,
          at: noon(books),
        }),
        { outcome: "changed" },
      ),
  };
}

/** Each call is refused with a link to the page that allows writing, and the books remain unchanged. */
async function refuses({ books, app, call }: Connected, calls: readonly (readonly [string, Json])[]): Promise<void> {
  const rows = () =>
    database.query(
      `select 'payment' as kind, to_jsonb(p) as row from app.payments as p where organization_id = $1
       union all select 'import', to_jsonb(b) from app.import_batches as b where organization_id = $1
       union all select 'proposal', to_jsonb(p) from app.proposals as p where organization_id = $1
       union all select 'line', to_jsonb(r) from app.import_rows as r where organization_id = $1
       union all select 'change', to_jsonb(s) from app.change_sets as s where organization_id = $1
       order by 1, 2`,
      [books.organizationId],
    );
  const before = await rows();
  for (const [tool, args] of calls) {
    const { code, allow_url } = await call(tool, args);
    assertEquals([tool, code, allow_url], [
      tool,
      "insufficient_scope",
      `${SITE}/account/access?grant=${app.grantId}`,
    ]);
  }
  assertEquals(await rows(), before);
}

Deno.test("no writing function of a tool or its follow-up runs for a read-only app", async () => {
  const one = await connected(await openBooks(database, { day: "2026-11-20" }));
  await one.allow("read");
  const tools = await database.query<{ name: string; writes: boolean }>(
    `select p.proname as name, p.provolatile <> 's' as writes from pg_proc as p
     where p.pronamespace = 'app'::regnamespace and p.pronargs = 2 and p.proargnames[1:2] = '{context,arguments}'
     order by 1`,
  );
  const writing = tools.filter(({ writes }) => writes).map(({ name }) => name);
  for (const internal of ["import_expenses", "store_bill_amounts", "undo_change", "decide_proposal"]) {
    assert(writing.includes(internal), writing.join());
  }
  const [token] = await database.query<{ hash: string }>("select encode(token_hash, 'hex') as hash from oauth.tokens");
  for (const tool of [...writing, "no_such_tool"]) {
    for (const name of ["call_tool", "call_long_tool"]) {
      const { outcome } = await database.asService<Json>(name, {
        token_hash: token!.hash,
        resource: `${SITE}/api/mcp`,
        tool,
        arguments: {},
        at: noon(one.books),
      });
      assertEquals([name, tool, outcome], [name, tool, "insufficient_scope"]);
    }
  }
});

Deno.test("an unfinished import is neither corrected, answered nor published until its app may write again", async () => {
  const one = await connected(await openBooks(database, { day: "2026-11-20" }));
  const { data: { preview } } = await one.call("import_expenses", { csv: CSV });
  await one.allow("read");
  const { import_id } = preview;
  await refuses(one, [
    ["import_expenses", preview.commit_with],
    ["import_expenses", { import_id }],
    ["import_expenses", { import_id, corrections: [{ line: 2, name: "Other" }] }],
    ["import_expenses", { import_id, skip_lines: [2] }],
    ["import_expenses", { import_id, answers: { row_2: "same" } }],
    ["import_expenses", { import_id, commit: true }],
    ["import_expenses", { csv: CSV }],
  ]);
  await one.allow("write");
  assertEquals((await one.call("import_expenses", preview.commit_with)).ok, true);
  assertEquals((await one.call("list_expenses")).data.rows.length, 2);
});

Deno.test("a person can still use an upload link of a narrowed app, which reads and publishes nothing from the file", async () => {
  const one = await connected(await openBooks(database, { day: "2026-11-20" }));
  const { books, call } = one;
  const [before, other] = [await call("import_expenses"), await call("import_expenses")];
  await one.allow("read");
  await refuses(one, [["import_expenses", {}]]);
  const importId = before.data.upload.import_id;
  // Acts as the page does: for the person, who may write.
  const step: Step = async (args) =>
    (await database.asService<Json>("run_page_tool", {
      user_id: books.userId,
      organization_id: books.organizationId,
      tool: "import_expenses",
      arguments: { import_id: importId, ...args },
      at: noon(books),
    })).result;
  const clock = () => new Date(noon(books));
  const kept = await keepFile(step, { text: CSV, name: "november.csv", importId, warnings: [] }, clock);
  if ("problem" in kept) throw new Error(JSON.stringify(kept));
  const deadline = new Date(Date.parse(noon(books)) + 20_000);
  assertObjectMatch(await workThrough(step, { importId, clock, deadline, kept }), { state: "ready" });
  await refuses(one, [
    ["import_expenses", { import_id: importId }],
    ["import_expenses", { import_id: importId, commit: true }],
    ["import_expenses", { import_id: other.data.upload.import_id }],
  ]);
  assertEquals((await call("list_expenses")).data.rows, []);
  await one.allow("write");
  const { data: { preview } } = await call("import_expenses", { import_id: importId });
  assertEquals((await call("import_expenses", preview.commit_with)).ok, true);
});

Deno.test("an approver's read-only app can neither answer nor withdraw a proposal", async () => {
  const owner = await openBooks(database, { day: "2026-11-20" });
  const member = await connected(await owner.join());
  const approver = await connected(owner);
  await setRules(database, owner, [{}], { assistants: true });
  const { error } = await member.call("log_expenses", LUNCH);
  assertEquals(error.code, "awaiting_approval");
  const id = error.details.proposal_id;
  const { hash } = await readProposal(database, owner, id);
  const [seen] = (await approver.call("get_context")).data.proposals;
  assertEquals(seen.id, id, "it may look at it");
  await approver.allow("read");
  await refuses(
    approver,
    ["approve", "refuse"].map((decision) => ["decide_proposal", { proposal_id: id, hash, decision }] as const),
  );
  // Narrowing the approver's app keeps the member's proposal.
  assertEquals((await decide(database, owner, id, "approve", hash)).outcome, "approved");
  const second =
    (await member.call("log_expenses", { items: [{ name: "Tea", amount: "3.00" }] })).error.details.proposal_id;
  await member.allow("read");
  await refuses(member, [["decide_proposal", { proposal_id: second, hash, decision: "withdraw" }]]);
});

Deno.test("an undo, a setting and a repeated key have no effect for a narrowed app, whichever app wrote first", async () => {
  const books = await openBooks(database, { day: "2026-11-20" });
  const [one, other] = [await connected(books), await connected(books)];
  const key = { ...LUNCH, idempotency_key: "lunch-of-today" };
  const { change_id } = await other.call("log_expenses", key);
  await one.call("log_expenses", { items: [{ name: "Tea", amount: "3.00" }] });
  await one.allow("read");
  await refuses(one, [
    ["undo_change", { change_id }],
    ["undo_change", {}],
    ["log_expenses", key],
    ["update_settings", { timezone: "UTC" }],
    ["update_settings", { reminders: { email_enabled: false } }],
    ["update_settings", { category: { action: "create", name: "Hobby" }, dry_run: true }],
    ["sync_bill_amounts", {}],
  ]);
  // The other app of the same person is not narrowed.
  assertEquals((await other.call("log_expenses", key)).replayed, true);
  assertEquals((await other.call("undo_change", { change_id })).ok, true);
});
