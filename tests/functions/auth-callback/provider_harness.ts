/** Two test-only bill providers, people with bills, and the pages over both. */
import { assert, assertEquals } from "@std/assert";
import { openCredential } from "../../../shared/credentials/envelope.ts";
import { createCredentialStore } from "../../../shared/db/credential_store.ts";
import { ProviderError } from "../../../shared/providers/provider_error.ts";
import type { Provider } from "../../../shared/providers/provider.ts";
import type { Registry } from "../../../shared/providers/registry.ts";
import { addMember } from "../../_support/books.ts";
import { openDatabase, type TestDatabase } from "../../_support/database.ts";
import { type Browser, createPages, formsOf, NOW, over, type Pages, signIn } from "./harness.ts";

export const CANARY = "canary-7f3a91-credential";

const meter: Provider = {
  key: "meter",
  name: "Meter & Sons",
  base: "https://api.meter.example",
  fields: [
    {
      name: "account",
      words: () => ({ label: "Account number", hint: "On every invoice." }),
      isSecret: false,
      pattern: /(\d{1,9})?/,
    },
    {
      name: "key",
      words: () => ({ label: "Reading key", hint: "Under Settings, Keys. It needs the right to read invoices." }),
      isSecret: true,
      pattern: /[\w-]{8,60}/,
    },
  ],
  label: ({ key }) => `Meter …${key!.slice(-4)}`,
  async fetchMonth({ month, credential, get }) {
    const headers = { authorization: `Bearer ${credential.key}` };
    const answer = await get({ url: `/usage?month=${month.start}&account=${credential.account ?? ""}`, headers });
    const { amount } = await answer.json() as { amount?: string };
    if (amount === undefined) throw new ProviderError("bad_shape", "There is no amount in the answer");
    if (amount === "defect") throw new TypeError(`cannot make an amount of ${credential.key}`);
    if (amount === "") throw new ProviderError("not_ready", "The month is not closed");
    return { amount, currency: "EUR", pages: 1 };
  },
};

const waterworks: Provider = { ...meter, key: "waterworks", name: "Waterworks", base: "https://api.water.example" };

export const REGISTRY: Registry = new Map([meter, waterworks].map((provider) => [provider.key, provider]));

/** Pages whose providers accept every credential. */
export function createProviderPages(database: TestDatabase, overrides: Parameters<typeof createPages>[1] = {}): Pages {
  const pages = createPages(over(database), overrides, REGISTRY);
  pages.ask.answer = () => Response.json({ amount: "12.50" });
  return pages;
}

export interface Household {
  browser: Browser;
  userId: string;
  organizationId: string;
  /** A variable bill of the organization. */
  billId: string;
}

let made = 0;

/** A signed-in person with an organization on the Team plan and one variable bill. */
export async function openHousehold(
  pages: Pages,
  database: TestDatabase,
  email = "mira@example.com",
): Promise<Household> {
  const { id: userId } = pages.provider.user(email);
  const id = (prefix: string) => `${prefix}_${String(++made).padStart(12, "0")}`;
  const [organizationId, billId] = [id("org"), id("bill")];
  await database.query("insert into auth.users (id, email) values ($1, $2)", [userId, email]);
  await database.query("insert into identity.profiles (user_id, email, country) values ($1, $2, 'DE')", [
    userId,
    email,
  ]);
  await database.query(
    "insert into identity.organizations (id, name, base_currency, plan, owner_id) values ($1, 'Home of ' || $2, 'EUR', 'team', $3)",
    [organizationId, email, userId],
  );
  await addMember(database, organizationId, userId, "owner");
  await addBill(database, { organizationId, billId });
  return { browser: (await signIn(pages, email)).browser, userId, organizationId, billId };
}

export const addBill = (
  database: TestDatabase,
  { organizationId, billId, name = "Power", amountMode = "variable", status = "active" }: {
    organizationId: string;
    billId: string;
    name?: string;
    amountMode?: "fixed" | "variable";
    status?: string;
  },
) =>
  database.query(
    `insert into app.expenses
       (id, organization_id, kind, name, amount_mode, amount_minor, currency, frequency, every, anchor_on, weekend_rule, tracked_from, status)
     values ($1, $2, 'bill', $3, $4, case when $4 = 'fixed' then 1000 end, 'EUR', 'monthly', 1, '2026-01-05', 'none', '2026-01-05', $5)`,
    [billId, organizationId, name, amountMode, status],
  );

export const connectPath = (billId: string, provider = "meter") =>
  `/account/providers/connect?bill=${billId}${provider && `&provider=${provider}`}`;

/** Opens the form and submits it. */
export async function connect(
  { browser, billId }: Pick<Household, "browser" | "billId">,
  { provider = "meter", key = CANARY }: { provider?: string; key?: string } = {},
): Promise<Response> {
  const page = await (await browser.get(connectPath(billId, provider))).text();
  return await browser.submit(page, "credential_key", { credential_key: key });
}

/** The same, for tests of the next steps. */
export async function connected(household: Household, asked: Parameters<typeof connect>[1] = {}): Promise<string> {
  const response = await connect(household, asked);
  assertEquals(response.status, 303, await response.text());
  return response.headers.get("location")!;
}

export interface LinkRow {
  id: string;
  bill: string;
  provider_key: string;
  account_label: string;
  status: string;
  has_credential: boolean;
}

/** All links, ended ones first. */
export const linksOf = (database: TestDatabase) =>
  database.query<LinkRow>(
    `select l.id, l.expense_id as bill, l.provider_key, l.account_label, l.status, c.link_id is not null as has_credential
     from app.provider_links as l left join app.provider_credentials as c on c.link_id = l.id order by l.status <> 'revoked', l.created_at, l.id`,
  );

export const eventsOf = async (database: TestDatabase) =>
  (await database.query<{ event: string }>("select event from identity.audit_events order by id")).map(({ event }) =>
    event
  );

/** The hidden field's value that ties a form to a person. */
export const tokenOf = (page: string) => formsOf(page).find(({ fields }) => fields.form_token)!.fields.form_token!;
export { NOW };

let opened: Promise<TestDatabase> | undefined;
Deno.test.afterAll(async () => await (await opened)?.close());

export interface Given {
  pages: Pages;
  database: TestDatabase;
  household: Household;
}

export const read = async (response: Promise<Response>) => {
  const answered = await response;
  return { status: answered.status, page: await answered.text(), headers: answered.headers };
};

/** The decrypted credential that the database stores for a link. */
export async function storedCredential({ pages, database }: Given, linkId: string) {
  const envelopes = await createCredentialStore(over(database)).readCredentials([linkId]);
  return await openCredential(pages.config.credentialsKeys, linkId, envelopes.get(linkId));
}

export async function assertNothingSaved(database: TestDatabase): Promise<void> {
  assertEquals(await linksOf(database), []);
  assertEquals(await eventsOf(database), []);
}

/** Runs the test on an otherwise empty database with one household. */
export function providerTest(
  name: string,
  run: (given: Given) => Promise<void>,
  config: Parameters<typeof createProviderPages>[1] = {},
): void {
  Deno.test(name, async () => {
    const database = await (opened ??= openDatabase());
    await database.reset();
    const pages = createProviderPages(database, config);
    const household = await openHousehold(pages, database);
    await run({ pages, database, household });
    assert(!pages.log.join().includes(CANARY), "the credential is in the log");
  });
}
