/** The effect of each message in both eras of the protocol: one round trip, and the database's envelope. */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { AppError } from "../../../shared/errors.ts";
import { AUTHENTICATED, ENVELOPE, ERA_NAMES, ERAS, type Json, messageOf, SITE, startConnector } from "./harness.ts";

const LUNCH = { items: [{ name: "Lunch", amount: "14.50" }] };

for (const era of ERA_NAMES) {
  const call = (name: string, args?: unknown) => ERAS[era]("tools/call", { name, arguments: args });

  Deno.test(`tools/call is one round trip that authenticates and runs (${era})`, async () => {
    const logged = { name: "Lunch", amount: "14.50" };
    const { post, calls } = startConnector({
      call_tool: () => ({ outcome: "ok", result: { ...ENVELOPE, data: { results: [logged] } } }),
    });
    const { body, headers } = call("log_expenses", LUNCH);
    const response = await post(body, { headers });
    assertEquals(response.status, 200);
    const { result } = await messageOf(response);
    const told = { ...ENVELOPE, data: { results: [{ ...logged, category: "Uncategorized" }] } };
    assertEquals(result.structuredContent, told);
    assertEquals(result.content, [{ type: "text", text: JSON.stringify(told) }]);
    assertEquals(result.isError, undefined);
    assertEquals(calls.length, 1);
    const [{ name, args }] = calls as [Json];
    assertEquals([name, args.tool, args.resource, args.at], [
      "call_tool",
      "log_expenses",
      `${SITE}/api/mcp`,
      "2026-10-06T09:00:00.000Z",
    ]);
    assertEquals(args.arguments, {
      items: [{ name: "Lunch", amount: "14.50", date: "today", is_refund: false }],
      on_duplicate: "skip",
      create_missing_categories: false,
      dry_run: false,
    });
  });

  Deno.test(`a tool's error returns isError with the error object (${era})`, async () => {
    const params = { bill_name: "rent", organization: "Acme", details: { suggestions: ["Rent"] } };
    const result = { ok: false, error: { code: "not_found.bill_name", params, field: "bill_name" } };
    const { post, calls } = startConnector({ call_tool: () => ({ outcome: "ok", result }) });
    const { body, headers } = call("mark_bill_paid", { bill_name: "rent" });
    const message = await messageOf(await post(body, { headers }));
    assertEquals([message.result.isError, message.result.structuredContent], [true, {
      ok: false,
      error: {
        code: "not_found",
        message: 'There is no bill called "rent" in Acme.',
        field: "bill_name",
        hint: "Use one of details.suggestions. A new bill needs add_bill first.",
        details: { suggestions: ["Rent"] },
        retryable: true,
      },
    }]);
    assertEquals(calls.length, 1);
  });

  Deno.test(`an answer without a text in the catalog is an internal error, reported and logged (${era})`, async () => {
    const { post, lines } = startConnector({
      call_tool: () => ({ outcome: "ok", result: { ...ENVELOPE, data: { overdue: [{}] } } }),
    });
    const { body, headers } = call("review_bills", {});
    const { result } = await messageOf(await post(body, { headers }));
    assertEquals([result.isError, result.structuredContent.error.code], [true, "internal"]);
    assertEquals(result.structuredContent.error.message, "Something went wrong on our side.");
    assert(lines.some((line) => line.includes("tool_failure")), lines.join("\n"));
  });

  Deno.test(`arguments that do not fit the contract run nothing (${era})`, async () => {
    const { post, calls } = startConnector();
    const { body, headers } = call("log_expenses", { items: [{ name: "Lunch", amount: { major: 14.5 } }] });
    const { result } = await messageOf(await post(body, { headers }));
    assertEquals(result.isError, true);
    assertEquals(result.structuredContent, {
      ok: false,
      error: {
        code: "invalid_argument",
        message: "items[0].amount must be a string.",
        field: "items[0].amount",
        hint: 'A positive decimal in major units, as a string: "14.50".',
        retryable: true,
      },
    });
    assertEquals(calls.map(({ name }) => name), ["authenticate_bearer"]);
  });

  Deno.test(`an unknown tool is a protocol error (${era})`, async () => {
    const { post, calls } = startConnector();
    for (const name of ["no_such_tool", "constructor", "__proto__"]) {
      const { body, headers } = call(name, {});
      const response = await post(body, { headers });
      assertEquals([response.status, (await messageOf(response)).error.code], [200, -32602]);
    }
    assertEquals(new Set(calls.map(({ name }) => name)), new Set(["authenticate_bearer"]));
  });

  Deno.test(`a failing tool reveals only a request id (${era})`, async () => {
    const { post, lines } = startConnector({
      call_tool: () => {
        throw new AppError("internal", "hidden", { cause: new Error('column "secret" does not exist') });
      },
    });
    const { body, headers } = call("list_bills", {});
    const response = await post(body, { headers });
    const { result } = await messageOf(response);
    assertEquals([response.status, result.isError, result.structuredContent.error.code], [200, true, "internal"]);
    assertEquals(result.structuredContent.error.details.request_id, response.headers.get("x-request-id"));
    assertEquals(/secret|hidden/.test(JSON.stringify(result)), false);
    assertEquals(lines.some((line) => line.includes("secret")), true);
  });

  Deno.test(`every other method is authenticated once and runs no tool (${era})`, async () => {
    const methods = era === "2025-11-25" ? ["initialize", "ping"] : ["server/discover", "subscriptions/listen"];
    for (const method of [...methods, "tools/list", "prompts/list", "resources/list", "resources/templates/list"]) {
      const { post, calls } = startConnector();
      const params = method === "initialize"
        ? { protocolVersion: era, capabilities: {}, clientInfo: { name: "test", version: "1" } }
        : method === "subscriptions/listen"
        ? { notifications: {} }
        : {};
      const { body, headers } = ERAS[era](method, params);
      const response = await post(body, { headers });
      assertEquals(response.status, 200, method);
      assertEquals((await messageOf(response)).error, undefined, method);
      assertEquals(calls.map(({ name }) => name), ["authenticate_bearer"], method);
    }
  });

  Deno.test(`an unknown method returns "not found", an unknown prompt or resource "invalid params" (${era})`, async () => {
    const { post } = startConnector();
    const cases: [string, Record<string, unknown>, number][] = [
      ["no/such/method", {}, -32601],
      ["prompts/get", { name: "none" }, -32602],
      ["prompts/get", {}, -32602],
      ["prompts/get", { name: "month_close", arguments: { month: 9 } }, -32602],
      ["resources/read", { uri: 5 }, -32602],
      ["tools/call", { name: "get_context", arguments: "x" }, -32602],
    ];
    for (const [method, params, code] of cases) {
      const { body, headers } = ERAS[era](method, params);
      const { error, id } = await messageOf(await post(body, { headers }));
      assertEquals([error.code, id], [code, body.id], method);
      assertMatch(error.message, /^[^[{]*$/);
    }
  });

  Deno.test(`invalid parameters are explained in words (${era})`, async () => {
    const { post } = startConnector();
    const { body, headers } = ERAS[era]("prompts/get", { name: "month_close", arguments: { month: 9 } });
    for (const accept of ["application/json", "application/json, text/event-stream"]) {
      const { error } = await messageOf(await post(body, { headers: { ...headers, accept } }));
      assertEquals(error, {
        code: -32602,
        message: "params.arguments.month: Invalid input: expected string, received number.",
      });
    }
  });

  Deno.test(`deep nesting is refused before anything traverses it (${era})`, async () => {
    for (const method of ["initialize", "tools/call", "ping", "prompts/get"]) {
      for (const depth of [100, 3000, 30_000]) {
        const { post } = startConnector();
        const { body, headers } = ERAS[era](method, { name: "get_context", capabilities: { experimental: { x: 0 } } });
        const text = JSON.stringify(body).replace('"x":0', `"x":${"[".repeat(depth)}${"]".repeat(depth)}`);
        const response = await post(text, { headers });
        assertEquals([response.status, (await messageOf(response)).error], [400, {
          code: -32600,
          message: "The message is nested too deeply.",
        }]);
      }
    }
  });
}

Deno.test("initialize returns the requested revision and the instructions", async () => {
  for (const protocolVersion of ["2025-06-18", "2025-11-25"]) {
    const { post } = startConnector();
    const params = { protocolVersion, capabilities: {}, clientInfo: { name: "test", version: "1" } };
    const { result } = await messageOf(await post({ jsonrpc: "2.0", id: 1, method: "initialize", params }));
    assertEquals(result.protocolVersion, protocolVersion);
    assertEquals(result.serverInfo.name, "expenses");
    assertMatch(result.instructions, /undo_change/);
    assertEquals(result.instructions.length < 1500, true);
  }
});

Deno.test("lists announce no changes and may be cached privately", async () => {
  const { post } = startConnector();
  const ask = async (method: string) => {
    const { body, headers } = ERAS["2026-07-28"](method);
    return (await messageOf(await post(body, { headers }))).result;
  };
  const discovered = await ask("server/discover");
  assertEquals(discovered.capabilities.tools, { listChanged: false });
  const MINUTE = 60_000;
  const methods = { "tools/list": MINUTE, "prompts/list": 60 * MINUTE, "resources/list": 60 * MINUTE };
  assertEquals([discovered.cacheScope, discovered.ttlMs], ["private", MINUTE]);
  for (const [method, ttl] of Object.entries(methods)) {
    const { cacheScope, ttlMs } = await ask(method);
    assertEquals([cacheScope, ttlMs], ["private", ttl], method);
  }
});

Deno.test("headers of the newer era must agree with the body", async () => {
  const { post, calls } = startConnector();
  const { body, headers } = ERAS["2026-07-28"]("tools/call", { name: "delete_records", arguments: {} });
  for (const wrong of [{ "mcp-name": "get_context" }, { "mcp-method": "tools/list" }]) {
    const response = await post(body, { headers: { ...headers, ...wrong } });
    assertEquals([response.status, (await messageOf(response)).error.code], [400, -32020]);
  }
  assertEquals(calls.some(({ name }) => name === "call_tool"), false);
});

Deno.test("invisible characters are stripped from typed text, and nothing else", async () => {
  const { post, calls } = startConnector();
  const typed = { name: "Lu\u202Ench\u0000 \u{1F355}\uD800", note: "two\nlines\tand a tab", payee: "\u2066Café\u2069" };
  const { body } = ERAS["2025-11-25"]("tools/call", {
    name: "log_expenses",
    arguments: { items: [{ ...typed, amount: "1" }] },
  });
  await post(body);
  const [{ args }] = calls as [Json];
  const { name, note, payee } = args.arguments.items[0];
  assertEquals([name, note, payee], ["Lunch \u{1F355}\uFFFD", typed.note, "Café"]);
});

Deno.test("a long result is complete as structured content and short as text", async () => {
  const rows = Array.from(
    { length: 1000 },
    (_, index) => ({ id: `exp_${index}`, name: "Lunch \u{1F355}", amount: "1.00", category: "Food" }),
  );
  const result = { ...ENVELOPE, data: { rows }, total_count: 1000 };
  const { post } = startConnector({ call_tool: () => ({ outcome: "ok", result }) });
  const { body } = ERAS["2025-11-25"]("tools/call", { name: "list_expenses" });
  const message = await messageOf(await post(body));
  assertEquals(message.result.structuredContent, result);
  const text = message.result.content[0].text;
  const shown = JSON.parse(text);
  assertEquals(text.length <= 25_000, true);
  assertEquals([shown.truncated, shown.total_count, shown.data.rows[0]], [true, 1000, rows[0]]);
  assertMatch(shown.hint, /\d+ of 1000 rows/);
});

Deno.test("a call whose SQL failed without a verdict needs one more call to authenticate", async () => {
  let answer: unknown = AUTHENTICATED;
  const { post, calls } = startConnector({
    authenticate_bearer: () => answer,
    call_tool: () => {
      throw new AppError("internal", "hidden");
    },
  });
  const { body } = ERAS["2025-11-25"]("tools/call", { name: "list_bills" });
  assertEquals((await post(body)).status, 200);
  assertEquals(calls.map(({ name }) => name), ["call_tool", "authenticate_bearer"]);
  answer = { outcome: "invalid_token" };
  assertEquals((await post(body)).status, 401);
});
