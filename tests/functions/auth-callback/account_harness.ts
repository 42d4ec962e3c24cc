/** People with an account and a connected app, over one database. */
import { assertEquals } from "@std/assert";
import { addMember, type Json } from "../../_support/books.ts";
import { openDatabase, type TestDatabase } from "../../_support/database.ts";
import { type Browser, createPages, NOW, over, type Pages, signIn } from "./harness.ts";

/** Runs the test on an empty database with the pages over it. */
export function accountTest(name: string, run: (pages: Pages, database: TestDatabase) => Promise<void>): void {
  Deno.test(name, async () => {
    const database = await shared();
    await database.reset();
    await run(createPages(over(database)), database);
  });
}

let opened: Promise<TestDatabase> | undefined;
const shared = () => opened ??= openDatabase();
Deno.test.afterAll(async () => await (await opened)?.close());

export interface Person {
  id: string;
  browser: Browser;
}

export interface Owner extends Person {
  organizationId: string;
}

export async function newPerson(pages: Pages, database: TestDatabase, email: string): Promise<Person> {
  const { id } = pages.provider.user(email);
  await database.query("insert into auth.users (id, email) values ($1, $2)", [id, email]);
  const { browser, location } = await signIn(pages, email);
  assertEquals(location, "/onboarding");
  return { id, browser };
}

/** A person with their own organization. */
export async function onboarded(
  pages: Pages,
  database: TestDatabase,
  email = "mira@example.com",
  fields = {},
): Promise<Owner> {
  const person = await newPerson(pages, database, email);
  const page = await (await person.browser.get("/onboarding", { "accept-language": "de-DE,de;q=0.9" })).text();
  const response = await person.browser.submit(page, 'name="country"', fields);
  assertEquals([response.status, response.headers.get("location")], [303, "/account"]);
  const [organization] = await database.query<{ id: string }>(
    "select id from identity.organizations where owner_id = $1",
    [person.id],
  );
  return { ...person, organizationId: organization!.id };
}

/** A person without their own organization, in another person's one. */
export async function joined(
  pages: Pages,
  database: TestDatabase,
  { email, organizationId, role }: { email: string; organizationId: string; role: string },
): Promise<Person> {
  pages.provider.mails.length = 0;
  const person = await newPerson(pages, database, email);
  const page = await (await person.browser.get("/onboarding")).text();
  await person.browser.submit(page, 'name="country"', { country: "DE" });
  await addMember(database, organizationId, person.id, role);
  return person;
}

/** The result of a tool that a person's assistant calls. */
export async function runTool(
  { pages, database }: { pages: Pages; database: TestDatabase },
  { id, organizationId }: Pick<Owner, "id" | "organizationId">,
  tool: string,
  args: Json = {},
): Promise<Json> {
  const { result } = await database.asService<Json>("run_page_tool", {
    user_id: id,
    organization_id: organizationId,
    tool,
    arguments: args,
    at: pages.clock.now.toISOString(),
  });
  return result;
}

export const auditOf = async (database: TestDatabase) =>
  (await database.query<{ event: string }>("select event from identity.audit_events order by id")).map(({ event }) =>
    event
  );

export async function connectApp(
  database: TestDatabase,
  { userId, name }: { userId: string; name: string },
): Promise<string> {
  await database.query(
    "insert into oauth.clients (client_id, client_name, redirect_uris, created_at) values ('client_1', $1, array['https://claude.ai/api/mcp/auth_callback'], $2)",
    [name, NOW.toISOString()],
  );
  const [grant] = await database.query<{ id: string }>(
    `insert into oauth.grants (client_id, user_id, organization_id, redirect_uri, resource, created_at, expires_at)
     select 'client_1', o.owner_id, o.id, 'https://claude.ai/api/mcp/auth_callback', 'https://expenses.example/api/mcp', $2, $2::timestamptz + interval '180 days'
     from identity.organizations as o where o.owner_id = $1 returning id`,
    [userId, NOW.toISOString()],
  );
  await database.query(
    "insert into oauth.tokens (token_hash, grant_id, kind, expires_at, issued_at) values (sha256('a'), $1, 'refresh', $2::timestamptz + interval '90 days', $2)",
    [grant!.id, NOW.toISOString()],
  );
  return grant!.id;
}
