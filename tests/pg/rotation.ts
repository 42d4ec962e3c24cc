/**
 * Replaces each secret in the three steps of docs/running.md during fifty requests a second. No request fails, and
 * afterwards the old key opens nothing. During the rollout of a step, half of the functions have it and half don't.
 */
import { assert, assertEquals, assertGreater, assertRejects } from "@std/assert";
import { signInFrom } from "../../local/sign_in.ts";
import { postgresDatabase } from "../../local/database/postgres.ts";
import { connect } from "../../local/demo/client.ts";
import { decide } from "../../local/demo/consent.ts";
import { GENERATED } from "../../local/deploy/settings.ts";
import { findForm, FormBrowser } from "../../local/form_browser.ts";
import { createFrontDoor } from "../../local/front_door/front_door.ts";
import { createFunctions, FUNCTIONS_ORIGIN, type FunctionsHandler } from "../../local/functions.ts";
import { paymentEvent } from "../../local/payment_event.ts";
import { functionEnvironment } from "../../local/environment.ts";
import { signBody } from "../../shared/billing/signature.ts";
import { readConfig } from "../../shared/config.ts";
import { keyIdOf, openCredential } from "../../shared/credentials/envelope.ts";
import { createDatabase } from "../../shared/db/client.ts";
import { createLog } from "../../shared/log.ts";
import { createDenoNetwork } from "../../shared/net/deno_network.ts";
import { createGuardedFetch } from "../../shared/net/guarded_fetch.ts";
import { refusedHosts } from "../../shared/net/guarded_url.ts";
import { signUnsubscribing } from "../../shared/reminders/unsubscribe_token.ts";
import { startStack } from "../_support/stack.ts";
import { waitFor } from "../_support/wait_for.ts";

const KEYS = Object.keys(GENERATED);
/** The duration of a step's rollout, under load. */
const ROLL_OUT_SECONDS = 1.2;
const REQUESTS_A_SECOND = 50;
const AT_ONCE = 12;
const DEMO = { email: "demo@example.com", linkId: "lnk_demo00000001", billId: "bill_demo00000009" };
// RFC 7636 appendix B.
const PKCE = {
  verifier: "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk",
  challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
};

type Secrets = Record<string, string>;
const first = (list: string) => list.split(",")[0]!;

/** The settings as in the file of a deployment. */
const secrets: Secrets = Object.fromEntries(KEYS.map((name) => [name, GENERATED[name]!()]));

const server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen() {} },
  (request, { remoteAddr }) => {
    running.requests++;
    const frontDoor = createFrontDoor({
      functionsUrl: FUNCTIONS_ORIGIN,
      secret: next(running.proofs),
      fetch: (forwarded) => next(running.instances)(forwarded),
    });
    return frontDoor(request, { address: remoteAddr.hostname });
  },
);
const SITE = `http://127.0.0.1:${server.addr.port}`;
const stack = await startStack({ args: ["--no-schedules", "--site-url", SITE], env: secrets });
const database = postgresDatabase(stack.database_url!, { max: 2 });
Deno.test.afterAll(async () => {
  await server.shutdown();
  await database.close();
  await stack.stop();
});

/** The functions as they start with these secrets. */
const failures: string[] = [];
function start(own: Secrets): FunctionsHandler {
  const config = readConfig({
    ...functionEnvironment({
      own: { ...own, RATE_LIMITS: "off" },
      db: stack.database_url!,
      demoRates: false,
      mailboxUrl: "smtp://127.0.0.1:25",
      siteUrl: SITE,
      supabaseUrl: stack.supabase_url,
      secrets: {
        publishable_key: stack.publishable_key,
        secret_key: stack.secret_key,
      } as Parameters<typeof functionEnvironment>[0]["secrets"],
    }),
    PROVIDER_BASES: `digitalocean=${stack.local_url}/providers/digitalocean`,
  }, ["siteUrl", "codeSecrets", "cronSecrets", "credentialsKeys"]);
  const log = createLog((line) => {
    const { level, ...rest } = JSON.parse(line);
    if (level === "error") failures.push(JSON.stringify(rest));
  });
  const guardedFetch = createGuardedFetch({ network: createDenoNetwork(), fetch, refusedHosts: refusedHosts(config) });
  const databaseOf = createDatabase({ url: stack.supabase_url, key: stack.secret_key });
  return createFunctions(() => ({
    config,
    database: databaseOf,
    clock: () => new Date(),
    log,
    fetch,
    guardedFetch,
  }));
}

/** The running instances, called in turn, and the keys that each caller sends. */
const running = {
  instances: [start(secrets)],
  /** The front door's secrets; several during its rollout. */
  proofs: [first(secrets.FRONT_DOOR_SECRET!)],
  signers: [secrets.PAYMENT_WEBHOOK_SECRET!],
  turn: 0,
  requests: 0,
};
const next = <Item>(items: Item[]): Item => items[running.turn++ % items.length]!;

await fillVault();
const browser = new FormBrowser(SITE);
await signInFrom({ ...stack, site_url: SITE }, { browser, page: await browser.open("/login"), email: DEMO.email });
const { client, provider } = await connect(`${SITE}/api/mcp`, {
  clientName: "Rotation",
  decide: (authorizationUrl) =>
    decide({ ...stack, site_url: SITE }, { authorizationUrl, person: { email: DEMO.email } }),
});
await client.close();
const token = provider.tokens()!.access_token;

/** The deploy command's step after the functions have the new list. */
async function fillVault(): Promise<void> {
  await database.query("select jobs.fill_vault($1, $2)", [stack.supabase_url, secrets.CRON_SECRET!]);
}

/** The secret as jobs.call_function reads it. */
async function scheduledSecret(): Promise<string> {
  const [row] = await database.query<{ secret: string }>(
    "select btrim(split_part(decrypted_secret, ',', 1)) as secret from vault.decrypted_secrets where name = 'cron_secret'",
  );
  return row!.secret;
}

/** On one line, because there may be hundreds. */
function expect(what: string, actual: unknown, expected: unknown): void {
  const [said, wanted] = [actual, expected].map((value) => JSON.stringify(value));
  if (said !== wanted) throw new Error(`${what}: ${said}`);
}

async function post(path: string, body: BodyInit, headers: Record<string, string> = {}): Promise<Response> {
  return await fetch(`${SITE}${path}`, { method: "POST", body, headers, redirect: "manual" });
}

async function callTool(tool: string, args: Record<string, unknown>) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: tool, arguments: args } });
  const response = await post("/api/mcp", body, {
    "authorization": `Bearer ${token}`,
    "content-type": "application/json",
    "accept": "application/json",
  });
  const answer = await response.text();
  expect(tool, [response.status, response.status === 200 || answer], [200, true]);
  const { result } = JSON.parse(answer);
  expect(tool, result.structuredContent.error, undefined);
  return result.structuredContent.data;
}

async function exchange(fields: Record<string, string>) {
  const response = await post("/api/oauth/token", new URLSearchParams(fields));
  const tokens = await response.json();
  expect("token", [response.status, response.status === 200 || tokens], [200, true]);
  return tokens as { access_token: string; refresh_token: string };
}

async function register(): Promise<string> {
  const metadata = { ...provider.clientMetadata, client_name: "Rotation" };
  const response = await post("/api/oauth/register", JSON.stringify(metadata), { "content-type": "application/json" });
  return (await response.json()).client_id;
}

/** Consent, code and tokens: three statements that one instance signs and another reads. */
async function authorize(clientId: string) {
  const redirect = provider.redirectUrl;
  const query = new URLSearchParams({
    response_type: "code",
    client_id: clientId,
    redirect_uri: redirect,
    code_challenge: PKCE.challenge,
    code_challenge_method: "S256",
    resource: `${SITE}/api/mcp`,
    state: crypto.randomUUID(),
  });
  const page = await browser.open(`/api/oauth/authorize?${query}`);
  const form = findForm(page, ({ buttons }) => buttons.some(({ name }) => name === "action"));
  const answered = await browser.submit(page, form, { press: "approve" });
  const code = answered.url.searchParams.get("code");
  assert(code, answered.url.href);
  return await exchange({
    grant_type: "authorization_code",
    client_id: clientId,
    code: code!,
    redirect_uri: redirect,
    code_verifier: PKCE.verifier,
  });
}

async function health(secret: string) {
  const response = await fetch(`${SITE}/api/health/jobs`, { headers: { authorization: `Bearer ${secret}` } });
  return { status: response.status, answer: await response.json() };
}

async function send(signer: string): Promise<number> {
  const event = await paymentEvent("subscription.charged", { organizationId: "org_000000000000000" });
  const body = new TextEncoder().encode(JSON.stringify(event));
  const response = await post("/api/payment/webhook", body, { "x-payment-signature": await signBody(body, signer) });
  await response.body?.cancel();
  return response.status;
}

async function sync() {
  // At most once an hour otherwise.
  await database.query("update app.provider_links set asked_at = null, ask_after = null where id = $1", [DEMO.linkId]);
  const { bills } = await callTool("sync_bill_amounts", { bill_ids: [DEMO.billId] });
  expect("amounts", bills.map(({ status }: { status: string }) => status), ["needs_review"]);
}

interface Chain {
  client_id: string;
  refresh_token?: string;
}
/** Each client takes its steps in sequence, because a new consent replaces the previous one. */
const chainsOf = async (count: number): Promise<Chain[]> =>
  (await Promise.all(Array.from({ length: count }, register))).map((client_id) => ({ client_id }));
const refreshing = await chainsOf(8);
const consenting = await chainsOf(8);

/** At most one at a time. */
const syncing = [{ client_id: "" }];

async function onChain(chains: Chain[], step: (chain: Chain) => Promise<void>): Promise<void> {
  const chain = chains.shift();
  if (!chain) return;
  await step(chain);
  chains.push(chain);
}

/** One of each, in turn; the counts are the numbers of their requests. */
const LOAD: (() => Promise<unknown>)[] = [
  () => callTool("list_expenses", {}),
  () =>
    onChain(refreshing, async (chain) => {
      const { client_id, refresh_token = (await authorize(client_id)).refresh_token } = chain;
      const fields = { grant_type: "refresh_token", client_id, refresh_token };
      const tokens = await exchange(fields);
      // Its response was lost: the retry gets the same pair from any instance.
      const again = await exchange(fields);
      expect("retry", again.refresh_token, tokens.refresh_token);
      chain.refresh_token = tokens.refresh_token;
    }),
  async () => {
    const { status, answer } = await health(await scheduledSecret());
    // 503: no job has run here yet.
    expect("health", [status === 200 || status === 503, answer.vault, answer.front_door], [true, [], "ok"]);
  },
  async () => expect("event", await send(next(running.signers)), 200),
  async () => {
    const visitor = new FormBrowser(SITE);
    const page = await visitor.open("/login");
    const form = findForm(page, ({ fields }) => "email" in fields);
    const sent = await visitor.submit(page, form, { fill: { email: `rotation-${crypto.randomUUID()}@example.com` } });
    expect("login", [sent.status, sent.url.search], [200, "?sent=1"]);
  },
  () => callTool("list_bills", {}),
  () =>
    onChain(consenting, async ({ client_id }) => {
      const { refresh_token } = await authorize(client_id);
      // A person has a maximum number of apps, so the oldest would be disconnected.
      const revoked = await post("/api/oauth/revoke", new URLSearchParams({ client_id, token: refresh_token }));
      expect("revoke", revoked.status, 200);
    }),
];

/** Sends fifty requests a second, and syncs amounts every half second, until stopped; returns the failures. */
function underLoad(): { stop(): Promise<string[]> } {
  const failed: string[] = [];
  const pending = new Set<Promise<void>>();
  const track = (work: () => Promise<unknown>) => {
    const one: Promise<void> = work().then(() => {}, (thrown) => void failed.push(String(thrown))).finally(() =>
      pending.delete(one)
    );
    pending.add(one);
  };
  const since = { at: performance.now(), requests: running.requests };
  let begun = 0;
  const timer = setInterval(() => {
    const due = (performance.now() - since.at) / 1000 * REQUESTS_A_SECOND;
    // A busy machine must not cause timeouts.
    if (running.requests - since.requests < due && pending.size < AT_ONCE) track(LOAD[begun++ % LOAD.length]!);
  }, 1000 / REQUESTS_A_SECOND);
  const amounts = setInterval(() => pending.size < AT_ONCE && track(() => onChain(syncing, sync)), 500);
  return {
    async stop() {
      for (const interval of [timer, amounts]) clearInterval(interval);
      while (pending.size > 0) await Promise.all(pending);
      return [...new Set(failed)];
    },
  };
}

/** The duration of sixty requests. */
async function rolledOut(): Promise<void> {
  const until = running.requests + ROLL_OUT_SECONDS * REQUESTS_A_SECOND;
  await waitFor(() => Promise.resolve(running.requests >= until || undefined));
}

/**
 * One edit of the file and a deployment: first half of the instances are new, then all, and then the vault is filled.
 */
async function deploy(name: string, list: string, { proofs, signers } = running): Promise<void> {
  const [old] = running.instances.slice(-1);
  secrets[name] = list;
  running.instances = [old!, start(secrets)];
  Object.assign(running, { proofs, signers });
  await rolledOut();
  running.instances = running.instances.slice(-1);
  await fillVault();
}

/** As in docs/running.md: a run of the provider sync, after which its query counts none. */
async function sealAgain(): Promise<void> {
  const response = await fetch(`${SITE}/api/cron/provider-sync`, {
    headers: { authorization: `Bearer ${await scheduledSecret()}` },
  });
  expect("provider sync", [response.status, (await response.json()).ok], [200, true]);
  const keyId = await keyIdOf(first(secrets.CREDENTIALS_KEY!));
  const sql = "select from app.provider_credentials where envelope ->> 'key_id' <> $1";
  expect("credentials of another key", (await database.query(sql, [keyId])).length, 0);
}

const opensNothing: Record<string, (old: string) => Promise<void>> = {
  async OAUTH_CODE_SECRET(old) {
    const userId = "00000000-0000-4000-8000-00000000de01";
    const statusOf = async (secret: string) => {
      const link = await signUnsubscribing([secret], { userId, sentOn: new Date().toISOString().slice(0, 10) });
      return (await browser.open(`/email/unsubscribe?t=${link}`)).status;
    };
    assertEquals([await statusOf(old), await statusOf(secrets.OAUTH_CODE_SECRET!)], [400, 200]);
  },
  CRON_SECRET: async (old) => assertEquals((await health(old)).status, 401),
  async FRONT_DOOR_SECRET(old) {
    const now = running.proofs;
    running.proofs = [old];
    assertEquals((await health(secrets.CRON_SECRET!)).answer.front_door, "wrong_secret");
    running.proofs = now;
  },
  PAYMENT_WEBHOOK_SECRET: async (old) => assertEquals(await send(old), 401),
  async CREDENTIALS_KEY(old) {
    const [{ envelope }] = await database.query<{ envelope: unknown }>(
      "select envelope from app.provider_credentials where link_id = $1",
      [DEMO.linkId],
    ) as [{ envelope: unknown }];
    await assertRejects(() => openCredential([old], DEMO.linkId, envelope));
    await openCredential([secrets.CREDENTIALS_KEY!], DEMO.linkId, envelope);
  },
};

for (const name of KEYS) {
  Deno.test(`${name} is replaced in three steps without losing one of fifty requests a second`, async () => {
    const old = secrets[name]!;
    const made = GENERATED[name]!();
    const load = underLoad();
    await deploy(name, `${old},${made}`);
    // With the new key in front, its callers change one after the other.
    const both = {
      ...running,
      ...(name === "FRONT_DOOR_SECRET" && { proofs: [old, made] }),
      ...(name === "PAYMENT_WEBHOOK_SECRET" && { signers: [old, made] }),
    };
    await deploy(name, `${made},${old}`, both);
    if (name === "FRONT_DOOR_SECRET") running.proofs = [made];
    if (name === "PAYMENT_WEBHOOK_SECRET") running.signers = [made];
    await rolledOut();
    // "Later" means that every token of the old key is used or expired, here the pending ones.
    assertEquals(await load.stop(), [], failures.slice(-5).join("\n"));
    await sealAgain();
    const last = underLoad();
    await deploy(name, made);
    assertEquals(await last.stop(), [], failures.slice(-5).join("\n"));
    await opensNothing[name]!(old);
  });
}

Deno.test("test of the test: a key that is replaced in one step loses requests", async () => {
  const load = underLoad();
  await deploy("PAYMENT_WEBHOOK_SECRET", GENERATED.PAYMENT_WEBHOOK_SECRET!());
  assertGreater((await load.stop()).length, 0);
});
