/** The outcome of calling a provider, for any behavior of the provider, its adapter or the credential. */
import { assert, assertEquals } from "@std/assert";
import { sealCredential } from "../../../shared/credentials/envelope.ts";
import { createLog } from "../../../shared/log.ts";
import { type AskDeps, type AskedLink, createAsk } from "../../../shared/providers/ask.ts";
import type { MonthRequest, Provider, Statement } from "../../../shared/providers/provider.ts";
import { ProviderError } from "../../../shared/providers/provider_error.ts";

const KEY = btoa("k".repeat(32));
const OLD_KEY = btoa("o".repeat(32));
const LINK = "lnk_00000001";
const CANARY = "c4nary-of-asking";

type Say = (request: MonthRequest) => Promise<Statement>;
const statement: Statement = { amount: "84.20", currency: "EUR", pages: 1 };

const power = (say: Say): Provider => ({
  key: "power",
  name: "Power & Light",
  base: "https://power.example",
  fields: [],
  label: () => "",
  fetchMonth: say,
});

function setUp(say: Say, more: Partial<AskDeps> = {}) {
  const lines: string[] = [];
  const ask = createAsk({
    registry: new Map([["power", power(say)]]),
    keys: [KEY],
    bases: {},
    fetch: () => Promise.reject(new Error("unexpected fetch")),
    guardedFetch: () => Promise.reject(new Error("unexpected fetch")),
    clock: () => new Date("2026-10-02T06:00:00Z"),
    log: createLog((line) => lines.push(line)),
    ...more,
  });
  return { lines, ask: (link: AskedLink, deadlineMs = 1000) => ask(link, { deadlineMs }) };
}

const link = async ({ key = KEY, sealedFor = LINK } = {}): Promise<AskedLink> => ({
  link_id: LINK,
  provider_key: "power",
  period: "2026-09-01",
  envelope: await sealCredential([key], sealedFor, { token: CANARY }),
});
const failed = (code: string, more = {}) => ({ outcome: "failed", code, provider_name: "Power & Light", ...more });

Deno.test("a statement has its currency, its due date if any, and its source", async () => {
  const asked: Pick<MonthRequest, "month" | "credential">[] = [];
  const { ask } = setUp(({ month, credential }) => {
    asked.push({ month, credential });
    return Promise.resolve(asked.length === 1 ? statement : { ...statement, dueOn: "2026-10-20" });
  });
  const answer = { outcome: "statement", amount: "84.20", currency: "EUR", provider_name: "Power & Light" };
  assertEquals(await ask(await link()), answer);
  assertEquals(await ask(await link()), { ...answer, due_on: "2026-10-20" });
  assertEquals(asked[0], { month: { start: "2026-09-01", end: "2026-10-01" }, credential: { token: CANARY } });
});

Deno.test("every provider failure is a result, with pauses in whole seconds", async () => {
  for (const code of ["auth", "not_ready", "upstream", "bad_shape", "timeout"] as const) {
    const { ask } = setUp(() => Promise.reject(new ProviderError(code, "It said no")));
    assertEquals(await ask(await link()), failed(code));
  }
  const { ask } = setUp(() => Promise.reject(new ProviderError("rate_limited", "Slowly", 11.2)));
  assertEquals(await ask(await link()), failed("rate_limited", { retry_after: 12 }));
});

Deno.test("an unknown provider, and a link without a credential, send no request", async () => {
  const { ask } = setUp(() => Promise.reject(new Error("asked")));
  assertEquals(await ask({ ...await link(), provider_key: "gas" }), { outcome: "failed", code: "no_adapter" });
  assertEquals(await ask({ ...await link(), envelope: null }), failed("auth"));
});

Deno.test("a credential of another link or unknown key, or a missing one, sends no request", async () => {
  const { ask } = setUp(() => Promise.reject(new Error("asked")));
  assertEquals(await ask(await link({ sealedFor: "lnk_00000002" })), failed("unreadable_credential"));
  assertEquals(await ask(await link({ key: OLD_KEY })), failed("unreadable_credential"));
  // deno-lint-ignore no-explicit-any -- a database might hold anything
  assertEquals(await ask({ ...await link(), envelope: "nonsense" as any }), failed("unreadable_credential"));
});

Deno.test("a credential under an earlier key is used", async () => {
  const { ask } = setUp(() => Promise.resolve(statement), { keys: [KEY, OLD_KEY] });
  assertEquals((await ask(await link({ key: OLD_KEY }))).outcome, "statement");
});

Deno.test("an adapter that never ends is abandoned at the deadline, even if it ignores the signal", async () => {
  const { ask } = setUp(() => new Promise(() => {}));
  assertEquals(await ask(await link(), 50), failed("timeout"));
  const hanging = setUp(async ({ get }) => {
    await get({ url: "/", headers: {} });
    return statement;
  }, {
    fetch: (_, init) =>
      new Promise((_, reject) => init!.signal!.addEventListener("abort", () => reject(init!.signal!.reason))),
  });
  assertEquals(await hanging.ask(await link(), 50), failed("timeout"));
});

Deno.test("an adapter's exception becomes a result, and its message appears nowhere", async () => {
  const { ask, lines } = setUp(({ credential }) => {
    throw new TypeError(`Invalid URL ${credential.token}`, { cause: new Error(credential.token) });
  });
  assertEquals(await ask(await link()), failed("defect"));
  assertEquals(lines.length, 1);
  assert(lines[0]!.includes("TypeError") && lines[0]!.includes("power") && !lines[0]!.includes(CANARY));
});
