/**
 * The front door in front of a gateway that treats functions as the hosted one does (GET pages become plain text in a sandbox). The same expectations hold for
 * the fetch handler and, where they are installed, for the configuration printed for nginx and Caddy.
 */
import { assert, assertEquals, assertMatch } from "@std/assert";
import { join } from "node:path";
import { createFrontDoor } from "../../local/front_door/front_door.ts";
import { SERVERS } from "../../local/front_door/server_config.ts";
import { functionPath, PAGE_POLICY_HEADER, ROUTES } from "../../shared/routes.ts";

const SECRET = "the-front-door-has-this-one-of-32-bytes";
const POLICY = "default-src 'none'; style-src 'nonce-abc'";

/** Functions behind a gateway; every answer says what arrived. */
function hostedFunctions() {
  return Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    const arrived = JSON.stringify({
      path: pathname + search,
      method: request.method,
      body: await request.text(),
      headers: Object.fromEntries(request.headers),
    });
    const page = {
      "content-type": request.method === "GET" ? "text/plain" : "text/html; charset=utf-8",
      "content-security-policy": request.method === "GET" ? "default-src 'none'; sandbox" : POLICY,
      [PAGE_POLICY_HEADER]: POLICY,
    };
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
    if (search === "?stream") {
      const encoder = new TextEncoder();
      const body = new ReadableStream({
        async start(controller) {
          controller.enqueue(encoder.encode("data: 1\n\n"));
          await new Promise((resolve) => setTimeout(resolve, 400));
          controller.enqueue(encoder.encode("data: 2\n\n"));
          controller.close();
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    }
    return new Response(arrived, { headers: { "content-type": "application/json", "www-authenticate": "Bearer" } });
  });
}

interface Door {
  url: string;
  close(): Promise<void>;
}

function fetchHandler(functionsUrl: string): Promise<Door> {
  const frontDoor = createFrontDoor({ functionsUrl, secret: SECRET });
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request, { remoteAddr }) => {
    return frontDoor(request, { address: remoteAddr.hostname });
  });
  return Promise.resolve({ url: `http://127.0.0.1:${server.addr.port}`, close: () => server.shutdown() });
}

/** A port that was free a moment ago. */
function freePort(): number {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  listener.close();
  return listener.addr.port;
}

async function webServer(name: "nginx" | "caddy", functionsUrl: string): Promise<Door> {
  const folder = await Deno.makeTempDir();
  const host = `127.0.0.1:${freePort()}`;
  const printed = SERVERS[name]({ host: name === "caddy" ? `http://${host}` : "_", functionsUrl, secret: SECRET });
  const file = join(folder, "config");
  await Deno.writeTextFile(
    file,
    name === "caddy"
      // Whoever has proxies of their own before it lets Caddy believe them, which must not reach as far as the functions.
      ? `{\n  admin off\n}\n${printed.replaceAll(/reverse_proxy .* \{/g, "$&\n        trusted_proxies private_ranges")}`
      : `pid ${folder}/pid; error_log ${folder}/log; daemon off; events {} http { access_log off; ${
        printed.replace("listen 443 ssl", `listen ${host}`)
      } }`,
  );
  const args = name === "caddy" ? ["run", "--adapter", "caddyfile", "--config", file] : ["-c", file];
  const child = new Deno.Command(name, { args, env: { HOME: folder }, stdout: "null", stderr: "null" }).spawn();
  const url = `http://${host}`;
  while (!await fetch(url).then((response) => response.body?.cancel().then(() => true), () => false)) {
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return {
    url,
    async close() {
      child.kill("SIGTERM");
      await child.status;
      await Deno.remove(folder, { recursive: true });
    },
  };
}

const isInstalled = (name: string) => new Deno.Command("which", { args: [name] }).outputSync().success;

const doors: [name: string, open: (functionsUrl: string) => Promise<Door>, ignore: boolean][] = [
  ["the fetch handler", fetchHandler, false],
  ["nginx", (url) => webServer("nginx", url), !isInstalled("nginx")],
  ["Caddy", (url) => webServer("caddy", url), !isInstalled("caddy")],
];

for (const [name, open, ignore] of doors) {
  Deno.test({ name: `${name} as front door`, ignore, fn: (t) => behind(open, t) });
}

async function behind(open: (functionsUrl: string) => Promise<Door>, t: Deno.TestContext): Promise<void> {
  const functions = hostedFunctions();
  const door = await open(`http://127.0.0.1:${functions.addr.port}/functions/v1`);
  const ask = (path: string, init: RequestInit = {}) => fetch(`${door.url}${path}`, { redirect: "manual", ...init });
  try {
    await t.step("leads every public path to its function", async () => {
      for (const route of ROUTES) {
        const path = route.path === "/account/" ? "/account/providers/x" : route.path;
        for (const address of path === "/" ? [path] : [path, `${path}/`]) {
          const response = await ask(`${address}?a=1&b=%2F`);
          const text = await response.text();
          if (["/login", "/logout"].includes(path)) continue;
          assertEquals(JSON.parse(text).path, `/functions/v1${functionPath(route, path)}?a=1&b=%2F`);
        }
      }
    });

    await t.step("has the page that says so where there is nothing", async () => {
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

    await t.step("makes a page a page again, with its own policy and status", async () => {
      for (const method of ["GET", "POST"]) {
        const response = await ask("/login", { method, body: method === "POST" ? "email=a" : undefined });
        assertMatch(await response.text(), /^<p>/);
        assertEquals(response.status, 401);
        assertEquals(response.headers.get("content-type")?.toLowerCase(), "text/html; charset=utf-8");
        assertEquals(response.headers.get("content-security-policy"), POLICY);
        assertEquals(response.headers.get(PAGE_POLICY_HEADER), null);
      }
    });

    await t.step("leaves what is not a page as it is", async () => {
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

    await t.step("hands redirects and cookies to the browser", async () => {
      const response = await ask("/logout", { method: "POST" });
      await response.body?.cancel();
      assertEquals([response.status, response.headers.get("location")], [303, "/login"]);
      assertEquals(response.headers.getSetCookie(), ["a=1; Path=/; HttpOnly", "b=2; Path=/; HttpOnly"]);
    });

    await t.step("says who called, whatever the caller claims", async () => {
      const claims = { "x-forwarded-for": "6.6.6.6", "cf-connecting-ip": "6.6.6.6", "x-front-door-secret": "guess" };
      for (const path of ["/api/health", "/account/providers/connect"]) {
        const { headers } = await (await ask(path, { headers: claims })).json();
        assertEquals([headers["x-forwarded-for"], headers["cf-connecting-ip"], headers["x-front-door-secret"]], [
          "127.0.0.1",
          undefined,
          SECRET,
        ]);
      }
    });

    await t.step("streams", async () => {
      const startedAt = performance.now();
      const response = await ask("/api/mcp?stream");
      const reader = response.body!.getReader();
      assertEquals(new TextDecoder().decode((await reader.read()).value), "data: 1\n\n");
      assert(performance.now() - startedAt < 350, "the first event waited for the second");
      await reader.cancel();
    });
  } finally {
    await door.close();
    await functions.shutdown();
  }
}
