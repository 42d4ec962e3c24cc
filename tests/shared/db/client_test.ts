/** Outages and malformed results of the database, and a page's deadline. */
import { assertEquals, assertRejects } from "@std/assert";
import * as z from "zod/mini";
import { asking } from "../../../shared/db/answer.ts";
import { createDatabase } from "../../../shared/db/client.ts";
import { AppError } from "../../../shared/errors.ts";
import { type CurrentRequest, withRequest } from "../../../shared/http/current_request.ts";
import { fakeTimer } from "../../_support/fake_timer.ts";

const refusal = (status: number, body: unknown) => () => Promise.resolve(Response.json(body, { status }));

/** A database that returns these results, in order. */
function databaseWith(...answers: (() => Promise<Response>)[]) {
  const calls: string[] = [];
  const database = createDatabase({
    url: "http://127.0.0.1",
    key: "sb_secret_x",
    fetch: (url) => {
      calls.push(String(url).split("/").at(-1)!);
      return answers.shift()!();
    },
  });
  return { database, calls };
}

async function codeOf(status: number, body: unknown): Promise<string> {
  return (await assertRejects(() => databaseWith(refusal(status, body)).database.call("ping", {}), AppError)).code;
}

Deno.test("a gateway that can't reach the database is an outage, whatever its status and code", async () => {
  for (const status of [429, 500, 502, 503, 504, 520, 522, 540, 544, 546]) {
    for (const body of [{ message: "no" }, {}, "no", { code: "PROJECT_PAUSED", message: "no" }, { code: 522 }]) {
      assertEquals(await codeOf(status, body), "unavailable", `${status} ${JSON.stringify(body)}`);
    }
  }
});

Deno.test("a database error or our own mistake does not count as an outage", async () => {
  for (const [status, code] of [[500, "XX000"], [400, "22P02"], [404, "PGRST205"], [500, "PGRST500"]] as const) {
    assertEquals(await codeOf(status, { code, message: "no" }), "internal", code);
  }
  assertEquals(await codeOf(401, { message: "Invalid API key" }), "internal");
});

Deno.test("a 404 without a body does not count as an empty result", async () => {
  const { database } = databaseWith(() => Promise.resolve(new Response(null, { status: 404 })));
  const ask = asking(database, { read_account: z.nullable(z.object({})) });
  assertEquals((await assertRejects(() => ask("read_account", {}), AppError)).code, "unavailable");
});

const ended = refusal(503, { code: "57P01", message: "terminating connection due to administrator command" });
const fine = () => Promise.resolve(Response.json("fine"));

Deno.test("a read on a closed connection is repeated once, but a write is not", async () => {
  const reads: [string, { isRead?: boolean }?][] = [
    ["read_books"],
    ["list_connected_apps"],
    ["authenticate_bearer"],
    ["call_tool", { isRead: true }],
  ];
  for (const asked of reads) {
    const { database, calls } = databaseWith(ended, fine);
    assertEquals(await database.call(asked[0], {}, asked[1]), "fine");
    assertEquals(calls, [asked[0], asked[0]]);
  }
  const writes: [string, { isRead?: boolean }?][] = [
    ["call_tool", { isRead: false }],
    ["run_page_tool"],
    ["rotate_refresh_token"],
    ["count_wrong_verifier"],
  ];
  for (const asked of writes) {
    const { database, calls } = databaseWith(ended, fine);
    assertEquals((await assertRejects(() => database.call(asked[0], {}, asked[1]), AppError)).code, "unavailable");
    assertEquals(calls, [asked[0]]);
  }
  const { database, calls } = databaseWith(ended, ended, fine);
  await assertRejects(() => database.call("read_books", {}), AppError);
  assertEquals(calls.length, 2);
});

Deno.test("the database calls of a page share one deadline, and others keep theirs", async () => {
  const { timer, pass } = fakeTimer();
  let now = 0;
  const wait = async (ms: number) => {
    now += ms;
    await pass(ms);
  };
  const database = createDatabase({
    url: "http://127.0.0.1",
    key: "sb_secret_x",
    timer,
    now: () => now,
    fetch: (_, init) =>
      new Promise((_, reject) => init!.signal!.addEventListener("abort", () => reject(init!.signal!.reason))),
  });
  const outcomes: string[] = [];
  const ask = (name: string, options?: { deadlineMs?: number }) =>
    database.call("read_books", {}, options).catch(() => outcomes.push(`${name} after ${now}`));
  const page: CurrentRequest = { id: "one", databaseMs: 10_000 };
  const first = withRequest(page, () => ask("first"));
  await wait(9_999);
  assertEquals(outcomes, []);
  await wait(1);
  await first;
  await withRequest(page, () => ask("second"));
  assertEquals(outcomes, ["first after 10000", "second after 10000"]);
  const own = withRequest(page, () => ask("with a deadline of its own", { deadlineMs: 5_000 }));
  await wait(5_000);
  await own;
  // Reads after the response, such as the rest of a file.
  page.databaseMs = undefined;
  const streamed = withRequest(page, () => ask("streamed"));
  await wait(10_000);
  await streamed;
  assertEquals(outcomes.slice(2), ["with a deadline of its own after 15000", "streamed after 25000"]);
});
