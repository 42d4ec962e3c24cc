import { assert, assertEquals } from "@std/assert";
import { Hono } from "hono";
import { admission } from "../../../shared/http/admission.ts";
import { type AppEnv, createApp, note } from "../../../shared/http/app.ts";
import { createLog } from "../../../shared/log.ts";

const LIMITS = { places: 2, waiting: 4, waitMs: 10_000 };
const SECRET = "the-front-door-the-front-door-the-front-door";
const tokenOf = (letter: string) => `exp_at_${letter.repeat(43)}`;

/** An app whose requests end when they are let go; a token's letter is its organization. */
function slowApp(limits = LIMITS) {
  const lines: string[] = [];
  const running: { of: string; end: () => void }[] = [];
  const app = createApp("payment-webhook", {
    config: { siteUrl: "https://expenses.example" },
    log: createLog((line) => lines.push(line)),
  });
  app.use(admission({ frontDoorSecrets: [SECRET] }, limits));
  app.all("/slow", async (c) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const of = c.req.header("x-name") ?? "";
    running.push({ of, end: resolve });
    await promise;
    const token = c.req.header("authorization")?.at(-1);
    if (token && token !== "z") note(c, { organization_id: `org_${token}` });
    return c.text(of);
  });
  const answered: string[] = [];
  const send = async (name: string, headers: Record<string, string> = {}) => {
    const response = await app.request("https://expenses.example/slow", { headers: { "x-name": name, ...headers } });
    answered.push(`${name} ${response.status}`);
    return response;
  };
  const settle = () => new Promise((resolve) => setTimeout(resolve, 5));
  /** Ends one after the other, in the order in which they began. */
  const finish = async () => {
    for (let ended = 0; ended < running.length; ended++) {
      running[ended]!.end();
      await settle();
    }
  };
  return { send, running, answered, finish, settle, lines };
}

Deno.test("what is too much is answered 503 with Retry-After, and the log has one line of it", async () => {
  const { send, finish, settle, lines } = slowApp();
  const others = Array.from({ length: 6 }, () => send("other"));
  await settle();
  const shed = await send("late");
  assertEquals([shed.status, (await shed.json()).error.code], [503, "overloaded"]);
  const seconds = Number(shed.headers.get("retry-after"));
  assert(seconds >= 1 && seconds <= 3);
  assert(shed.headers.has("x-request-id"));
  assertEquals(lines.map((line) => JSON.parse(line).event), ["request"]);
  await finish();
  assertEquals((await Promise.all(others)).map(({ status }) => status), [200, 200, 200, 200, 200, 200]);
});

Deno.test("an organization with many requests and many tokens leaves the others their turn", async () => {
  const { send, running, finish, settle } = slowApp({ ...LIMITS, waiting: 20 });
  const as = (letter: string) => ({ authorization: `Bearer ${tokenOf(letter)}` });
  // Tokens are known by what they were answered while it was full.
  const first = [..."aaaabb"].map((letter) => send(letter, as(letter)));
  await settle();
  await finish();
  await Promise.all(first);
  const from = running.length;
  const all = [..."aaaaaaaa", "b"].map((letter) => send(letter, as(letter)));
  await settle();
  await finish();
  await Promise.all(all);
  const order = running.slice(from).map(({ of }) => of).join("");
  assert(/^aaa?b/.test(order), order);
});

Deno.test("invented tokens take no turns: they count as the address they come from", async () => {
  const { send, running, finish, settle } = slowApp({ ...LIMITS, waiting: 20 });
  const from = (address: string, token?: string) => ({
    "x-forwarded-for": address,
    ...(token && { authorization: `Bearer ${token}` }),
  });
  const all = [
    ...Array.from({ length: 8 }, (_, n) => send("attacker", from("192.0.2.1", `exp_at_${`${n}`.repeat(42)}z`))),
    send("somebody", from("192.0.2.2")),
  ];
  await settle();
  await finish();
  await Promise.all(all);
  assertEquals(running.map(({ of }) => of).indexOf("somebody"), 3);
});

Deno.test("a failing request leaves its place, and a preflight takes none", async () => {
  const app = new Hono<AppEnv>();
  app.use(admission({ frontDoorSecrets: [] }, { places: 1, waiting: 0, waitMs: 10 }));
  app.get("/fails", () => {
    throw new Error("failed");
  });
  app.onError((_, c) => c.text("failed", 500));
  for (let time = 0; time < 3; time++) assertEquals((await app.request("/fails")).status, 500);
  assertEquals((await app.request("/fails", { method: "OPTIONS" })).status, 404);
});
