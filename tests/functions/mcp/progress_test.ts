/**
 * Progress of a call that requests it: events during the work and then the result, on one stream that starts only
 * after authentication. The test decides when providers respond.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { reportProgress } from "../../../functions/mcp/report_progress.ts";
import { AppError } from "../../../shared/errors.ts";
import { ENVELOPE, type Era, ERA_NAMES, ERAS, type Json, messageOf, NO_PLAN, startConnector } from "./harness.ts";
import { readEvents, startSync, SYNC } from "./sync_harness.ts";

const BILLS = { ...ENVELOPE, data: { bills: [] }, total_count: 0 };
const ADDRESSES = ["/api/mcp", "/functions/v1/mcp"];
const withToken = (era: Era, progressToken: unknown, params: Record<string, unknown> = SYNC) =>
  ERAS[era]("tools/call", { ...params, _meta: { progressToken } });
const progressOf = ({ method, params }: Json) => [method, params.progressToken, params.progress, params.total];

for (const era of ERA_NAMES) {
  for (const path of ADDRESSES) {
    Deno.test(`progress arrives during the work, then the result (${era}, ${path})`, async () => {
      const sync = await startSync({ links: 2 });
      const { body, headers } = withToken(era, "a token");
      // A call that returns before any provider responds.
      const response = await sync.post(body, { path, headers });
      assertEquals([response.status, response.headers.get("content-type")], [200, "text/event-stream"]);
      assertEquals([response.headers.get("x-accel-buffering"), response.headers.get("cache-control")], [
        "no",
        "no-cache, no-transform",
      ]);
      const events = readEvents(response);
      const name = "notifications/progress";
      const first = await events.next();
      assertEquals(progressOf(first), [name, "a token", 0, 2]);
      assertEquals(first.params.message, "0 of 2 bills done.");
      assertEquals(sync.rounds(), ["call_tool sync_bill_amounts", "read_provider_credentials"]);
      sync.answer(2);
      assertEquals(progressOf(await events.next()), [name, "a token", 1, 2]);
      assertEquals(sync.rounds(), []);
      sync.answer(1);
      assertEquals(progressOf(await events.next()), [name, "a token", 2, 2]);
      const { id, result } = await events.next();
      assertEquals(sync.rounds(), ["call_tool store_bill_amounts"]);
      assertEquals([id, await events.next()], [body.id, undefined]);

      const silent = ERAS[era]("tools/call", SYNC);
      const whole = await messageOf(await sync.post(silent.body, { path, headers: silent.headers }));
      assertEquals(result, whole.result);
    });
  }

  Deno.test(`an answer without progress is the same to the byte, in one round trip (${era})`, async () => {
    const plain = ERAS[era]("tools/call", { name: "list_bills" });
    for (const accept of ["application/json", "application/json, text/event-stream", "*/*", undefined]) {
      const seen = await Promise.all([plain, withToken(era, 7, { name: "list_bills" })].map(async (sent) => {
        const { post, calls } = startConnector({ call_tool: () => ({ outcome: "ok", result: BILLS }) });
        const response = await post(sent.body, { headers: { ...sent.headers, accept } });
        const text = await response.text();
        const { "x-request-id": _, ...headers } = Object.fromEntries(response.headers);
        return { status: response.status, headers, text, calls: calls.map(({ name }) => name) };
      }));
      assertEquals(seen[0], seen[1]);
      assertEquals(seen[0]!.calls, ["call_tool"]);
    }
  });

  Deno.test(`a client that doesn't accept event streams gets only the result, whatever its token (${era})`, async () => {
    for (const accept of ["application/json", "*/*", undefined]) {
      const sync = await startSync({ links: 1 });
      sync.answer(1);
      const { body, headers } = withToken(era, 7);
      const response = await sync.post(body, { headers: { ...headers, accept } });
      assertEquals([response.status, response.headers.get("content-type")], [200, "application/json"]);
      assertEquals((await response.json()).result.structuredContent.ok, true);
    }
  });

  Deno.test(`a caller who is refused gets no stream (${era})`, async () => {
    const limited = { outcome: "limited", retry_after: 9 };
    for (const [verdict, status] of [[{ outcome: "invalid_token" }, 401], [NO_PLAN, 403], [limited, 429]] as const) {
      const sync = await startSync({ links: 1, first: () => verdict });
      const { body, headers } = withToken(era, 7);
      const response = await sync.post(body, { headers });
      assertEquals([response.status, response.headers.get("content-type")], [status, "application/json"]);
      assertEquals((await response.json()).error.code, -31000 - status);
      assertEquals(sync.rounds(), ["call_tool sync_bill_amounts"]);
    }
    const sync = await startSync({ links: 1 });
    const { body, headers } = withToken(era, 7);
    assertEquals((await sync.post(body, { headers: { ...headers, authorization: undefined } })).status, 401);
    assertEquals(sync.rounds(), []);
  });

  Deno.test(`a refusal after progress began is the stream's last event (${era})`, async () => {
    const lastEvent = async (second: () => unknown) => {
      const sync = await startSync({ links: 1, second });
      sync.answer(1);
      const { body, headers } = withToken(era, 7);
      const response = await sync.post(body, { headers });
      assertEquals(response.status, 200);
      const events = await Array.fromAsync(readEvents(response).all());
      assertEquals(events.map((event: Json) => event.params?.progress), [0, 1, undefined]);
      assertEquals(events.at(-1).id, body.id);
      return { ...events.at(-1), requestId: response.headers.get("x-request-id"), log: sync.lines.join("\n") };
    };
    assertEquals((await lastEvent(() => ({ outcome: "invalid_token" }))).error, {
      code: -31401,
      message: "This access token is not valid. Sign in again.",
    });
    const { error } = await lastEvent(() => NO_PLAN);
    assertEquals([error.code, error.data.required_plan], [-31403, "pro"]);

    const outage = await lastEvent(() => {
      throw new AppError("unavailable", "Try again in a minute.", { cause: new Error("connection refused") });
    });
    assertEquals(outage.error, {
      code: -31503,
      message: "Try again in a minute.",
      data: { request_id: outage.requestId },
    });
    assertMatch(outage.log, /connection refused/);

    const broken = await lastEvent(() => {
      throw new Error('column "secret" does not exist');
    });
    assertEquals([broken.result.isError, broken.result.structuredContent.error.code], [true, "internal"]);
    assertEquals(broken.result.structuredContent.error.details, { request_id: broken.requestId });
    assertMatch(broken.log, /column \\"secret\\"/);
    assertEquals(JSON.stringify(broken.result).includes("secret"), false);
  });

  Deno.test(`unreadable credentials after progress began cause a tool error (${era})`, async () => {
    const sync = await startSync({
      links: 1,
      credentials: () => {
        throw new Error("relation does not exist");
      },
    });
    const { body, headers } = withToken(era, 7);
    const response = await sync.post(body, { headers });
    const [begun, { result }] = await Array.fromAsync(readEvents(response).all());
    assertEquals(progressOf(begun).slice(2), [0, 1]);
    assertEquals(result.structuredContent.error.details, { request_id: response.headers.get("x-request-id") });
    assertEquals(sync.rounds(), ["call_tool sync_bill_amounts", "read_provider_credentials"]);
  });

  Deno.test(`when the client disconnects, a started fetch is stored and no further one starts (${era})`, async () => {
    const sync = await startSync({ links: 1, months: 3 });
    const { body, headers } = withToken(era, 7);
    const response = await sync.post(body, { headers });
    const events = readEvents(response);
    await events.next();
    await sync.asked(1);
    await events.cancel();
    sync.answer(1);
    const { results } = await sync.stored();
    assertEquals(results.map(({ answer }: Json) => answer.outcome), ["statement"]);
    assertEquals(sync.askedMonths(), 1);
    assertEquals(sync.lines.filter((line) => line.includes('"error"')), []);
  });

  Deno.test(`the first use in an hour is recorded once, by a stream too (${era})`, async () => {
    const recorded: unknown[] = [];
    const sync = await startSync({ links: 1, firstUse: () => recorded.push(1) });
    const { body, headers } = withToken(era, 7);
    const response = await sync.post(body, { headers });
    sync.answer(1);
    await Array.fromAsync(readEvents(response).all());
    assertEquals(recorded.length, 1);
  });

  Deno.test(`tokens: any short text or integer is returned unchanged (${era})`, async () => {
    for (const token of ["", 0, -3, "a".repeat(256), "x\n\ndata: {}\r\n\r\n", "\u2028💥\u0000"]) {
      const sync = await startSync({ links: 1 });
      sync.answer(1);
      const { body, headers } = withToken(era, token);
      const events = await Array.fromAsync(readEvents(await sync.post(body, { headers })).all());
      assertEquals(events.map((event: Json) => event.params?.progressToken), [token, token, undefined]);
      assertEquals(events.at(-1).result.structuredContent.ok, true);
    }
  });

  Deno.test(`tokens: a long token gets no progress, and another type is invalid (${era})`, async () => {
    const long = await startSync({ links: 1 });
    long.answer(1);
    const sent = withToken(era, "a".repeat(257));
    const { result } = await messageOf(await long.post(sent.body, { headers: sent.headers }));
    assertEquals(result.structuredContent.ok, true);
    for (const token of [{}, { toString: 1 }, [7], true, null, 1.5, 1e300]) {
      const sync = await startSync({ links: 1 });
      const { body, headers } = withToken(era, token);
      const response = await sync.post(body, { headers });
      assertEquals([response.status, (await messageOf(response)).error.code], [400, -32600], JSON.stringify(token));
      assertEquals(sync.rounds(), ["authenticate_bearer"]);
    }
  });
}

Deno.test("progress only increases", () => {
  const sent: unknown[] = [];
  const report = reportProgress(undefined, (event) => sent.push(event));
  for (const progress of [0, 0, 2, 1, NaN, 2, 3]) report({ progress, total: 3 });
  assertEquals(sent, [0, 2, 3].map((progress) => ({ progress, total: 3 })));
  assert(sent.every((event) => !("message" in (event as Json))));
});
