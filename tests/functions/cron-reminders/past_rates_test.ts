/** Rates of past days that the books need: fetched by day, stored, and applied to waiting payments. */
import { assert, assertEquals } from "@std/assert";
import { sharedDatabase } from "../../_support/database.ts";
import { addDueBills } from "./due_bills.ts";
import { asDatabase, centralBanksJson, createJob, ecbXml, frankfurterJson, mailService, withRates } from "./harness.ts";

const database = await sharedDatabase();

type Past = (url: string) => Response | Promise<Response>;

async function run(today: string, past: Past) {
  const asked: string[] = [];
  const job = createJob({
    database: asDatabase(database),
    fetch: withRates(mailService().fetch, {
      ecb: () => new Response(ecbXml(today)),
      past: (url) => {
        asked.push(url.replace("https://api.frankfurter.dev/", ""));
        return past(url);
      },
    }),
    now: () => new Date(`${today}T08:00:00Z`),
    workMs: 20_000,
  });
  const { ok, errors } = await job.run();
  return { ok, asked, problems: errors.map(({ code, ref }) => `${code} ${ref}`) };
}

const dayOf = (url: string) => /\d{4}-\d{2}-\d{2}/.exec(url)![0];
/** Both sources, with their own rates for the day. */
const both = (rates: Record<string, string> = {}): Past => (url) =>
  new Response(url.includes("/v2/") ? centralBanksJson(dayOf(url), rates) : frankfurterJson(dayOf(url)));

async function open(owners = 2) {
  await database.reset();
  await addDueBills(database, { owners, each: 0, today: "2026-11-20" });
}

let count = 0;
async function pay(day: string, currency: string, { owner = 1, deleted = false } = {}) {
  const id = String(++count).padStart(12, "0");
  const organization = `org_${String(owner).padStart(12, "0")}`;
  await database.query("insert into app.expenses (id, organization_id, kind, name) values ($1, $2, 'one_off', 'A')", [
    `exp_${id}`,
    organization,
  ]);
  await database.query(
    `insert into app.payments (organization_id, expense_id, amount_minor, currency, paid_on, deleted_at)
       values ($1, $2, 3000, $3, $4, case when $5::boolean then now() end)`,
    [organization, `exp_${id}`, currency, day, deleted],
  );
}

const values = () =>
  database.query(
    "select currency, base_minor, fx_rate_on, fx_source, is_final from app.payments order by paid_on, recorded_seq",
  );
const settled = async () =>
  (await database.query("select day from app.fx_days where settled_at is not null order by day")).map(({ day }) => day);

Deno.test("a backdated payment gets its day's rate in every organization, fetched once", async () => {
  await open();
  await pay("2024-02-29", "USD");
  await pay("2024-02-29", "AED", { owner: 2 });
  await pay("2019-06-03", "TWD", { owner: 2 });
  await pay("2023-01-02", "EUR");
  await pay("2022-01-03", "USD", { deleted: true });
  assertEquals((await values()).map(({ base_minor, is_final }) => [base_minor, is_final]), [
    [null, false],
    [null, false],
    [3000, true],
    [null, false],
    [null, false],
  ]);
  const { ok, asked, problems } = await run("2026-11-20", both({ AED: "4", TWD: "30" }));
  assertEquals([ok, problems], [true, []]);
  assertEquals(
    asked,
    ["2026-11-19", "2024-02-29", "2019-06-03"].flatMap((day) => [
      `v1/${day}?base=EUR`,
      `v2/rates?base=EUR&date=${day}`,
    ]),
  );
  assertEquals((await values()).filter(({ currency }) => currency !== "EUR"), [
    { currency: "TWD", base_minor: 100, fx_rate_on: "2019-06-03", fx_source: "central_banks", is_final: true },
    // Deleted payments need no rate.
    { currency: "USD", base_minor: null, fx_rate_on: null, fx_source: null, is_final: false },
    { currency: "USD", base_minor: 2000, fx_rate_on: "2024-02-29", fx_source: "frankfurter", is_final: true },
    { currency: "AED", base_minor: 750, fx_rate_on: "2024-02-29", fx_source: "central_banks", is_final: true },
  ]);
  assertEquals((await run("2026-11-20", both())).asked, []);
  await pay("2024-02-29", "KWD");
  assertEquals((await values()).at(-1)!.is_final, true);
  assertEquals((await run("2026-11-20", both())).asked, []);
});

Deno.test("a settled value ignores later changes of the sources", async () => {
  await open();
  await pay("2024-02-29", "AED");
  await run("2026-11-20", both({ AED: "4" }));
  const before = await values();
  await database.query("update app.fx_rates set rate = 9 where quote = 'AED'");
  await database.query("update app.payments set note = 'seen', amount_minor = amount_minor");
  await run("2026-11-21", both({ AED: "9" }));
  assertEquals(await values(), before);
});

Deno.test("a day without rates is settled with the latest earlier ones", async () => {
  await open();
  await pay("2026-11-15", "USD");
  await pay("2026-11-15", "AED");
  // A Sunday: both sources return Friday's rates.
  await run("2026-11-20", (url) => both({ AED: "4" })(url.replace("2026-11-15", "2026-11-13")));
  assertEquals(await values(), [
    { currency: "USD", base_minor: 2000, fx_rate_on: "2026-11-13", fx_source: "frankfurter", is_final: true },
    { currency: "AED", base_minor: 750, fx_rate_on: "2026-11-13", fx_source: "central_banks", is_final: true },
  ]);
});

Deno.test("a day that no source knows leaves its payments without a value permanently", async () => {
  await open();
  await pay("2017-05-02", "AED");
  const { problems } = await run("2026-11-20", () => new Response("", { status: 404 }));
  assertEquals(problems, []);
  assertEquals((await values()).map(({ base_minor, is_final }) => [base_minor, is_final]), [[null, true]]);
});

Deno.test("any fault of a source leaves the day for the next run, and never a wrong value", async () => {
  const reference = (url: string) => new Response(frankfurterJson(dayOf(url)));
  const faults: [string, Past, string][] = [
    ["an error", () => new Response("", { status: 500 }), "no_answer"],
    ["too many requests", () => new Response("", { status: 429 }), "no_answer"],
    ["no connection", () => Promise.reject(new TypeError("refused")), "no_answer"],
    ["an HTML page", () => new Response("<html><br></html>"), "malformed"],
    ["too much", () => new Response(`[${" ".repeat(64 * 1024)}]`), "no_answer"],
    ["another base", (url) => new Response(centralBanksJson(dayOf(url)).replaceAll("EUR", "USD")), "malformed"],
    ["a day to come", () => new Response(centralBanksJson("2026-12-24")), "in_the_future"],
    ["zero", (url) => new Response(centralBanksJson(dayOf(url), { AED: "0" })), "not_positive"],
    ["a wrong dollar", (url) => new Response(centralBanksJson(dayOf(url), { USD: "15" })), "disagrees"],
    ["few currencies", (url) => new Response(frankfurterAsList(dayOf(url))), "too_few"],
  ];
  for (const [name, fault, code] of faults) {
    await open();
    await pay("2024-02-29", "AED");
    const { ok, problems } = await run("2026-11-20", (url) => url.includes("/v2/") ? fault(url) : reference(url));
    assertEquals([ok, new Set(problems)], [true, new Set([`${code} central_banks`])], name);
    assertEquals((await values())[0]!.base_minor, null, name);
    assertEquals(await settled(), [], name);
    await run("2026-11-21", both({ AED: "4" }));
    assertEquals((await values())[0]!.base_minor, 750, name);
  }
});

const frankfurterAsList = (day: string) =>
  JSON.stringify(
    ["USD", "GBP", "JPY", "AED"].map((quote) => ({ date: day, base: "EUR", quote, rate: 1.5 })),
  );

Deno.test("a source that is down is queried once per run, and a day is abandoned only after ten days", async () => {
  await open();
  const waiting = ["2024-01-02", "2024-01-03", "2024-01-04"];
  for (const day of waiting) await pay(day, "AED");
  const down: Past = () => new Response("", { status: 503 });
  const first = await run("2026-11-20", down);
  assertEquals([first.asked.length, first.problems], [2, ["no_answer frankfurter"]]);
  // The least recently requested days come first, so no day keeps the others waiting.
  const second = await run("2026-11-20", down);
  assertEquals(dayOf(second.asked[0]!), "2024-01-04");
  for (let runs = 0; runs < 24; runs++) await run("2026-11-20", down);
  assertEquals(await settled(), []);
  for (let day = 21; day < 29; day++) {
    for (let runs = 0; runs < 4 + day - 20; runs++) await run(`2026-11-${day}`, down);
  }
  assertEquals(await settled(), []);
  for (let runs = 0; runs < 13; runs++) await run("2026-11-29", down);
  assertEquals(await settled(), waiting);
});

Deno.test("a run requests at most sixty days, and later runs request the rest", async () => {
  await open(1);
  const days = Array.from({ length: 70 }, (_, n) => new Date(Date.UTC(2024, 0, 1 + n)).toISOString().slice(0, 10));
  for (const day of days) await pay(day, "AED");
  assertEquals((await run("2026-11-20", both({ AED: "4" }))).asked.length, 120);
  assertEquals((await run("2026-11-20", both({ AED: "4" }))).asked.length, 22);
  assert((await values()).every(({ base_minor }) => base_minor === 750));
});
