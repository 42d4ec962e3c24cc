/**
 * Many links at once: a misbehaving provider blocks no other link, the time limit holds, and no provider is called
 * twice.
 */
import { assert, assertEquals } from "@std/assert";
import { fixtureAmount, PROVIDER_FIXTURES } from "../../../local/fixtures/providers/app.ts";
import type { Scenario } from "../../../local/fixtures/providers/scenario.ts";
import { PROVIDERS } from "../../../shared/providers/registry.ts";
import { sharedDatabase } from "../../_support/database.ts";
import { serveProviders } from "../../_support/providers.ts";
import { asDatabase } from "../cron-reminders/harness.ts";
import { createSync, fakeProvider, registryOf, written } from "./harness.ts";
import { addLinkedBills, fetched, linkId } from "./linked_bills.ts";

const database = await sharedDatabase();

const NOW = new Date("2026-10-02T06:00:00Z");
const LINKS = 80;

/** The misbehaving links, and the expected report for each kind. */
const BAD: [n: number, provider: string, scenario: Scenario, code: string][] = [
  [11, "openai", "500", "upstream"],
  [42, "anthropic", "hang", "timeout"],
  [57, "digitalocean", "endless", "bad_shape"],
  [58, "github", "redirect", "bad_shape"],
  [59, "openai", "foreign-next", "bad_shape"],
  [60, "http_json", "redirect", "bad_shape"],
  [61, "vercel", "bomb", "bad_shape"],
  [70, "openai", "html", "bad_shape"],
  [71, "anthropic", "wrong", "bad_shape"],
  [72, "github", "empty", "not_ready"],
  [73, "vercel", "403", "auth"],
  [74, "digitalocean", "cut", "upstream"],
  [75, "anthropic", "circle", "bad_shape"],
  [76, "vercel", "stall", "timeout"],
  [77, "http_json", "endless", "bad_shape"],
  [78, "openai", "401", "auth"],
  [79, "github", "429", "rate_limited"],
  [80, "digitalocean", "not-ready", "not_ready"],
];

/** Links whose providers behave oddly but still return an amount. */
const ODD: [n: number, provider: string, scenario: Scenario][] = [
  [20, "openai", "paged"],
  [21, "digitalocean", "paged"],
  [22, "anthropic", "slow"],
  [23, "openai", "moved-currency"],
];

Deno.test("among 80 links, failing, hanging and hostile ones block nothing, and the run ends in time", async () => {
  await database.reset();
  const keys = [...PROVIDERS.keys()];
  const providers = serveProviders(NOW, keys.filter((key) => PROVIDERS.get(key)!.base));
  const bad = new Set(BAD.map(([n]) => n));
  const played = new Map([...ODD, ...BAD].map(([n, provider, scenario]) => [n, { provider, scenario }]));
  const bills = Array.from({ length: LINKS }, (_, index) => {
    const { provider = keys[index % keys.length]!, scenario } = played.get(index + 1) ?? {};
    return {
      provider,
      credential: PROVIDER_FIXTURES.get(provider)!.credential(`-${index + 1}${scenario ? `-${scenario}` : ""}`),
    };
  });
  await addLinkedBills(database, bills);
  try {
    const job = (now = NOW) =>
      createSync({
        database: asDatabase(database),
        now: () => now,
        fetch,
        guardedFetch: providers.guardedFetch,
        env: { PROVIDER_BASES: Object.entries(providers.bases).map(([key, base]) => `${key}=${base}`).join(",") },
      });
    const answer = await job().run();

    const good = LINKS - BAD.length;
    assertEquals([answer.ok, answer.links, answer.synced], [true, LINKS, good]);
    const expected = Object.groupBy(BAD, ([, , , code]) => code);
    assertEquals(
      Object.fromEntries(answer.errors.map(({ code, count }) => [code, count])),
      Object.fromEntries(Object.entries(expected).map(([code, links]) => [code, links!.length])),
    );
    assertEquals(providers.strays(), 0, "nobody came to where a redirect or a next page led");
    const amounts = await fetched(database);
    for (const [index, { provider, credential }] of bills.entries()) {
      const secretField = PROVIDERS.get(provider)!.fields.findLast(({ isSecret }) => isSecret)!.name;
      const amount = fixtureAmount(provider, { secret: credential[secretField]!, month: "2026-09" });
      const isTaken = !bad.has(index + 1) && played.get(index + 1)?.scenario !== "moved-currency";
      assertEquals(
        amounts.get(index + 1),
        { amount: isTaken ? amount : null, statements: bad.has(index + 1) ? 0 : 1 },
        `link ${index + 1}`,
      );
    }

    const before = await written(database);
    const asked = providers.requests.length;
    const again = await job(new Date("2026-10-02T06:01:00Z")).run();
    assertEquals(again.synced, good);
    const waits = new Set(["auth", "rate_limited"]);
    assertEquals(
      again.errors.reduce((sum, { count }) => sum + count, 0),
      BAD.filter(([, , , code]) => !waits.has(code)).length,
    );
    assert(providers.requests.length - asked < 5 * BAD.length, "only those without a statement are asked again");
    const statements = (rows: { kind?: string }[]) => rows.filter(({ kind }) => kind !== "link");
    assertEquals(statements(await written(database)), statements(before));
  } finally {
    await providers.close();
  }
});

/** Returns the same answer for every account. Each call takes this long on its own clock, which starts with a run. */
function slowProvider(ms: number) {
  let spentMs = 0;
  const asked = new Map<string, number>();
  const provider = fakeProvider("slow", async ({ credential: { account } }) => {
    asked.set(account!, (asked.get(account!) ?? 0) + 1);
    await Promise.resolve();
    spentMs += ms;
    return { amount: account!.padEnd(3, "0"), currency: "USD" };
  });
  const elapsed = () => {
    const since = spentMs;
    return () => spentMs - since;
  };
  return { asked, elapsed, registry: registryOf(provider) };
}
const slowBills = (count: number) =>
  Array.from({ length: count }, (_, index) => ({ provider: "slow", credential: { account: String(100 + index) } }));

Deno.test("a run starts no work after its time limit, and the next one continues from there", async () => {
  await database.reset();
  await addLinkedBills(database, slowBills(30));
  const { asked, elapsed, registry } = slowProvider(100);
  const run = async (seconds: number) => {
    const now = new Date(NOW.getTime() + seconds * 1000);
    return await createSync({
      database: asDatabase(database),
      registry,
      now: () => now,
      limits: { workMs: 1_000, concurrency: 2, elapsed: elapsed() },
    }).run();
  };
  const first = await run(0);
  assert(first.synced > 0 && first.synced < 30, String(first.synced));
  assertEquals(first.errors.map(({ code, count }) => [code, count]), [["left_for_next_run", 30 - first.synced]]);
  assertEquals(first.ok, true);
  let synced = first.synced;
  for (let seconds = 1; synced < 30; seconds++) synced = (await run(seconds)).synced;
  assertEquals([...asked.values()], Array(30).fill(1));
});

Deno.test("when every provider hangs, the run still ends and cuts its last links short", async () => {
  await database.reset();
  await addLinkedBills(database, slowBills(100).map(({ credential }) => ({ provider: "deaf", credential })));
  let asked = 0;
  const answer = await createSync({
    database: asDatabase(database),
    registry: registryOf(fakeProvider("deaf", () => {
      asked++;
      return new Promise(() => {});
    })),
    now: () => NOW,
    // The run's remaining time limits the last links, which would otherwise take an hour.
    limits: { workMs: 2_500, endMs: 2_900, linkMs: 3_600_000, elapsed: () => asked < 6 ? 2_400 : 2_500 },
  }).run();
  assertEquals([answer.ok, answer.synced, answer.errors.map(({ code, count }) => [code, count])], [
    true,
    0,
    [["timeout", 6], ["left_for_next_run", 94]],
  ]);
});

Deno.test("two concurrent runs share the work", async () => {
  await database.reset();
  await addLinkedBills(database, slowBills(40));
  const { asked, registry } = slowProvider(10);
  const job = () => createSync({ database: asDatabase(database), registry, now: () => NOW });
  await Promise.all([job().run(), job().run("2026-09")]);
  assertEquals([...asked.values()], Array(40).fill(1));
  assertEquals((await job().run()).synced, 40);
  assertEquals([...asked.values()], Array(40).fill(1));
});

Deno.test("an adapter that never ends, even when aborted, costs only its own link's time", async () => {
  await database.reset();
  await addLinkedBills(database, [{ provider: "deaf", credential: { account: "1" } }, ...slowBills(5)]);
  const { registry } = slowProvider(1);
  const deaf = fakeProvider("deaf", () => new Promise(() => {}));
  const answer = await createSync({
    database: asDatabase(database),
    registry: new Map([...registry, ["deaf", deaf]]),
    now: () => NOW,
    limits: { linkMs: 3_000 },
  }).run();
  assertEquals(answer.errors.map(({ code, ref }) => [code, ref]), [["timeout", linkId(1)]]);
  assertEquals(answer.synced, 5);
});

Deno.test("a run whose lease another run has taken over stores nothing", async () => {
  await database.reset();
  await addLinkedBills(database, [{ provider: "paper", credential: { account: "1" } }]);
  let now = NOW;
  const said = ["10", "11"];
  const isAsked = Promise.withResolvers<void>();
  const mayAnswer = Promise.withResolvers<void>();
  const paper = fakeProvider("paper", async () => {
    const amount = said.shift()!;
    if (amount === "10") {
      isAsked.resolve();
      await mayAnswer.promise;
    }
    return { amount, currency: "USD" };
  });
  const job = () => createSync({ database: asDatabase(database), registry: registryOf(paper), now: () => now });
  const late = job().run();
  await isAsked.promise;
  now = new Date(NOW.getTime() + 60_000);
  assertEquals((await job().run()).errors.map(({ code }) => code), ["left_for_next_run"], "the lease still holds");
  now = new Date(NOW.getTime() + 90_000);
  assertEquals((await job().run()).synced, 1);
  mayAnswer.resolve();
  assertEquals((await late).errors.map(({ code }) => code), ["lease_lost"]);
  assertEquals(await fetched(database), new Map([[1, { amount: "11.00", statements: 1 }]]));
});
