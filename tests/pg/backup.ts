/** A backup restored into another database is complete, and the service continues from it. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { GENERATED } from "../../local/deploy/settings.ts";
import { readMigrations } from "../../local/database/migrations.ts";
import { postgresDatabase } from "../../local/database/postgres.ts";
import { freePort } from "../_support/free_port.ts";
import { newMigratedDatabase } from "../_support/new_database.ts";
import { findBinaries } from "../_support/server.ts";
import { signIn, startStack } from "../_support/stack.ts";
import { connectFor, type Json, personOf } from "../e2e/person.ts";

const ROOT = new URL("../../", import.meta.url).pathname;
const EMAIL = "demo@example.com";
const PASSWORD = "the-password-of-the-database";
const serverUrl = Deno.env.get("TEST_DATABASE_URL")!;
const folder = await Deno.makeTempDir({ prefix: "expense-backup-" });
const file = join(folder, "books.dump");
const { folder: bin } = await findBinaries();
Deno.test.afterAll(() => Deno.remove(folder, { recursive: true }));

const newUrl = async () => (await newMigratedDatabase(serverUrl, await readMigrations())).url;

async function backup(url: string, ...args: string[]) {
  const target = new URL(url);
  target.password = PASSWORD;
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["task", "--quiet", "backup", "--", ...args],
    cwd: ROOT,
    env: { DATABASE_URL: target.href, NO_COLOR: "1", PATH: `${bin}:${Deno.env.get("PATH")}` },
    stdin: "null",
  }).output();
  return { code, text: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
}

const using = async <Result>(url: string, work: (database: ReturnType<typeof postgresDatabase>) => Promise<Result>) => {
  const database = postgresDatabase(url, { max: 1 });
  return await work(database).finally(() => database.close());
};

/** Every table of ours with a digest of its rows, and the counters. */
const contentOf = (url: string): Promise<Record<string, string>> =>
  using(url, async (database) => {
    const tables = await database.query<{ name: string }>(
      `select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname in ('app', 'billing', 'identity', 'jobs', 'oauth') or tablename = 'users' order by 1`,
    );
    const content: Record<string, string> = {};
    for (const { name } of tables) {
      const [row] = await database.query<{ rows: string }>(
        `select count(*) || ' ' || coalesce(md5(string_agg(t::text, '' order by t::text)), '') as rows from ${name} as t`,
      );
      content[name] = row!.rows;
    }
    const [row] = await database.query<{ all: string }>(
      "select string_agg(sequencename || ' ' || coalesce(last_value, 0), ', ' order by sequencename) as all from pg_sequences",
    );
    return { ...content, sequences: row!.all };
  });

/** The data that an assistant reads. */
async function readBooks(call: (name: string, args?: Record<string, unknown>) => Promise<Json>) {
  return [await call("list_expenses", { limit: 100 }), await call("list_bills"), await call("summarize_spending")];
}

const lunch = (name: string) => ({ items: [{ amount: "14.50", name }] });

Deno.test({
  name: "people, books, apps and credentials work in the restored database",
  async fn() {
    // The same as on the platform, whose `postgres` may set it.
    const admin = new URL(serverUrl);
    admin.username = "supabase_admin";
    admin.pathname = "/postgres";
    await using(admin.href, (database) => database.exec("grant set on parameter session_replication_role to postgres"));

    const port = freePort();
    const env = Object.fromEntries(Object.entries(GENERATED).map(([name, make]) => [name, make()]));
    const args = ["--port", String(port), "--no-schedules", "--db"];
    const oldUrl = await newUrl();
    const old = await startStack({ args: [...args, oldUrl], env });
    const client = await connectFor(personOf(old, EMAIL), old.mcp_url);
    assertEquals((await client.call("log_expenses", lunch("Before the backup"))).error, undefined);
    const books = await readBooks(client.call);
    await client.client.close();
    const { access_token: token } = client.tokens();
    await old.stop();

    const saved = await backup(oldUrl, "save", file);
    assertEquals(saved.code, 0, saved.text);
    assertEquals((await Deno.stat(file)).mode! & 0o777, 0o600);
    const url = await newUrl();
    const restored = await backup(url, "restore", file);
    assertEquals(restored.code, 0, restored.text);
    assertMatch(restored.text, /Restored: \d (person|people) and \d organizations?\./);
    assertEquals(await contentOf(url), await contentOf(oldUrl));

    const again = await backup(url, "restore", file);
    assertEquals(again.code, 1);
    assertMatch(again.text, /already.*new project/);
    assertEquals((await backup(oldUrl, "save", file)).code, 1, "a backup was written over");

    await using stack = await startStack({ args: [...args, url, "--no-demo"], env });
    const call = async (name: string, args: Record<string, unknown> = {}): Promise<Json> => {
      const response = await fetch(stack.mcp_url, {
        method: "POST",
        headers: { authorization: `Bearer ${token}`, "content-type": "application/json", accept: "application/json" },
        body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name, arguments: args } }),
      });
      return (await response.json()).result.structuredContent;
    };
    assertEquals(await readBooks(call), books);
    // Ids and counters continue, triggers work again, and the encrypted credential opens.
    assertEquals((await call("log_expenses", lunch("After it"))).error, undefined);
    await using(url, (database) => database.exec("update app.provider_links set asked_at = null, ask_after = null"));
    const synced = await call("sync_bill_amounts", { bill_ids: ["bill_demo00000009"] });
    assertEquals(synced.data.bills[0].status, "needs_review", JSON.stringify(synced));
    const { page } = await signIn(stack, EMAIL);
    assertEquals(page.url.pathname, "/account");
  },
});

Deno.test("a truncated backup or one of another schema changes nothing and reveals no password", async () => {
  const url = await newUrl();
  const before = await contentOf(url);
  const bytes = await Deno.readFile(file);
  const broken = join(folder, "broken.dump");
  await Deno.writeFile(broken, bytes.subarray(0, bytes.length - 20_000));
  const { code, text } = await backup(url, "restore", broken);
  assertEquals(code, 1, text);
  assertEquals(await contentOf(url), before);

  await using(url, (database) => database.exec("alter table identity.organizations drop column name cascade"));
  const other = await backup(url, "restore", file);
  assertEquals(other.code, 1, other.text);
  assertMatch(other.text, /psql: .*name/);
  const [left] = await using(url, (database) => database.query("select from app.payments limit 1"));
  assertEquals(left, undefined);
  for (const said of [text, other.text]) assert(!said.includes(PASSWORD), said);
});
