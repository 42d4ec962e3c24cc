/** The guarded fetch over a fake network; pinned_tls_test.ts tests the real one. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import {
  type Connection,
  createGuardedFetch,
  type GuardedRequest,
  type Network,
} from "../../../shared/net/guarded_fetch.ts";

const PUBLIC = "93.184.216.34";
const PUBLIC_6 = "2606:2800:21f:cb07:6820:80da:af6b:8b2c";
const OK = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}";

interface World {
  /** The resolver's answers in sequence; the last one repeats. */
  names?: Partial<Record<"A" | "AAAA", string[] | Error>>[];
  connect?: (address: string) => Connection | Error;
  tls?: Error;
  answer?: string;
  fetch?: typeof fetch;
}

/** A guarded fetch in a fake network, and its requests there. */
function within({ names = [{ A: [PUBLIC] }], connect, tls, answer = OK, fetch }: World) {
  const did: string[] = [];
  let sent = "";
  const asked = { A: 0, AAAA: 0 };
  const network: Network = {
    resolve: (name, type) => {
      did.push(`resolve ${name} ${type}`);
      const found = names[Math.min(asked[type]++, names.length - 1)]![type] ?? [];
      return found instanceof Error ? Promise.reject(found) : Promise.resolve(found);
    },
    connect: (address, port) => {
      did.push(`connect ${address} ${port}`);
      const connection = connect?.(address) ?? silent();
      return connection instanceof Error ? Promise.reject(connection) : Promise.resolve(connection);
    },
    startTls: (_connection, name) => {
      did.push(`tls ${name}`);
      return tls ? Promise.reject(tls) : Promise.resolve(saying(answer));
    },
  };
  const saying = (text: string): Connection => {
    let unread = new TextEncoder().encode(text);
    return {
      write: (bytes) => {
        sent += new TextDecoder().decode(bytes.subarray(0, 7));
        return Promise.resolve(Math.min(7, bytes.length));
      },
      read: (into) => {
        const part = unread.subarray(0, into.length);
        unread = unread.subarray(part.length);
        into.set(part);
        return Promise.resolve(part.length || null);
      },
      close: () => void did.push("close"),
    };
  };
  const guarded = createGuardedFetch({
    network,
    fetch: fetch ?? (() => Promise.reject(new Error("unexpected fetch"))),
    refusedHosts: ["supabase.co"],
  });
  return {
    did,
    sent: () => sent,
    get: (url = "https://client.example/metadata?v=1", more: Partial<GuardedRequest> = {}) =>
      guarded({ url, maxBytes: 5120, deadlineMs: 2000, ...more }),
  };
}

const silent = (): Connection => ({ read: () => Promise.resolve(null), write: () => Promise.resolve(0), close() {} });
const failing = (name: string, message = "") => Object.assign(new Error(message), { name });
const text = (body: Uint8Array) => new TextDecoder().decode(body);

Deno.test("guardedFetch() resolves once and connects to the checked address", async () => {
  // A name server first returns a harmless address, then the attacker's target.
  const world = within({ names: [{ A: [PUBLIC] }, { A: ["127.0.0.1"] }] });
  const answer = await world.get();
  assertEquals(answer.ok && [answer.status, text(answer.body)], [200, "{}"]);
  assertEquals(world.did, [
    "resolve client.example A",
    "resolve client.example AAAA",
    `connect ${PUBLIC} 443`,
    "tls client.example",
    "close",
  ]);
  assertEquals(
    world.sent(),
    "GET /metadata?v=1 HTTP/1.1\r\nhost: client.example\r\naccept-encoding: identity\r\nconnection: close\r\n\r\n",
  );
});

Deno.test("guardedFetch() sends the given headers, except those that it sets itself", async () => {
  const world = within({});
  const headers = {
    accept: "application/json",
    Host: "127.0.0.1",
    "Accept-Encoding": "gzip",
    Connection: "keep-alive",
  };
  await world.get("https://client.example/", { headers });
  assertEquals(
    world.sent(),
    "GET / HTTP/1.1\r\nhost: client.example\r\naccept: application/json\r\naccept-encoding: identity\r\nconnection: close\r\n\r\n",
  );
});

Deno.test("guardedFetch() posts a body with its length in bytes", async () => {
  const { get, sent } = within({});
  await get("https://client.example/hook", { body: '{"a":"é"}' });
  assertStringIncludes(sent(), "POST /hook HTTP/1.1\r\n");
  assertStringIncludes(sent(), "content-length: 10\r\n");
  assertStringIncludes(sent(), '\r\n\r\n{"a"');
});

Deno.test("guardedFetch() allows no line break in a request", async () => {
  const world = within({});
  await world.get("https://client.example/a%0d%0ax:%20y?b%0d%0a");
  assertStringIncludes(world.sent(), "GET /a%0d%0ax:%20y?b%0d%0a HTTP/1.1\r\n");
  const refused = await within({}).get("https://client.example/", { headers: { x: "a\r\nhost: evil" } });
  assertEquals(refused.ok, false);
});

Deno.test("guardedFetch() makes no request for a disallowed URL", async () => {
  for (
    const url of ["http://client.example/", "https://127.0.0.1/", "https://localhost/", "https://ref.supabase.co/"]
  ) {
    const world = within({});
    assertEquals([(await world.get(url)).ok, world.did], [false, []], url);
  }
});

const HIDDEN = [
  "127.0.0.1",
  "10.0.0.1",
  "169.254.169.254",
  "100.100.100.200",
  "192.168.1.1",
  "0.0.0.0",
  "168.63.129.16",
];
const HIDDEN_6 = [
  "::1",
  "::ffff:127.0.0.1",
  "64:ff9b::a9fe:a9fe",
  "2002:7f00:1::",
  "fd00:ec2::254",
  "fe80::1",
  "2001::1",
];

Deno.test("guardedFetch() connects nowhere when any of the addresses is not public", async () => {
  const worlds = [
    ...HIDDEN.flatMap((hidden) => [{ A: [hidden] }, { A: [PUBLIC, hidden] }, { A: [hidden], AAAA: [PUBLIC_6] }]),
    ...HIDDEN_6.flatMap((
      hidden,
    ) => [{ AAAA: [hidden] }, { AAAA: [PUBLIC_6, hidden] }, { A: [PUBLIC], AAAA: [hidden] }]),
  ];
  for (const names of worlds) {
    const world = within({ names: [names] });
    assertEquals(await world.get(), { ok: false, reason: "address_not_public" }, JSON.stringify(names));
    assertEquals(world.did.filter((step) => !step.startsWith("resolve")), []);
  }
});

Deno.test("guardedFetch() requires a response to both DNS queries", async () => {
  for (const names of [{}, { A: new Error("SERVFAIL") }, { A: [PUBLIC], AAAA: new Error("SERVFAIL") }]) {
    assertEquals(await within({ names: [names] }).get(), { ok: false, reason: "unresolvable" });
  }
});

Deno.test("guardedFetch() tries the next address when one does not respond", async () => {
  const world = within({
    names: [{ A: [PUBLIC], AAAA: [PUBLIC_6] }],
    connect: (address) => address === PUBLIC ? failing("ConnectionRefused") : silent(),
  });
  assertEquals((await world.get()).ok, true);
  assertEquals(world.did.filter((step) => step.startsWith("connect")), [
    `connect ${PUBLIC} 443`,
    `connect ${PUBLIC_6} 443`,
  ]);
  const dead = within({ connect: () => failing("Error", "Address family not supported by protocol (os error 97)") });
  assertEquals(await dead.get(), { ok: false, reason: "unreachable" });
});

Deno.test("guardedFetch() distinguishes a certificate error from an unreachable server", async () => {
  const tls = failing("InvalidData", "invalid peer certificate: NotValidForName");
  assertEquals(await within({ tls }).get(), { ok: false, reason: "tls_failed" });
});

Deno.test("guardedFetch() returns redirects without following them", async () => {
  const world = within({
    answer: "HTTP/1.1 302 Found\r\nlocation: http://169.254.169.254/\r\ncontent-length: 0\r\n\r\n",
  });
  const answer = await world.get();
  assertEquals(answer.ok && answer.status, 302);
  assertEquals(world.did.filter((step) => step.startsWith("connect")).length, 1);
});

Deno.test("guardedFetch() ends at its deadline at any stage and closes its connections", async () => {
  const never = <Result>() => new Promise<Result>(() => {});
  const open: string[] = [];
  const waiting = (name: string): Connection => {
    open.push(name);
    return {
      read: () => never(),
      write: (bytes) => Promise.resolve(bytes.length),
      close: () => void open.splice(open.indexOf(name) >>> 0, 1),
    };
  };
  const later = <Result>(result: () => Result) =>
    new Promise<Result>((resolve) => setTimeout(() => resolve(result()), 60));
  const worlds: Record<string, Partial<Network>> = {
    "a name": { resolve: () => never() },
    "a connection": { connect: () => never() },
    "a connection that comes too late": { connect: () => later(() => waiting("late tcp")) },
    "TLS": { startTls: () => never() },
    "TLS that comes too late": { startTls: () => later(() => waiting("late tls")) },
    "a byte": {},
  };
  for (const [what, network] of Object.entries(worlds)) {
    const guarded = createGuardedFetch({
      network: {
        resolve: (_name, type) => Promise.resolve(type === "A" ? [PUBLIC] : []),
        connect: () => Promise.resolve(waiting("tcp")),
        startTls: () => Promise.resolve(waiting("tls")),
        ...network,
      },
      fetch: () => never(),
      refusedHosts: [],
    });
    const answer = await guarded({ url: "https://client.example/", maxBytes: 10, deadlineMs: 30 });
    assertEquals(answer, { ok: false, reason: "timed_out" }, what);
    await later(() => {});
    assertEquals(open, [], what);
  }
});

/** The errors with which platforms report that raw TCP is forbidden. */
const FORBIDDEN = [
  failing("PermissionDenied"),
  failing("NotCapable"),
  failing("NotSupported"),
  new Error("tcp is not supported"),
];

Deno.test("guardedFetch() falls back to fetch where raw TCP is refused, with every check and limit in place", async () => {
  for (const forbidden of FORBIDDEN) {
    const inits: RequestInit[] = [];
    const stub: typeof fetch = (_input, init) => {
      inits.push(init!);
      return Promise.resolve(new Response('{"a":1}', { headers: { "content-type": "application/json" } }));
    };
    const world = within({ connect: () => forbidden, fetch: stub });
    const answer = await world.get("https://client.example/", { headers: { accept: "application/json" } });
    assertEquals(answer.ok && [answer.status, text(answer.body)], [200, '{"a":1}']);
    assertEquals([inits[0]!.redirect, new Headers(inits[0]!.headers).get("accept-encoding")], ["manual", "identity"]);

    const hidden = within({ names: [{ A: ["10.0.0.1"] }], connect: () => forbidden, fetch: stub });
    assertEquals(await hidden.get(), { ok: false, reason: "address_not_public" });
    assertEquals(inits.length, 1);
  }
});

Deno.test("guardedFetch() over fetch stops at the size limit, at the deadline and at a compressed body", async () => {
  const connect = () => failing("NotCapable");
  const endless = new ReadableStream<Uint8Array>({ pull: (stream) => stream.enqueue(new Uint8Array(1000)) });
  const stuck = new ReadableStream<Uint8Array>({ pull: () => new Promise(() => {}) });
  const worlds: [string, () => Promise<Response>][] = [
    ["too_large", () => Promise.resolve(new Response(endless))],
    ["timed_out", () => Promise.resolve(new Response(stuck))],
    ["timed_out", () => new Promise(() => {})],
    ["encoded", () => Promise.resolve(new Response("x", { headers: { "content-encoding": "gzip" } }))],
    ["unreachable", () => Promise.reject(new TypeError("error sending request"))],
  ];
  for (const [reason, fetch] of worlds) {
    const answer = await within({ connect, fetch }).get("https://client.example/", { maxBytes: 5120, deadlineMs: 50 });
    assertEquals(answer as unknown, { ok: false, reason });
  }
});
