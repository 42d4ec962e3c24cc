/**
 * The real network: sockets, TLS and certificates of a private issuer, on loopback. Only names and the final dialing
 * step are faked.
 */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { createDenoNetwork } from "../../../shared/net/deno_network.ts";
import { createGuardedFetch, type GuardedRequest } from "../../../shared/net/guarded_fetch.ts";
import { createIssuer, serveTls, type TlsServer } from "../../_support/tls.ts";

const PUBLIC = "93.184.216.34";
const issuer = createIssuer();
const certificate = issuer.issue("client.example");

const utf8 = new TextEncoder();
const say = (text: string) => (connection: Deno.TlsConn) => writeAll(connection, text);

async function writeAll(connection: Deno.TlsConn, text: string): Promise<void> {
  const bytes = utf8.encode(text);
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}

/** GETs over real TLS from `server`, which stands in for `PUBLIC`. */
function get(
  server: TlsServer,
  { url = "https://client.example/metadata", trusted = [issuer.certificate], ...request }:
    & Partial<GuardedRequest>
    & { trusted?: string[] } = {},
) {
  const network = createDenoNetwork({ caCerts: trusted });
  const guarded = createGuardedFetch({
    network: {
      ...network,
      resolve: (_name, type) => Promise.resolve(type === "A" ? [PUBLIC] : []),
      connect: (address, port) => {
        assertEquals([address, port], [PUBLIC, 443]);
        return network.connect("127.0.0.1", server.port);
      },
    },
    fetch: () => Promise.reject(new Error("unexpected fetch")),
    refusedHosts: [],
  });
  return guarded({ url, maxBytes: 5120, deadlineMs: 2000, ...request });
}

async function within(answer: (connection: Deno.TlsConn) => Promise<void>, work: (server: TlsServer) => Promise<void>) {
  const server = serveTls(certificate, answer);
  try {
    await work(server);
  } finally {
    await server.close();
  }
}

Deno.test("a name is requested over TLS at the checked address", async () => {
  await within(say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"), async (server) => {
    const answer = await get(server);
    assertEquals(answer.ok && [answer.status, new TextDecoder().decode(answer.body)], [200, "{}"]);
    assertStringIncludes(server.requests[0]!, "GET /metadata HTTP/1.1\r\nhost: client.example\r\n");
  });
});

Deno.test("a certificate for another name is refused, and nothing is sent", async () => {
  await within(say("HTTP/1.1 200 OK\r\n\r\n{}"), async (server) => {
    assertEquals(await get(server, { url: "https://other.example/" }), { ok: false, reason: "tls_failed" });
    assertEquals([server.connections(), server.requests], [1, []]);
  });
});

Deno.test("a certificate of an unknown issuer is refused, and nothing is sent", async () => {
  await within(say("HTTP/1.1 200 OK\r\n\r\n{}"), async (server) => {
    assertEquals(await get(server, { trusted: [] }), { ok: false, reason: "tls_failed" });
    assertEquals(await get(server, { trusted: [createIssuer().certificate] }), { ok: false, reason: "tls_failed" });
    assertEquals([server.connections(), server.requests], [2, []]);
  });
});

Deno.test("a server that speaks no TLS is refused", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const speaking = listener.accept().then(async (connection) => {
    await connection.write(utf8.encode("HTTP/1.1 200 OK\r\n\r\n{}"));
    connection.close();
  });
  const plain: TlsServer = {
    port: (listener.addr as Deno.NetAddr).port,
    requests: [],
    connections: () => 1,
    close: () => speaking,
  };
  assertEquals(await get(plain), { ok: false, reason: "tls_failed" });
  await plain.close();
  listener.close();
});

Deno.test("a redirect over TLS is returned, not followed", async () => {
  await within(say("HTTP/1.1 301 Moved\r\nlocation: https://client.example/x\r\n\r\n"), async (server) => {
    const answer = await get(server);
    assertEquals(answer.ok && [answer.status, answer.headers.get("location")], [301, "https://client.example/x"]);
    assertEquals(server.connections(), 1);
  });
});

Deno.test("a body without end is cut at the size limit", async () => {
  const pour = async (connection: Deno.TlsConn) => {
    await writeAll(connection, "HTTP/1.1 200 OK\r\n\r\n");
    while (true) await connection.write(new Uint8Array(1024));
  };
  await within(pour, async (server) => {
    assertEquals(await get(server), { ok: false, reason: "too_large" });
  });
});

Deno.test("a slow body is cut at the deadline", async () => {
  const { promise: over, resolve: finish } = Promise.withResolvers<void>();
  const drip = async (connection: Deno.TlsConn) => {
    await writeAll(connection, "HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n");
    const dripping = setInterval(() => void connection.write(new Uint8Array(1)).catch(() => {}), 20);
    await over;
    clearInterval(dripping);
  };
  await within(drip, async (server) => {
    assertEquals(await get(server, { deadlineMs: 200 }), { ok: false, reason: "timed_out" });
    // The server would continue for minutes.
    finish();
  });
});

Deno.test("a truncated response is refused, even without a length", async () => {
  for (const head of ["content-length: 5000\r\n", "transfer-encoding: chunked\r\n", ""]) {
    const said = Promise.withResolvers<void>();
    const gone = Promise.withResolvers<void>();
    const sayAndWait = async (connection: Deno.TlsConn) => {
      await writeAll(connection, `HTTP/1.1 200 OK\r\n${head}\r\n2\r\n{}`);
      said.resolve();
      await gone.promise;
    };
    await within(sayAndWait, async (server) => {
      const wire = Deno.listen({ hostname: "127.0.0.1", port: 0 });
      const passing = (async () => {
        const [near, far] = [await wire.accept(), await Deno.connect({ hostname: "127.0.0.1", port: server.port })];
        const piped = Promise.allSettled([near.readable.pipeTo(far.writable), far.readable.pipeTo(near.writable)]);
        await said.promise;
        // Long enough for loopback to deliver the bytes; TLS sends no close_notify when the connection drops.
        await new Promise((resolve) => setTimeout(resolve, 50));
        near.close();
        far.close();
        await piped;
        gone.resolve();
      })();
      const answer = await get({ ...server, port: wire.addr.port });
      assertEquals(answer, { ok: false, reason: "cut_short" }, head);
      await passing;
      wire.close();
    });
  }
});
