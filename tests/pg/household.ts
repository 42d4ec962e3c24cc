/** A person, their organization and a client that can get tokens: the minimum for tools and tokens. */
import type { TestDatabase } from "../_support/database.ts";

export const AT = "2026-11-20T10:00:00Z";
export const RESOURCE = "https://expenses.example/api/mcp";

export interface Household {
  userId: string;
  organizationId: string;
  clientId: string;
  /** Arguments of `redeem_authorization_code` for an unused code, all except the token hashes. */
  newCode(): Record<string, unknown>;
}

/** SHA-256 in hex in place of a secret, which the database never sees. */
export const newHash = () => crypto.randomUUID().replaceAll("-", "").repeat(2);

/** Signs up a person; returns the arguments of their onboarding. */
export async function newPerson(database: TestDatabase): Promise<Record<string, unknown> & { user_id: string }> {
  const userId = crypto.randomUUID();
  const email = `${userId}@example.com`;
  await database.query("insert into auth.users (id, email) values ($1, $2)", [userId, email]);
  return {
    user_id: userId,
    email,
    country: "DE",
    organization_name: "Household",
    timezone: "Europe/Berlin",
    base_currency: "EUR",
    reminder_email: email,
    at: AT,
  };
}

export async function createHousehold(database: TestDatabase): Promise<Household> {
  const person = await newPerson(database);
  const onboarded = await database.asService<{ organization_id: string }>("complete_onboarding", person);
  const clientId = `client_${crypto.randomUUID()}`;
  const redirectUri = "https://client.example/callback";
  const registration = { client_id: clientId, client_name: "Client", redirect_uris: [redirectUri], at: AT };
  await database.asService("register_client", registration);
  return {
    userId: person.user_id,
    organizationId: onboarded.organization_id,
    clientId,
    newCode: () => ({
      code_id: crypto.randomUUID(),
      code_expires_at: "2026-11-20T10:10:00Z",
      client_id: clientId,
      redirect_uri: redirectUri,
      user_id: person.user_id,
      organization_id: onboarded.organization_id,
      resource: RESOURCE,
      at: AT,
    }),
  };
}

/** Redeems a new code; returns the hash of the access token. */
export async function signIn(
  database: TestDatabase,
  household: Household,
  accessTokenHash = newHash(),
): Promise<string> {
  await database.asService("redeem_authorization_code", {
    ...household.newCode(),
    access_token_hash: accessTokenHash,
    refresh_token_hash: newHash(),
  });
  return accessTokenHash;
}
