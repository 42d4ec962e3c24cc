/** The first rates of an embedded stack: the sources' rates, otherwise a dated snapshot. */
import { assert, assertEquals } from "@std/assert";
import { functionEnvironment } from "../../local/environment.ts";
import { provideRates } from "../../local/rates/first_rates.ts";
import { SNAPSHOT_DAY, SNAPSHOT_PER_EURO } from "../../local/rates/snapshot.ts";
import { activeStandIns } from "../../local/stand_ins.ts";
import { type Config, readConfig } from "../../shared/config.ts";
import type { Database } from "../../shared/db/client.ts";
import { createLog } from "../../shared/log.ts";
import { isRate } from "../../shared/rates/rate_set.ts";
import { createRatesFixture } from "../_support/exchange_rates.ts";

const NOW = new Date("2026-11-27T17:00:00Z");
const FACTS = {
  own: {},
  db: "embedded",
  demoRates: false,
  localUrl: "http://127.0.0.1:1/x",
  mailboxUrl: "smtp://127.0.0.1:1",
};

async function start(
  { newest, isDemo = false, fetch }: { newest?: string; isDemo?: boolean; fetch: typeof globalThis.fetch },
) {
  const stored: string[] = [];
  let asked = 0;
  const answers: Record<string, unknown> = {
    read_newest_rates: { rates_on: newest ?? null, per_euro: {} },
    find_days_to_rate: [],
    settle_values: { settled: 0, next: null },
  };
  const database = {
    call: (name: string, args: Record<string, unknown>) => {
      if (name === "store_rates") stored.push(`${args.source} ${args.published_on}`);
      return Promise.resolve(answers[name] ?? { added: 1 });
    },
  } as unknown as Database;
  const config = readConfig({}, []) as Config;
  const counted = (...args: Parameters<typeof fetch>) => (asked++, fetch(...args));
  const deps = { config, database, clock: () => NOW, log: createLog(() => {}), fetch: counted as typeof fetch };
  const lacksRates = await provideRates(deps, { isDemo, onProgress: () => {} });
  return { lacksRates, stored, asked };
}

const offline = () => Promise.reject(new TypeError("no network"));
const answering = (input: URL | RequestInfo) => {
  const { pathname, search } = new URL(String(input));
  return Promise.resolve(createRatesFixture(() => NOW).request(`/ecb${pathname}${search}`));
};

Deno.test("an embedded stack queries the real sources first, and uses the snapshot only when none responds", async () => {
  assertEquals(await start({ fetch: offline }), { lacksRates: true, stored: [`snapshot ${SNAPSHOT_DAY}`], asked: 2 });
  assertEquals(await start({ fetch: answering }), { lacksRates: false, stored: ["ecb 2026-11-27"], asked: 1 });
  // With good stored rates, a start without a network doesn't wait.
  assertEquals(await start({ newest: "2026-11-24", fetch: offline }), { lacksRates: false, stored: [], asked: 0 });
  assertEquals((await start({ newest: "2026-11-20", fetch: offline })).lacksRates, true);
});

Deno.test("--demo-rates uses the snapshot and never queries a source", async () => {
  const taken = await start({ newest: "2026-11-27", isDemo: true, fetch: answering });
  assertEquals(taken, { lacksRates: true, stored: [`snapshot ${SNAPSHOT_DAY}`], asked: 0 });
  const secrets = {} as Parameters<typeof functionEnvironment>[0]["secrets"];
  const environment = (demoRates: boolean, own = {}) =>
    functionEnvironment({ ...FACTS, own, demoRates, siteUrl: "", supabaseUrl: "", secrets }).FX_SOURCES;
  assertEquals([environment(false), environment(true), environment(true, { FX_SOURCES: "ecb" })], [
    undefined,
    "none",
    "none",
  ]);
  assertEquals(readConfig({ FX_SOURCES: "none" }, []).fxSources, []);
});

Deno.test("the stand-ins include the snapshot exactly when it is used", () => {
  const rates = (facts: object) => activeStandIns({ ...FACTS, ...facts }).find(({ name }) => name === "Exchange rates");
  assertEquals(rates({ lacksRates: false }), undefined);
  for (const facts of [{ lacksRates: true }, { demoRates: true }]) assert(rates(facts)!.says.includes(SNAPSHOT_DAY));
});

Deno.test("a stack that sends mail has the usual limits, and lists no stand-in for a real payment page or real providers", () => {
  const names = (own: object) =>
    activeStandIns({ ...FACTS, own: own as Record<string, string> }).map(({ name }) => name);
  assertEquals(names({}), ["Mail", "Limits", "Bill providers", "Payments", "Database", "Platform"]);
  assertEquals(names({ MAIL_URL: "smtp://a" }), ["Bill providers", "Payments", "Database", "Platform"]);
  assertEquals(names({ CHECKOUT_URL: "https://a/{organization_id}", PROVIDER_BASES: "github=https://a" }), [
    "Mail",
    "Limits",
    "Database",
    "Platform",
  ]);
});

Deno.test("the snapshot has a plausible rate of all currencies but the three that its source lacks", () => {
  const codes = Object.keys(SNAPSHOT_PER_EURO);
  assertEquals(codes.length, 154);
  for (const [code, rate] of Object.entries(SNAPSHOT_PER_EURO)) {
    assert(/^[A-Z]{3}$/.test(code) && isRate(rate) && Number(rate) > 0, `${code} ${rate}`);
  }
  // Both are tied to the euro.
  assertEquals([SNAPSHOT_PER_EURO.XOF!.slice(0, 7), SNAPSHOT_PER_EURO.DKK!.slice(0, 4)], ["655.957", "7.47"]);
});
