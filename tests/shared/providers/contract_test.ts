/**
 * Every provider against every provider scenario. A provider without a fixture fails here, and so does a fixture that
 * does not play a scenario as declared.
 */
import { LANGUAGES } from "../../../shared/words/page_words.ts";
import { assert, assertEquals, assertInstanceOf } from "@std/assert";
import { fixtureAmount, PROVIDER_FIXTURES } from "../../../local/fixtures/providers/app.ts";
import { type Outcome, type Scenario, scenarioOf, SCENARIOS } from "../../../local/fixtures/providers/scenario.ts";
import type { Month, Statement } from "../../../shared/providers/provider.ts";
import { ProviderError } from "../../../shared/providers/provider_error.ts";
import { PROVIDERS } from "../../../shared/providers/registry.ts";
import { type Providers, serveProviders } from "../../_support/providers.ts";

const { en } = LANGUAGES;

const NOW = new Date("2026-11-20T06:00:00Z");
const OCTOBER: Month = { start: "2026-10-01", end: "2026-11-01" };
const CANARY = "c4nary-s3cret";

async function withProviders(test: (providers: Providers) => Promise<void>) {
  const providers = serveProviders(NOW, [...PROVIDERS.values()].filter(({ base }) => base).map(({ key }) => key));
  try {
    await test(providers);
  } finally {
    await providers.close();
  }
}

Deno.test("every registered provider has a fixture, and every fixture a provider", () => {
  const unlike = (some: Iterable<string>, others: ReadonlyMap<string, unknown>) =>
    [...some].filter((key) => !others.has(key));
  assertEquals(unlike(PROVIDERS.keys(), PROVIDER_FIXTURES), []);
  assertEquals(unlike(PROVIDER_FIXTURES.keys(), PROVIDERS), []);
  assertEquals(unlike([...PROVIDERS.keys(), "planted"], PROVIDER_FIXTURES), ["planted"]);
  for (const [key, provider] of PROVIDERS) assertEquals([provider.key, PROVIDER_FIXTURES.get(key)!.key], [key, key]);
});

Deno.test("a provider has one adapter, one fixture and one test, each named by its key", async () => {
  const root = new URL("../../../", import.meta.url);
  for (const key of PROVIDERS.keys()) {
    for (
      const path of [
        `shared/providers/${key}.ts`,
        `local/fixtures/providers/${key}.ts`,
        `tests/shared/providers/${key}_test.ts`,
      ]
    ) {
      assert((await Deno.stat(new URL(path, root))).isFile, path);
    }
  }
});

Deno.test("a fixture's credential is valid on its provider's page, whatever its suffix", () => {
  for (const [key, provider] of PROVIDERS) {
    for (const end of ["", ...Object.keys(SCENARIOS).map((name) => `-${name}`)]) {
      const credential = PROVIDER_FIXTURES.get(key)!.credential(end);
      assertEquals(Object.keys(credential), provider.fields.map(({ name }) => name));
      for (const { name, pattern } of provider.fields) {
        assertEquals(pattern.exec(credential[name]!)?.[0], credential[name], `${key} ${name} ${end}`);
      }
    }
  }
});

Deno.test("a provider's fields explain where to find each value, and its label reveals no secret", () => {
  for (const { key, base, name, fields, label } of PROVIDERS.values()) {
    assert(/^[a-z0-9_]+$/.test(key) && name, key);
    assert(base === undefined || /^https:\/\/[\w.]+$/.test(base), key);
    assert(fields.some(({ isSecret }) => isSecret), key);
    for (const field of fields) {
      const { label, hint } = field.words(en.pages.credentials);
      assert(label && hint.length > 20 && hint.length < 250, `${key} ${field.name}`);
    }
    const credential = PROVIDER_FIXTURES.get(key)!.credential(CANARY);
    assert(label(credential).length > 0 && label(credential).length <= 80, key);
    assert(!label(credential).includes(CANARY) && !label(credential).includes("undefined"), label(credential));
    assert(label({}).length < 80, key);
  }
});

for (const provider of PROVIDERS.values()) {
  const fixture = PROVIDER_FIXTURES.get(provider.key)!;
  const amount = (secret: string) => fixtureAmount(provider.key, { secret, month: "2026-10" });
  const secretOf = (credential: Record<string, string>) =>
    credential[provider.fields.find(({ isSecret }) => isSecret)!.name]!;

  Deno.test(`${provider.name}: each month's amount is its account's, stable, and different from other months`, () =>
    withProviders(async ({ ask, requests }) => {
      const credential = fixture.credential("");
      const first = await ask(provider, { month: OCTOBER, credential }) as Statement;
      assertEquals([first.amount, first.currency], [amount(secretOf(credential)), "USD"]);
      assertEquals(await ask(provider, { month: OCTOBER, credential }), first);
      // In one request, because the default of seven days would take five.
      assertEquals([first.pages, requests.length], [1, 2]);
      for (const month of ["2026-01", "2026-02", "2026-09"]) {
        const next = month === "2026-09" ? "2026-10" : `2026-0${Number(month.at(-1)) + 1}`;
        const statement = await ask(provider, { month: { start: `${month}-01`, end: `${next}-01` }, credential });
        assertInstanceOf(statement, Object);
        assertEquals(
          (statement as Statement).amount,
          fixtureAmount(provider.key, { secret: secretOf(credential), month }),
          month,
        );
      }
      const usual = fixture.usualCents / 100;
      assert(Math.abs(Number(first.amount) - usual) <= 0.2 * usual + 0.01);
    }));

  for (const [scenario, usually] of Object.entries(SCENARIOS) as [Scenario, Outcome][]) {
    const outcome = fixture.differs[scenario] ?? usually;
    Deno.test(`${provider.name}, ${scenario}: ${outcome}`, () =>
      withProviders(async ({ ask, requests, strays }) => {
        const credential = fixture.credential(`${CANARY}-${scenario}`);
        const signal = AbortSignal.timeout(outcome === "timeout" ? 150 : 20_000);
        const answer = await ask(provider, { month: OCTOBER, credential, signal });
        assertEquals(outcomeOf(answer, amount(secretOf(credential))), outcome);
        assertEquals(strays(), 0, "a credential was sent elsewhere");
        assert(requests.length <= 50, `${requests.length} requests`);
        if (answer instanceof ProviderError) {
          const said = `${answer.message}\n${answer.stack}\n${Deno.inspect(answer)}\n${JSON.stringify(answer)}`;
          assert(!said.includes(CANARY) && answer.cause === undefined, said);
          // A second of tolerance, because servers' clocks have whole seconds.
          const wait = answer.retryAfterSeconds;
          assertEquals(wait !== undefined && Math.abs(wait - 120) <= 1, outcome === "rate_limited", String(wait));
        } else if (scenario === "paged" && fixture.differs.paged === undefined && provider.base) {
          assert(answer.pages > 1);
        }
      }));
  }
}

function outcomeOf(answer: Statement | ProviderError, usual: string): string {
  if (answer instanceof ProviderError) return answer.code;
  if (answer.currency === "EUR") return answer.amount === usual ? "other currency" : `${answer.amount} EUR`;
  if (answer.amount === usual) return "usual";
  return answer.amount === "0.00" ? "nothing" : `${answer.amount} ${answer.currency}, not ${usual}`;
}

Deno.test("the end of a credential selects the scenario, dashes or not", () => {
  assertEquals(scenarioOf("dop_v1_0123-not-ready"), "not-ready");
  assertEquals(scenarioOf("github_pat_0123_not_ready"), "not-ready");
  assertEquals(scenarioOf("sk-admin-0123"), undefined);
});
