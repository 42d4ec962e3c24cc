import { assert, assertEquals } from "@std/assert";
import { Hono } from "hono";
import { admission } from "../../../shared/http/admission.ts";
import { type AppEnv, createApp, note } from "../../../shared/http/app.ts";
import { outsidePlace } from "../../../shared/http/place.ts";
import { readText } from "../../../shared/http/read_body.ts";
import { createLog } from "../../../shared/log.ts";
import { hashToken } from "../../../shared/oauth/tokens.ts";
import { fakeTimer, settled } from "../../_support/fake_timer.ts";

const LIMITS = { places: 2, unproven: 2, waiting: 4, waitMs: 10_000 };
const SECRET = "the-front-door-the-front-door-the-front-door";
const SITE = "https://expenses.example";
const tokenOf = (letter: string) => `exp_at_${letter.repeat(43)}`;
const as = (letter: string) => ({ authorization: `Bearer ${tokenOf(letter)}` });
const from = (address: string) => ({ "x-forwarded-for": address });

/** An app whose requests end when released. A token's letter is its organization, and "z" is invalid. */
function slowApp(limits: Partial<typeof LIMITS & { short: number; long: number }> = {}) {
  const lines: string[] = [];
  const running: { of: string; end: () => void }[] = [];
  const { timer, pass } = fakeTimer();
  const app = createApp("payment-webhook", {
    config: { siteUrl: SITE, frontDoorSecrets: [SECRET] },
    log: createLog((line) => lines.push(line)),
  });
  app.use(admission({ frontDoorSecrets: [SECRET] }, { limits: { ...LIMITS, ...limits }, timer }));
  const prove = (c: Parameters<typeof note>[0]) => {
    const token = c.req.header("authorization")?.replace("Bearer ", "");
    if (!token || token.endsWith("z")) return;
    c.set("tokenHash", hashToken(token));
    note(c, { organization_id: `org_${token.at(-1)}` });
  };
  app.all("/slow", async (c) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const of = c.req.header("x-name") ?? "";
    running.push({ of, end: resolve });
    await promise;
    prove(c);
    return c.text(of);
  });
  app.all("/fast", (c) => {
    prove(c);
    return c.text("fast");
  });
  app.post("/long", async (c) => c.text(`${(await readText(c, 1_000_000)).length}`));
  const answered: string[] = [];
  const send = async (name: string, headers: Record<string, string> = {}) => {
    const response = await app.request(`${SITE}/slow`, { headers: { "x-name": name, ...headers } });
    answered.push(`${name} ${response.status}`);
    return response;
  };
  /** A request whose body arrives on the test's command. */
  const post = (path: string, headers: Record<string, string> = {}) => {
    let controller!: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({ start: (opened) => void (controller = opened) });
    const answer = app.request(`${SITE}${path}`, { method: "POST", headers, body });
    const request = { controller, answer, status: 0 };
    void Promise.resolve(answer).then(({ status }) => request.status = status);
    return request;
  };
  /** Ends requests in the order in which they began. */
  const finish = async () => {
    for (let ended = 0; ended < running.length; ended++) {
      running[ended]!.end();
      await settled();
    }
  };
  const ask = async (headers: Record<string, string> = {}) => (await app.request(`${SITE}/fast`, { headers })).status;
  return { app, send, post, ask, running, answered, finish, pass, lines };
}

Deno.test("excess requests get 503 with Retry-After and one log line", async () => {
  const { send, finish, lines } = slowApp();
  const others = Array.from({ length: 6 }, () => send("other"));
  await settled();
  const shed = await send("late");
  assertEquals([shed.status, (await shed.json()).error.code], [503, "overloaded"]);
  const seconds = Number(shed.headers.get("retry-after"));
  assert(seconds >= 1 && seconds <= 3);
  assert(shed.headers.has("x-request-id"));
  assertEquals(lines.map((line) => JSON.parse(line).event), ["request"]);
  await finish();
  assertEquals((await Promise.all(others)).map(({ status }) => status), [200, 200, 200, 200, 200, 200]);
});

Deno.test("an organization with many requests and tokens does not delay others' turns", async () => {
  const { send, ask, running, finish } = slowApp({ waiting: 20 });
  for (const letter of "ab") await ask(as(letter));
  const all = [..."aaaaaaaa", "b"].map((letter) => send(letter, as(letter)));
  await settled();
  await finish();
  await Promise.all(all);
  const order = running.map(({ of }) => of).join("");
  assert(/^aaa?b/.test(order), order);
});

Deno.test("requests with invented tokens share the turn of their address", async () => {
  const { send, running, finish } = slowApp({ waiting: 20 });
  const all = [
    ...Array.from(
      { length: 8 },
      (_, n) => send("attacker", { ...from("192.0.2.1"), authorization: `Bearer exp_at_${`${n}`.repeat(42)}z` }),
    ),
    send("somebody", from("192.0.2.2")),
  ];
  await settled();
  await finish();
  await Promise.all(all);
  assertEquals(running.map(({ of }) => of).indexOf("somebody"), 3);
});

Deno.test("forty addresses with invented tokens leave places to a previously accepted token", async () => {
  const { send, ask, running, finish } = slowApp({ places: 4, unproven: 2, waiting: 20 });
  await ask(as("a"));
  const invented = Array.from({ length: 40 }, (_, n) => send("attacker", { ...from(`192.0.2.${n}`), ...as("z") }));
  await settled();
  assertEquals([running.length, await ask(as("a"))], [2, 200]);
  await finish();
  await Promise.all(invented);
});

Deno.test("a failing request frees its place, and a preflight takes none", async () => {
  const app = new Hono<AppEnv>();
  app.use(admission({ frontDoorSecrets: [] }, { limits: { places: 1, waiting: 0, waitMs: 10 } }));
  app.get("/fails", () => {
    throw new Error("failed");
  });
  app.onError((_, c) => c.text("failed", 500));
  for (let time = 0; time < 3; time++) assertEquals((await app.request("/fails")).status, 500);
  assertEquals((await app.request("/fails", { method: "OPTIONS" })).status, 404);
});

Deno.test("any number of endless bodies occupy no place", async () => {
  const { post, ask, pass } = slowApp();
  const unfinished = Array.from({ length: 100 }, () => post("/fast", from("192.0.2.1")));
  await settled();
  assertEquals(await ask(), 200);
  await pass(5_000);
  assertEquals(new Set(unfinished.map(({ status }) => status)), new Set([408]));
});

Deno.test("waiting for the rest of a long body occupies no place", async () => {
  const { post, ask, running, send } = slowApp({ waitMs: 0 });
  const long = Array.from({ length: 2 }, () => post("/long"));
  for (const { controller } of long) controller.enqueue(new Uint8Array(70_000).fill(97));
  await settled();
  assertEquals(await ask(), 200);
  // In the meantime both places are taken, but the requests still get theirs back.
  const others = ["one", "two"].map((name) => send(name));
  await settled();
  assertEquals(running.length, 2);
  for (const { controller } of long) {
    controller.enqueue(new Uint8Array(1).fill(97));
    controller.close();
  }
  assertEquals(await Promise.all(long.map(async ({ answer }) => await (await answer).text())), ["70001", "70001"]);
  for (const { end } of running) end();
  await Promise.all(others);
  assertEquals([await ask(), await ask()], [200, 200]);
});

Deno.test("with too many pending bodies, the sender with the most loses its oldest", async () => {
  const { post, ask } = slowApp({ short: 4 });
  await ask(as("a"));
  const proven = post("/fast", { ...from("192.0.2.1"), ...as("a") });
  const modest = post("/fast", from("192.0.2.2"));
  const greedy = Array.from({ length: 5 }, () => post("/fast", from("192.0.2.3")));
  await settled();
  assertEquals(greedy.map(({ status }) => status), [503, 503, 503, 0, 0]);
  // Requests with a verified token are evicted last, even if their sender has the most.
  const more = Array.from({ length: 4 }, (_, n) => post("/fast", from(`192.0.2.${10 + n}`)));
  await settled();
  assertEquals([proven.status, modest.status], [0, 503]);
  for (const { controller } of [proven, ...more.slice(1)]) controller.close();
  assertEquals((await proven.answer).status, 200);
  await Promise.all(more.map(({ answer }) => answer));
});

Deno.test("a client that disconnects causes one log line and no error", async () => {
  const { post, lines } = slowApp();
  const { controller, answer } = post("/fast");
  controller.error(new Error("connection reset"));
  assertEquals((await answer).status, 400);
  assertEquals(lines.map((line) => JSON.parse(line)).map(({ level, event }) => [level, event]), [["info", "request"]]);
});

Deno.test("a request frees its place while it waits for another service", async () => {
  const app = createApp("payment-webhook", {
    config: { siteUrl: SITE, frontDoorSecrets: [] },
    log: createLog(() => {}),
  });
  const { timer } = fakeTimer();
  app.use(admission({ frontDoorSecrets: [] }, { limits: { places: 1, unproven: 1, waiting: 0 }, timer }));
  const { promise, resolve } = Promise.withResolvers<void>();
  app.get("/provider", async (c) => {
    // During two concurrent waits, the place is taken back after both end.
    await Promise.all([outsidePlace(() => promise), outsidePlace(() => Promise.resolve())]);
    return c.text("answered");
  });
  app.get("/", (c) => c.text("here"));
  const waiting = app.request(`${SITE}/provider`);
  await settled();
  assertEquals((await app.request(SITE)).status, 200);
  resolve();
  assertEquals((await waiting).status, 200);
  assertEquals((await app.request(SITE)).status, 200);
});
