/** Failing sources of exchange rates: the last good rates remain, and the response reports the failure. */
import { assertEquals } from "@std/assert";
import { sharedDatabase } from "../../_support/database.ts";
import { asDatabase, createJob, ecbXml, frankfurterJson, mailService, withRates } from "./harness.ts";

const database = await sharedDatabase();

type Source = () => Response | Promise<Response>;
const xml = (day: string, rates: Record<string, string> = {}): Source => () => new Response(ecbXml(day, { rates }));
const json = (day: string, rates: Record<string, string> = {}): Source => () =>
  new Response(frankfurterJson(day, rates));

async function run(day: string, sources: { ecb?: Source; frankfurter?: Source }) {
  const job = createJob({
    database: asDatabase(database),
    fetch: withRates(mailService().fetch, sources),
    now: () => new Date(`${day}T08:00:00Z`),
    workMs: 3_000,
  });
  const { ok, fxRefreshed, errors } = await job.run();
  return { ok, fxRefreshed, problems: errors.map(({ code, ref }) => `${code} ${ref}`) };
}

const kept = () =>
  database.query(
    "select rate_on, source, rate::text as rate from app.fx_rates where quote = 'USD' order by rate_on, source",
  );
const first = [{ rate_on: "2026-11-19", source: "ecb", rate: "1.5000000000" }];

Deno.test("any fault of the first source, with the second down, keeps the last good rates", async () => {
  const faults: [string, Source, string][] = [
    ["an HTML page", () => new Response("<!doctype html><html><body>Sorry<br></body></html>"), "malformed"],
    ["nothing", () => new Response(""), "malformed"],
    ["no dollar", () => new Response(ecbXml("2026-11-20").replace(/.*'USD'.*\n/, "")), "missing_currency"],
    ["ten times the rate", xml("2026-11-20", { USD: "15" }), "jump"],
    ["a zero", xml("2026-11-20", { USD: "0" }), "not_positive"],
    ["a day to come", xml("2026-11-25"), "in_the_future"],
    ["an error", () => new Response("", { status: 500 }), "no_answer"],
    ["a redirect to nowhere", () => new Response("", { status: 302, headers: { location: "/" } }), "no_answer"],
    ["no connection", () => Promise.reject(new TypeError("refused")), "no_answer"],
    ["too much", () => new Response("x".repeat(2 * 1024 * 1024)), "no_answer"],
  ];
  for (const [name, ecb, code] of faults) {
    await database.reset();
    await run("2026-11-20", { ecb: xml("2026-11-19") });
    assertEquals(await run("2026-11-21", { ecb }), {
      ok: true,
      fxRefreshed: false,
      problems: code === "no_answer" ? ["no_answer ecb"] : [`${code} ecb`, "no_answer frankfurter"],
    }, name);
    assertEquals(await kept(), first, name);
  }
});

Deno.test("a slow source delays no other", async () => {
  await database.reset();
  const hanging: Source = () =>
    new Promise((_, reject) => setTimeout(() => reject(new DOMException("timeout", "TimeoutError")), 200));
  assertEquals(await run("2026-11-20", { ecb: hanging, frankfurter: json("2026-11-19") }), {
    ok: true,
    fxRefreshed: true,
    problems: ["no_answer ecb"],
  });
});

Deno.test("on a weekend and afterwards the same set is fetched again and already stored", async () => {
  await database.reset();
  for (const day of ["2026-11-20", "2026-11-21", "2026-11-22", "2026-11-23"]) {
    assertEquals(await run(day, { ecb: xml("2026-11-19") }), { ok: true, fxRefreshed: true, problems: [] });
  }
  assertEquals(await kept(), first);
});

Deno.test("rates older than a week are reported as stale", async () => {
  await database.reset();
  await run("2026-11-20", { ecb: xml("2026-11-19") });
  assertEquals((await run("2026-11-26", {})).problems, ["no_answer ecb"]);
  assertEquals((await run("2026-11-27", {})).problems, ["no_answer ecb", "stale 2026-11-19"]);
});

Deno.test("a jump is accepted when both sources agree", async () => {
  await database.reset();
  await run("2026-11-20", { ecb: xml("2026-11-19") });
  const both = { ecb: xml("2026-11-20", { TRY: "2.5" }), frankfurter: json("2026-11-20", { TRY: "2.51" }) };
  assertEquals(await run("2026-11-21", both), { ok: true, fxRefreshed: true, problems: ["jump ecb"] });
  assertEquals(
    await database.query(
      "select rate::text as rate, source from app.fx_rates where quote = 'TRY' and rate_on = '2026-11-20'",
    ),
    [{
      rate: "2.5000000000",
      source: "ecb",
    }],
  );
  const alone = { ecb: xml("2026-11-23", { USD: "15" }), frankfurter: json("2026-11-23", { TRY: "2.5", USD: "1.51" }) };
  assertEquals(await run("2026-11-24", alone), { ok: true, fxRefreshed: true, problems: ["jump ecb"] });
  assertEquals((await kept()).at(-1), { rate_on: "2026-11-23", source: "frankfurter", rate: "1.5100000000" });
});
