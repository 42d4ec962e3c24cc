/**
 * `deno task suite fuzz`: 20,000 requests to all routes and tools of a running stack, most of them nearly valid. Every
 * response is deliberate and in time. None contains a secret or data of another organization, whose books remain
 * unchanged. `FUZZ_SEED` repeats a run, `FUZZ_REQUESTS` makes it longer.
 */
import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { TOOLS } from "../../functions/mcp/tools/mod.ts";
import { connectFor, newPerson } from "../e2e/person.ts";
import { startStack } from "../_support/stack.ts";
import { paymentEvent } from "./payment_events.ts";
import { FuzzPerson, type Sending } from "./person.ts";
import { request } from "./requests.ts";
import { hostileText } from "./texts.ts";
import { argumentsOf } from "./tool_arguments.ts";

const REQUESTS = Number(Deno.env.get("FUZZ_REQUESTS") ?? 20_000);
const SEED = Number(Deno.env.get("FUZZ_SEED") ?? Date.now() % 2 ** 31);
const ROUNDS = 20;
const SHARES = { http: 0.48, tool: 0.44, webhook: 0.04, form: 0.04 };
/** Concurrent requests, because a blocking request delays the others. */
const AT_ONCE = 4;
const DEADLINE_MS = 10_000;
/** The limit for each request, in memory and in a message. */
const MOST_SHOWN = 4000;
/** Internal words, which no request contains. */
const INTERNALS = /postgres|plpgsql|PGRST\d|SQLSTATE|\bat \S+\.tsx?:\d|node_modules/i;
const CANARY = "Zq7Canary";
const NO_FUNCTION = '{"code":"NOT_FOUND","message":"Requested function was not found"}';

Deno.test(`no request breaks in, leaks data or hangs (FUZZ_SEED=${SEED})`, async () => {
  await using stack = await startStack({ args: ["--no-demo", "--no-schedules"] });
  const stranger = await connectFor(await newPerson(stack, "stranger@example.com"), stack.mcp_url);
  const dinner = { name: `${CANARY} dinner`, amount: "84.00", payee: CANARY, note: CANARY, tags: [CANARY] };
  await stranger.call("log_expenses", { items: [dinner] });
  await stranger.call("add_bill", { name: `${CANARY} rent`, amount: "848.00", month_days: [1] });
  const readStranger = async () => [
    (await stranger.call("list_expenses")).data,
    (await stranger.call("list_bills", { status: "all" })).data,
  ];
  const before = await readStranger();
  assert(JSON.stringify(before).includes(CANARY));

  const person = await FuzzPerson.create(stack, "person@example.com");
  const secrets = () => [
    stack.secret_key,
    stack.cron_secret,
    stack.payment_webhook_secret,
    stranger.tokens().access_token,
    CANARY,
  ];
  /** Ids from responses, for later calls. */
  const ids = new Set<string>();
  const answers = new Map<string, number>();
  /** Requests by the id in their responses, under which the log lists failures. */
  const sent = new Map<string, string>();

  const check = async ({ kind, shown, send }: Sending) => {
    const startedAt = performance.now();
    const response = await send(AbortSignal.timeout(DEADLINE_MS)).catch((thrown) => {
      throw new Error(`${thrown} after ${Math.round(performance.now() - startedAt)} ms: ${shown}`);
    });
    const body = await response.text();
    const requestId = response.headers.get("x-request-id");
    if (requestId) sent.set(requestId, `${kind} ${shown.slice(0, MOST_SHOWN)}`);
    const all = body + JSON.stringify([...response.headers]);
    const told = `${response.status} ${all.slice(0, 2000)}\n${shown}`;
    assert(response.status < 500 && !body.includes('"code":"internal"'), told);
    // The front door itself refuses unserved methods, and paths that lead out of every function.
    const isNoFunction = body === NO_FUNCTION ||
      (body === "" && response.headers.get("content-length") === String(NO_FUNCTION.length));
    const isFrontDoor = response.status === 405 || isNoFunction;
    assert(response.headers.has("x-request-id") || isFrontDoor, told);
    assert(!INTERNALS.test(all) && !secrets().some((secret) => all.includes(secret)), told);
    assert(!/^(https?:)?\/\/([^/]*\.)?evil\.example/.test(response.headers.get("location") ?? ""), told);
    const answer = `${kind} ${response.status}`;
    answers.set(answer, (answers.get(answer) ?? 0) + 1);
    if (kind === "tool") body.match(/\b(?:exp|bill|pay|chg|imp)_[0-9a-z]{8,32}\b/)?.forEach((id) => ids.add(id));
  };

  const round = async (seed: number) => {
    await person.staySignedIn();
    const forms = await person.forms();
    const some = <Value>(share: number, arbitrary: fc.Arbitrary<Value>) =>
      fc.sample(arbitrary, { numRuns: Math.ceil(share * REQUESTS / ROUNDS), seed });
    const known = [...ids].slice(-200);
    const call = fc.constantFrom(...TOOLS).chain(({ listed }) =>
      fc.tuple(fc.constant(listed.name), argumentsOf(listed.inputSchema, known))
    );
    const filling = fc.tuple(
      fc.nat(),
      fc.array(fc.tuple(fc.nat(), hostileText), { maxLength: 3 }),
    );
    const queue = [
      ...some(SHARES.http, request).map((value) => person.request(value)),
      ...some(SHARES.tool, call).map(([name, args]) => person.tool(name, args)),
      ...some(SHARES.form, filling).map(([form, texts]) => forms[form % forms.length]!(texts)),
      ...await Promise.all(some(SHARES.webhook, paymentEvent).map((event) => person.webhook(event))),
    ];
    const work = async () => {
      for (let next = queue.pop(); next; next = queue.pop()) await check(next);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  };

  for (let n = 0; n < ROUNDS; n++) {
    await round(SEED + n).catch((thrown) => {
      throw new Error(`Round ${n + 1} of ${ROUNDS} failed, FUZZ_SEED=${SEED}`, { cause: thrown });
    });
  }

  // Every request was sent and passed the first checks.
  {
    // deno-lint-ignore no-console -- for the person who runs it
    console.log([...answers].toSorted().map(([answer, count]) => `${answer}: ${count}`).join("\n"));
    assert([...answers.values()].reduce((sum, count) => sum + count, 0) >= REQUESTS);
    const wanted = ["http 200", "http 303", "http 400", "http 401", "http 404", "http 405"]
      .concat("tool 200", "webhook 200", "form 303");
    assertEquals(wanted.filter((answer) => !answers.has(answer)), []);
  }
  // The other organization's books are unchanged.
  {
    assertEquals(await readStranger(), before);
  }
  // The log has no failure and no secret.
  {
    const lines = stack.log().split("\n");
    const failures = lines.filter((line) => /"event":"(failure|tool_failure|mcp_failure)"/.test(line));
    const causeOf = (line: string) => sent.get(JSON.parse(line).request_id) ?? "no request of this test";
    assertEquals(failures.map((line) => `${line}\ncaused by ${causeOf(line)}`), [], `FUZZ_SEED=${SEED}`);
    assertEquals(lines.filter((line) => [...secrets(), person.token].some((secret) => line.includes(secret))), []);
  }
});
