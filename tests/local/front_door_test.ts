/**
 * The front door in front of a gateway that treats functions as the hosted one does (GET pages become plain text in a
 * sandbox). The same expectations hold for the fetch handler and, if Caddy is installed, for the printed Caddyfile.
 */
import { assertEquals, assertFalse, assertMatch, assertRejects } from "@std/assert";
import { join } from "node:path";
import { requestIdOf } from "../../shared/http/request_id.ts";
import { createLog } from "../../shared/log.ts";
import { createFrontDoor } from "../../local/front_door/front_door.ts";
import serve from "../../local/front_door/serve.ts";
import { caddyConfig } from "../../local/front_door/caddy.ts";
import { functionPath, METHODS, PAGE_POLICY_HEADER, REQUEST_ID_HEADER, ROUTES } from "../../shared/routes.ts";
import { freePort } from "../_support/free_port.ts";
import { fakeTimer } from "../_support/fake_timer.ts";
import { askRaw } from "../_support/raw_http.ts";
import { waitFor } from "../_support/wait_for.ts";

const SECRET = "the-front-door-has-this-one-of-32-bytes";
const POLICY = "default-src 'none'; style-src 'nonce-abc'";

/** Functions behind a gateway with its own HSTS; every response echoes the request. */
function hostedFunctions() {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const response = await hostedAnswer(request);
    response.headers.set("strict-transport-security", "max-age=1; includeSubDomains");
    return response;
  });
}

async function hostedAnswer(request: Request): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const arrived = JSON.stringify({
    path: pathname + search,
    method: request.method,
    // A front door may cut it off.
    body: await request.text().catch(() => ""),
    headers: Object.fromEntries(request.headers),
  });
  const page = {
    "content-type": request.method === "GET" ? "text/plain" : "text/html; charset=utf-8",
    "content-security-policy": request.method === "GET" ? "default-src 'none'; sandbox" : POLICY,
    [PAGE_POLICY_HEADER]: POLICY,
  };
  if (search === "?refused") return new Response(null, { status: 405, headers: { allow: "GET, POST" } });
  if (pathname.startsWith("/functions/v1/auth-callback/not-found/")) {
    return new Response("<h1>There is no such page</h1>", { status: 404, headers: page });
  }
  if (pathname.endsWith("/login")) return new Response(`<p>${arrived}</p>`, { status: 401, headers: page });
  if (pathname.endsWith("/logout")) {
    const headers = new Headers({ location: "/login" });
    headers.append("set-cookie", "a=1; Path=/; HttpOnly");
    headers.append("set-cookie", "b=2; Path=/; HttpOnly");
    return new Response(null, { status: 303, headers });
  }
  if (search === "?stream") return new Response(openStream(), { headers: { "content-type": "text/event-stream" } });
  return new Response(arrived, { headers: { "content-type": "application/json", "www-authenticate": "Bearer" } });
}

/** The stream of a function's response; a test writes it. */
let stream: { send(event: number): void; isCancelled: boolean };

function openStream(): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      const encoder = new TextEncoder();
      const send = (event: number) => controller.enqueue(encoder.encode(`data: ${event}\n\n`));
      stream = { send, isCancelled: false };
      stream.send(1);
    },
    cancel: () => void (stream.isCancelled = true),
  });
}

interface Door {
  url: string;
  /** The access log of a web server. */
  log?(): Promise<string>;
  close(): Promise<void>;
}

function fetchHandler(functionsUrl: string): Promise<Door> {
  const lines: string[] = [];
  const log = createLog((line) => void lines.push(line));
  const frontDoor = createFrontDoor({ functionsUrl, secret: SECRET, log });
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request, { remoteAddr }) => {
    return frontDoor(request, { address: remoteAddr.hostname });
  });
  return Promise.resolve({
    url: `http://127.0.0.1:${server.addr.port}`,
    log: () => Promise.resolve(lines.join("\n")),
    close: () => server.shutdown(),
  });
}

/** For routes that also cover the paths below them. */
const BELOW: Record<string, string> = {
  "/account/import/": "/account/import/imp_x",
  "/organizations/": "/organizations/org_x/export",
  "/account/": "/account/providers/x",
  "/calendar/": "/calendar/exp_cal_x.ics",
  "/icons/": "/icons/x.svg",
};

/** Generous, because a busy machine takes a second to start a process. */
const START_DEADLINE_MS = 20_000;

async function caddy(functionsUrl: string, secret = SECRET): Promise<Door> {
  const folder = await Deno.makeTempDir();
  const host = `127.0.0.1:${freePort()}`;
  const printed = caddyConfig({ host: `http://${host}`, functionsUrl, secret });
  const file = join(folder, "config");
  const accessLog = join(folder, "access.log");
  // Operators with proxies in front configure Caddy to trust them. The functions must not inherit that trust.
  const trusting = printed.replace(/^http.*/m, `$&\n    log {\n        output file ${accessLog}\n    }`)
    .replaceAll(/reverse_proxy .* \{/g, "$&\n        trusted_proxies private_ranges");
  await Deno.writeTextFile(file, `{\n  admin off\n}\n${trusting}`);
  const args = ["run", "--adapter", "caddyfile", "--config", file];
  const child = new Deno.Command("caddy", { args, env: { HOME: folder }, stdout: "null", stderr: "piped" }).spawn();
  const log = new Response(child.stderr).text();
  const close = async () => {
    try {
      child.kill("SIGTERM");
    } catch {
      // The process has already exited.
    }
    await child.status;
    await Deno.remove(folder, { recursive: true });
    return await log;
  };
  const url = `http://${host}`;
  const isUp = async () =>
    await fetch(url).then((response) => response.body?.cancel().then(() => true), () => undefined);
  const ended = child.status.then(({ code }) => Promise.reject(new Error(`it ended with ${code}`)));
  ended.catch(() => {});
  try {
    await Promise.race([ended, waitFor(isUp, { deadlineMs: START_DEADLINE_MS, everyMs: 20 })]);
  } catch (thrown) {
    throw new Error(`Caddy did not start: ${thrown instanceof Error ? thrown.message : thrown}\n${await close()}`);
  }
  return { url, log: () => Deno.readTextFile(accessLog), close: async () => void await close() };
}

const isCaddyMissing = !new Deno.Command("which", { args: ["caddy"] }).outputSync().success;

const frontDoors: [name: string, open: (functionsUrl: string) => Promise<Door>, ignore: boolean][] = [
  ["the fetch handler", fetchHandler, false],
  ["Caddy", (url) => caddy(url), isCaddyMissing],
];

Deno.test({
  name: "test of the test: a web server that does not start is reported with its output, without waiting",
  ignore: isCaddyMissing,
  async fn() {
    const failure = await assertRejects(() => caddy("http://127.0.0.1:1", `no "quote" {`), Error);
    assertMatch(failure.message, /Caddy did not start: it ended with 1\n[^]*Error/);
  },
});

Deno.test("unreachable functions cause a 502 with the request id, and the log has the reason", async () => {
  const lines: string[] = [];
  const frontDoor = createFrontDoor({
    functionsUrl: "https://project.example/functions/v1",
    secret: SECRET,
    log: createLog((line) => void lines.push(line)),
    fetch: () => Promise.reject(new TypeError("connection refused")),
  });
  const answer = await frontDoor(new Request("https://site.example/calendar/exp_cal_planted.ics"));
  assertEquals(answer.status, 502);
  const [, id] = /Request ([0-9a-f-]{36})\n$/.exec(await answer.text())!;
  const [failure, request] = lines.map((line) => JSON.parse(line));
  assertEquals([failure.event, failure.request_id, failure.error], [
    "functions_unreachable",
    id,
    "TypeError: connection refused",
  ]);
  assertEquals([request.event, request.request_id, request.status], ["request", id, 502]);
  assertFalse(lines.join().includes("planted"), lines.join());
});

Deno.test("the deployed front door trusts cf-connecting-ip only in Workers, not on a socket without an address", async () => {
  const functions = hostedFunctions();
  const FUNCTIONS_URL = `http://127.0.0.1:${functions.addr.port}/functions/v1`;
  const callerOf = async (runtime: object) => {
    const request = new Request("https://expenses.example/calendar/x", {
      headers: { "cf-connecting-ip": "203.0.113.9" },
    });
    const { headers } = await (await serve.fetch(request, { FUNCTIONS_URL, ...runtime })).json();
    return [headers["x-forwarded-for"], headers["cf-connecting-ip"]];
  };
  assertEquals(await callerOf({}), ["203.0.113.9", undefined]);
  assertEquals(await callerOf({ remoteAddr: { hostname: "198.51.100.7" } }), ["198.51.100.7", undefined]);
  assertEquals(await callerOf({ remoteAddr: { path: "/run/door.sock" } }), [undefined, undefined]);
  await functions.shutdown();
});

Deno.test("a short body that never arrives occupies no function and logs no error", async () => {
  const { timer, pass } = fakeTimer();
  const lines: string[] = [];
  const frontDoor = createFrontDoor({
    functionsUrl: "https://project.example/functions/v1",
    log: createLog((line) => void lines.push(line)),
    timer,
    fetch: () => Promise.reject(new Error("the functions were asked")),
  });
  const post = (source: UnderlyingDefaultSource<Uint8Array>, length: number) =>
    frontDoor(
      new Request("https://site.example/login", {
        method: "POST",
        headers: { "content-length": String(length) },
        body: new ReadableStream(source),
      }),
    );
  const slow = post({}, 9);
  await pass(15_000);
  const gone = await post({ pull: (controller) => controller.error(new Error("connection reset")) }, 9);
  assertEquals([(await slow).status, gone.status], [408, 400]);
  assertEquals(lines.map((line) => JSON.parse(line).event), ["request", "request"]);
  // A long body is forwarded on arrival.
  assertEquals((await post({}, 65_537)).status, 502);
});

Deno.test("the fetch handler sets HSTS on every https response, overriding the gateway, and none over http", async () => {
  const fetch = () => Promise.resolve(new Response("", { headers: { "strict-transport-security": "max-age=1" } }));
  const frontDoor = createFrontDoor({ functionsUrl: "https://project.supabase.example/functions/v1", fetch });
  for (const path of ["/", "/api/mcp", "/where/nothing/is"]) {
    for (const method of ["GET", "POST", "FOO"]) {
      const { headers } = await frontDoor(new Request(`https://expenses.example${path}`, { method }));
      assertEquals(headers.get("strict-transport-security"), "max-age=31536000");
    }
  }
  const plain = await frontDoor(new Request("http://127.0.0.1:54321/", { method: "FOO" }));
  assertEquals([plain.status, plain.headers.get("strict-transport-security")], [405, null]);
});

for (const [name, open, ignore] of frontDoors) {
  let functions: ReturnType<typeof hostedFunctions>;
  let door: Door;
  Deno.test.beforeAll(async () => {
    if (ignore) return;
    functions = hostedFunctions();
    door = await open(`http://127.0.0.1:${functions.addr.port}/functions/v1`);
  });
  Deno.test.afterAll(async () => {
    if (ignore) return;
    await door.close();
    await functions.shutdown();
  });
  const ask = (path: string, init: RequestInit = {}) => fetch(`${door.url}${path}`, { redirect: "manual", ...init });

  Deno.test(`${name} as front door routes every public path to its function`, { ignore }, async () => {
    for (const route of ROUTES) {
      const path = BELOW[route.path] ?? route.path;
      for (const address of path === "/" ? [path] : [path, `${path}/`]) {
        const response = await ask(`${address}?a=1&b=%2F`);
        const text = await response.text();
        if (["/login", "/logout"].includes(path)) continue;
        assertEquals(JSON.parse(text).path, `/functions/v1${functionPath(route, path)}?a=1&b=%2F`);
      }
    }
  });

  Deno.test(`${name} as front door keeps the address of a calendar out of its log`, { ignore }, async () => {
    const secret = `exp_cal_${"s".repeat(43)}`;
    const seen = [`/calendar/${secret}.ics`, `/calendar/${secret}`, `//calendar/${secret}.ics`, "/where/seen-last"];
    for (const path of seen) await (await ask(path)).text();
    if (!door.log) return;
    const log = await waitFor(async () => {
      const text = await door.log!();
      return text.includes("seen-last") ? text : undefined;
    });
    assertFalse(log.includes(secret), log);
  });

  Deno.test(`${name} as front door shows the not-found page for unknown paths`, { ignore }, async () => {
    for (
      const path of [
        "/api/mcp2",
        "/api",
        "/functions/v1/mcp",
        "/rest/v1/",
        "/loginx",
        "/account2",
        "/auth-callback/login",
        "/not-found/x",
      ]
    ) {
      const response = await ask(path);
      assertEquals([path, response.status, await response.text()], [path, 404, "<h1>There is no such page</h1>"]);
      assertEquals(response.headers.get("content-type")?.toLowerCase(), "text/html; charset=utf-8");
      assertEquals(response.headers.get("content-security-policy"), POLICY);
    }
  });

  Deno.test(
    `${name} as front door restores a page's content type, with its own policy and status`,
    { ignore },
    async () => {
      for (const method of ["GET", "POST"]) {
        const response = await ask("/login", { method, body: method === "POST" ? "email=a" : undefined });
        assertMatch(await response.text(), /^<p>/);
        assertEquals(response.status, 401);
        assertEquals(response.headers.get("content-type")?.toLowerCase(), "text/html; charset=utf-8");
        assertEquals(response.headers.get("content-security-policy"), POLICY);
        assertEquals(response.headers.get(PAGE_POLICY_HEADER), null);
      }
    },
  );

  Deno.test(`${name} as front door leaves other content unchanged`, { ignore }, async () => {
    const response = await ask("/api/mcp", {
      method: "POST",
      body: '{"id":1}',
      headers: { authorization: "Bearer x", cookie: "c=1" },
    });
    const { method, body, headers } = await response.json();
    assertEquals([method, body, headers.authorization, headers.cookie], ["POST", '{"id":1}', "Bearer x", "c=1"]);
    assertEquals(response.headers.get("content-type"), "application/json");
    assertEquals(response.headers.get("www-authenticate"), "Bearer");
    assertEquals(response.headers.get("content-security-policy"), null);
  });

  Deno.test(`${name} as front door passes redirects and cookies to the browser`, { ignore }, async () => {
    const response = await ask("/logout", { method: "POST" });
    await response.body?.cancel();
    assertEquals([response.status, response.headers.get("location")], [303, "/login"]);
    assertEquals(response.headers.getSetCookie(), ["a=1; Path=/; HttpOnly", "b=2; Path=/; HttpOnly"]);
  });

  Deno.test(
    `${name} as front door returns 405 with Allow for TRACE and unknown methods, on every route and elsewhere`,
    { ignore },
    async () => {
      for (const path of [...ROUTES.map(({ path }) => path), "/login/", "/where/nothing/is", "/functions/v1/mcp"]) {
        for (const method of ["TRACE", "FOO", "PROPFIND", "PUT"]) {
          const answer = await askRaw(`${door.url}${path}?q=canary`, { method, headers: { cookie: "c=canary" } });
          assertEquals(answer.status, 405, `${method} ${path}`);
          assertEquals(answer.headers.get("allow"), METHODS.join(", "), `${method} ${path}`);
          assertFalse(answer.body.includes("canary"), `${method} ${path} says again what it was sent`);
        }
      }
      // CONNECT requests a proxy to any address.
      for (const [method, target] of [["CONNECT", new URL(door.url).host], ["get", "/api/health"]]) {
        const answer = await askRaw(door.url, { method: method!, target: target! });
        assertEquals(answer.status, 405, method);
        assertEquals(answer.headers.get("allow"), METHODS.join(", "), method);
      }
    },
  );

  Deno.test(`${name} as front door leaves a function's Allow unchanged`, { ignore }, async () => {
    const response = await ask("/api/mcp?refused", { method: "DELETE" });
    await response.body?.cancel();
    assertEquals([response.status, response.headers.get("allow")], [405, "GET, POST"]);
  });

  // The fetch handler's own HSTS is tested above, because here it is reached over http.
  if (name !== "the fetch handler") {
    Deno.test(
      `${name} as front door sets HSTS once on every response, even its own and when the gateway sets another`,
      {
        ignore,
      },
      async () => {
        for (const path of ["/", "/login", "/logout", "/api/mcp", "/where/nothing/is", "/login/"]) {
          for (const method of ["GET", "POST", "FOO"]) {
            const response = await ask(path, { method });
            await response.body?.cancel();
            assertEquals(response.headers.get("strict-transport-security"), "max-age=31536000", `${method} ${path}`);
          }
        }
      },
    );
  }

  Deno.test(
    `${name} as front door passes on the caller's address, whatever the caller claims`,
    { ignore },
    async () => {
      const claims = { "x-forwarded-for": "6.6.6.6", "cf-connecting-ip": "6.6.6.6", "x-front-door-secret": "guess" };
      for (const path of ["/api/health", "/account/providers/connect"]) {
        const { headers } = await (await ask(path, { headers: claims })).json();
        assertEquals([headers["x-forwarded-for"], headers["cf-connecting-ip"], headers["x-front-door-secret"]], [
          "127.0.0.1",
          undefined,
          SECRET,
        ]);
      }
    },
  );

  Deno.test(`${name} as front door gives each request its own id, whatever the caller claims, and logs it`, {
    ignore,
  }, async () => {
    const claimed = "0b1e58f0-7f4e-4c7b-9a39-1a2b3c4d5e6f";
    const ids: string[] = [];
    for (const path of ["/api/health", "/account/providers/connect"]) {
      const answer = await ask(path, { headers: { [REQUEST_ID_HEADER]: claimed } });
      const { headers } = await answer.json();
      const id = headers[REQUEST_ID_HEADER];
      assertEquals(requestIdOf(new Headers(headers), { frontDoorSecrets: [SECRET] }), id, "the functions refuse it");
      ids.push(id);
    }
    assertEquals(new Set([claimed, ...ids]).size, 3);
    // Caddy logs the response's headers, including the id from a function.
    if (name === "Caddy") return;
    await waitFor(async () => {
      const log = await door.log!();
      return ids.every((id) => log.includes(id));
    });
  });

  Deno.test(
    `${name} as front door accepts 25 MB only on upload paths`,
    { ignore },
    async () => {
      const sent = async (path: string, megabytes: number) => {
        const response = await ask(path, { method: "POST", body: new Uint8Array(megabytes * 1024 * 1024).fill(97) });
        const text = await response.text();
        return response.status === 200 ? JSON.parse(text).body.length : response.status;
      };
      assertEquals(await sent("/account/import/imp_x", 25.5), 25.5 * 1024 * 1024);
      assertEquals(await sent("/account/providers/x", 1), 1024 * 1024);
      // The fetch handler limits no bodies, because each function has its own limits.
      if (name === "the fetch handler") return;
      const tooLarge = [["/account/import/imp_x", 29, /larger than 10 MB/], [
        "/account/providers/x",
        3,
        /^That’s too long\./,
      ]] as const;
      for (const [path, megabytes, says] of tooLarge) {
        const response = await ask(path, { method: "POST", body: new Uint8Array(megabytes * 1024 * 1024) });
        assertEquals([response.status, response.headers.get("content-type")], [413, "text/plain; charset=utf-8"]);
        assertMatch(await response.text(), says);
      }
    },
  );

  Deno.test(
    `${name} as front door streams each event of a call at once, until the client disconnects`,
    { ignore },
    async () => {
      const response = await ask("/api/mcp?stream", { method: "POST", signal: AbortSignal.timeout(10_000) });
      const reader = response.body!.pipeThrough(new TextDecoderStream()).getReader();
      for (const event of [1, 2, 3]) {
        if (event > 1) stream.send(event);
        assertEquals((await reader.read()).value, `data: ${event}\n\n`);
      }
      await reader.cancel();
      await waitFor(() => Promise.resolve(stream.isCancelled || undefined), { everyMs: 10 });
    },
  );
  if (name !== "the fetch handler") {
    // The last request, because it stops the functions.
    Deno.test(`${name} as front door sets HSTS even when the functions are unreachable`, { ignore }, async () => {
      await functions.shutdown();
      const response = await ask("/login");
      await response.body?.cancel();
      assertEquals([response.status, response.headers.get("strict-transport-security")], [502, "max-age=31536000"]);
    });
  }
}
