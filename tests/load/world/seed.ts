/**
 * The users of a run: organizations with several people each, one registered app, and customers before their first
 * payment. All names in an organization contain its mark, so that foreign rows are recognizable.
 */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { SqlDatabase } from "../../../local/database/sql.ts";
import { issueCode } from "../../../shared/oauth/authorization_code.ts";
import { sealCredential } from "../../../shared/credentials/envelope.ts";
import { CANARY } from "./secrets.ts";
import type { World } from "./world.ts";

export const CLIENT_ID = "client_load000000000000000000";
export const REDIRECT_URI = "http://127.0.0.1:9/callback";
export const PROVIDER = "digitalocean";
export const CREDENTIAL = `dop_v1_${CANARY}wxyz`;
/** From the payment provider's samples. */
const PLAN_ID = "plan_00000000000001";

export interface Tokens {
  access_token: string;
  refresh_token: string;
}

export interface Person {
  organization: number;
  /** Person 0 is the owner, 1 a manager, the others are members. */
  place: number;
  userId: string;
  email: string;
}

const padded = (number: number, length: number) => String(number).padStart(length, "0");
export const organizationId = (number: number): string => `org_load${padded(number, 8)}`;
/** Occurs in every text of an organization. */
export const markOf = (organization: number): string => `Qm${padded(organization, 3)}x`;
/** Every mark in a text. A mark of another organization reveals a foreign row. */
export const MARKS = /Qm(\d{3})x/g;
/** Organizations in which members' new bills need approval. */
export const needsApproval = (organization: number): boolean => organization % 4 === 0;

export const people = ({ organizations, each }: { organizations: number; each: number }): Person[] =>
  Array.from({ length: organizations * each }, (_, index) => {
    const [organization, place] = [Math.floor(index / each), index % each];
    return {
      organization,
      place,
      userId: `00000000-0000-4000-8000-${padded(organization, 6)}${padded(place, 6)}`,
      email: `${markOf(organization).toLowerCase()}.${place}@example.com`,
    };
  });

export async function addPeople(admin: SqlDatabase, everyone: readonly Person[]): Promise<void> {
  const rows = everyone.map((person) => ({
    ...person,
    organization_id: organizationId(person.organization),
    name: `${markOf(person.organization)} ${person.place === 0 ? "household" : ""}`.trim(),
    role: ["owner", "manager"][person.place] ?? "member",
    needs_approval: needsApproval(person.organization),
  }));
  const people =
    'jsonb_to_recordset($1::text::jsonb) as p ("userId" uuid, email text, organization_id text, name text, ' +
    "role text, needs_approval boolean)";
  for (
    const statement of [
      `insert into auth.users (id, email) select "userId", email from ${people}`,
      `insert into identity.profiles (user_id, email, country, timezone) select "userId", email, 'DE', 'UTC' from ${people}`,
      `insert into identity.organizations (id, name, base_currency, plan, owner_id, assistants_may_approve)
       select organization_id, name, 'EUR', 'team', "userId", true from ${people} where role = 'owner'`,
      `insert into identity.memberships (organization_id, user_id, role) select organization_id, "userId", role from ${people}`,
      `insert into app.approval_rules (organization_id, tool, roles, approver)
       select organization_id, 'add_bill', '{member}', 'manager' from ${people} where role = 'owner' and needs_approval`,
      `select app.create_default_categories(organization_id, now()) from ${people} where role = 'owner'`,
    ]
  ) await admin.query(statement, [JSON.stringify(rows)]);
  await admin.query(
    `insert into oauth.clients (client_id, client_name, redirect_uris, created_at, granted_at)
     values ($1, 'Load', array[$2], now(), now()) on conflict do nothing`,
    [CLIENT_ID, REDIRECT_URI],
  );
}

/** Organizations on the free plan, `org_cust…`, whose events the payment provider sends. */
export async function addCustomers(admin: SqlDatabase, count: number): Promise<void> {
  await admin.query(
    `insert into identity.organizations (id, name, base_currency, plan, owner_id)
     select 'org_cust' || lpad(n::text, 8, '0'), 'Customer', 'EUR', 'free', (select min(user_id::text)::uuid from identity.profiles)
     from generate_series(0, $1::int - 1) as n`,
    [count],
  );
  await admin.query("insert into billing.billing_plans (provider_plan_id, plan) values ($1, 'pro')", [PLAN_ID]);
}

/** A bill for each of the first organizations with amounts from a provider; the credential contains the canary. */
export async function addProviderLinks({ admin, secrets }: World, organizations: number): Promise<void> {
  for (let number = 0; number < organizations; number++) {
    const organization = organizationId(number);
    const today = new Date().toISOString().slice(0, 10);
    const [bill] = await admin.query<{ id: string }>(
      `insert into app.expenses (id, organization_id, kind, name, amount_mode, currency, frequency, every, anchor_on,
         weekend_rule, tracked_from, next_due, status)
       values (app.new_id('bill'), $1, 'bill', $2, 'variable', 'USD', 'monthly', 1, $3, 'none', $3, $3, 'active') returning id`,
      [organization, `${markOf(number)} hosting`, today],
    );
    await admin.query(
      `insert into app.expense_occurrences (organization_id, expense_id, scheduled_on, due_on, currency)
       values ($1, $2, $3, $3, 'USD')`,
      [organization, bill!.id, today],
    );
    const [link] = await admin.query<{ id: string }>(
      `insert into app.provider_links (organization_id, expense_id, provider_key, account_label, status, created_at)
       values ($1, $2, $3, '…wxyz', 'active', now() - interval '1 month') returning id`,
      [organization, bill!.id, PROVIDER],
    );
    const envelope = await sealCredential(secrets.credentials, link!.id, { token: CREDENTIAL });
    await admin.query(
      "insert into app.provider_credentials (link_id, envelope, updated_at) values ($1, $2::text::jsonb, now())",
      [link!.id, JSON.stringify(envelope)],
    );
  }
}

/** Tokens from the token endpoint, for codes in the consent page's form. */
export async function connectApp({ functions, secrets, site }: World, person: Person): Promise<Tokens> {
  const verifier = randomBytes(32).toString("base64url");
  const code = await issueCode([secrets.code[0]!], {
    id: randomUUID(),
    clientId: CLIENT_ID,
    redirectUri: REDIRECT_URI,
    resource: site.mcp_url,
    userId: person.userId,
    organizationId: organizationId(person.organization),
    codeChallenge: createHash("sha256").update(verifier).digest("base64url"),
    access: "write",
  }, new Date());
  const response = await fetch(`http://127.0.0.1:${functions.instanceOf("oauth").port}/api/oauth/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      code,
      code_verifier: verifier,
      client_id: CLIENT_ID,
      redirect_uri: REDIRECT_URI,
    }),
  });
  const body = await response.json();
  if (response.status !== 200) throw new Error(`No tokens: ${response.status} ${JSON.stringify(body)}`);
  return body;
}
