import { assert, assertEquals, assertRejects } from "@std/assert";
import fc from "fast-check";
import { type HttpResponse, readResponse } from "../../../shared/net/http_response.ts";
import { FetchRefused } from "../../../shared/net/refusal.ts";

const latin1 = (text: string) => Uint8Array.from(text, (char) => char.charCodeAt(0));

/** Parses a server's bytes, in pieces of `size` bytes. */
function read(sent: string, { size = 1000, maxBytes = 100 } = {}): Promise<HttpResponse> {
  let at = 0;
  return readResponse(() => {
    const part = latin1(sent.slice(at, at + size));
    at += size;
    return Promise.resolve(part.length > 0 ? part : null);
  }, { maxBytes });
}

async function assertRefused(sent: string, reason: string, options: { maxBytes?: number } = {}) {
  for (const size of [1, 7, 1000]) {
    const refused = await assertRejects(() => read(sent, { size, ...options }), FetchRefused, undefined, sent);
    assertEquals(refused.reason, reason, sent);
  }
}

const OK = "HTTP/1.1 200 OK\r\n";
const body = ({ body }: HttpResponse) => new TextDecoder().decode(body);

Deno.test("readResponse() reads a body by length, by chunks and to the end, however it arrives", async () => {
  const answers = [
    `${OK}Content-Length: 5\r\nX: a\r\nx:\tb \r\n\r\nhello and more`,
    `${OK}Transfer-Encoding: Chunked\r\nX: a\r\nX: b\r\n\r\n2\r\nhe\r\n0003;name="v"\r\nllo\r\n0\r\nTrailer: t\r\n\r\nand more`,
    `${OK}X: a\r\nX: b\r\n\r\nhello`,
    `HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.0 200\r\nx: a\r\nx: b\r\ncontent-encoding: identity\r\n\r\nhello`,
  ];
  for (const sent of answers) {
    for (const size of [1, 2, 3, 1000]) {
      const response = await read(sent, { size });
      assertEquals([response.status, response.headers.get("x"), body(response)], [200, "a, b", "hello"], sent);
    }
  }
});

Deno.test("readResponse() reads responses without a body, and redirects unchanged", async () => {
  assertEquals(body(await read("HTTP/1.1 204 No Content\r\n\r\nignored")), "");
  assertEquals(body(await read("HTTP/1.1 304 Not Modified\r\ncontent-length: 10\r\n\r\n")), "");
  const moved = await read("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1/\r\ncontent-length: 0\r\n\r\n");
  assertEquals([moved.status, moved.headers.get("location")], [302, "http://127.0.0.1/"]);
});

Deno.test("readResponse() stops at the size limit, announced or not", async () => {
  const full = "x".repeat(100);
  assertEquals(body(await read(`${OK}content-length: 100\r\n\r\n${full}`)), full);
  assertEquals(body(await read(`${OK}\r\n${full}`)), full);
  await assertRefused(`${OK}content-length: 101\r\n\r\n`, "too_large");
  await assertRefused(`${OK}\r\n${full}x`, "too_large");
  await assertRefused(`${OK}transfer-encoding: chunked\r\n\r\n64\r\n${full}\r\n1\r\nx\r\n0\r\n\r\n`, "too_large");
  await assertRefused(`${OK}transfer-encoding: chunked\r\n\r\nffffffff\r\n`, "too_large");
});

Deno.test("readResponse() refuses a compressed body that was not requested", async () => {
  for (const coding of ["gzip", "br", "identity, gzip"]) {
    await assertRefused(`${OK}Content-Encoding: ${coding}\r\ncontent-length: 2\r\n\r\nxx`, "encoded");
  }
});

Deno.test("readResponse() refuses a truncated response", async () => {
  for (
    const sent of [
      "",
      "HTTP/1.1 200",
      OK,
      `${OK}x: y\r\n`,
      `${OK}content-length: 5\r\n\r\nhell`,
      `${OK}transfer-encoding: chunked\r\n\r\n5\r\nhello\r\n`,
      `${OK}transfer-encoding: chunked\r\n\r\n5\r\nhel`,
    ]
  ) await assertRefused(sent, "cut_short");
});

Deno.test("readResponse() refuses ambiguous or endless responses", async () => {
  for (
    const sent of [
      "HTTP/2 200 OK\r\n\r\n",
      "HTTP/1.1 99 \r\n\r\n",
      "HTTP/1.1 2000 OK\r\n\r\n",
      "HTTP/1.1 101 Switching Protocols\r\n\r\n",
      "SSH-2.0-OpenSSH_9.9\r\n\r\n",
      "220 mail ESMTP\r\n\r\n",
      "\r\n\r\n",
      "HTTP/1.1 200 OK\n\n",
      `${OK}x: y\n\n`,
      `${OK}x: y\r\n folded\r\n\r\n`,
      `${OK} x: y\r\n\r\n`,
      `${OK}x : y\r\n\r\n`,
      `${OK}no colon\r\n\r\n`,
      `${OK}: y\r\n\r\n`,
      `${OK}x: a\rb\r\n\r\n`,
      `${OK}x: a\0b\r\n\r\n`,
      `${OK}content-length: 1\r\ncontent-length: 2\r\n\r\nxx`,
      `${OK}content-length: -1\r\n\r\n`,
      `${OK}content-length: 0x1\r\n\r\nx`,
      `${OK}content-length: 1\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n`,
      `${OK}transfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n`,
      `${OK}transfer-encoding: identity\r\n\r\nx`,
      `${OK}transfer-encoding: chunked\r\n\r\nx\r\n`,
      `${OK}transfer-encoding: chunked\r\n\r\n-1\r\n`,
      `${OK}transfer-encoding: chunked\r\n\r\n1\r\nxx\r\n0\r\n\r\n`,
      `${OK}transfer-encoding: chunked\r\n\r\n${"0".repeat(20)}\r\n\r\n`,
      `${OK}transfer-encoding: chunked\r\n\r\n1;${"x".repeat(300)}\r\nx\r\n0\r\n\r\n`,
      `${OK}x: ${"y".repeat(17_000)}\r\n\r\n`,
      `${OK}${"x: y\r\n".repeat(4_000)}\r\n`,
      "HTTP/1.1 100 Continue\r\n\r\n".repeat(1_000) + `${OK}\r\n`,
      `${OK}transfer-encoding: chunked\r\n\r\n0\r\n${"x: y\r\n".repeat(4_000)}\r\n`,
    ]
  ) await assertRefused(sent, "malformed");
});

Deno.test("readResponse() parses or refuses any bytes, and never returns more than the limit", async () => {
  const piece = fc.oneof(
    fc.constantFrom(
      OK,
      "\r\n",
      "content-length: 3\r\n",
      "transfer-encoding: chunked\r\n",
      "3\r\nabc\r\n",
      "0\r\n",
      "abc",
    ),
    fc.string({ unit: fc.integer({ min: 0, max: 255 }).map((byte) => String.fromCharCode(byte)), maxLength: 8 }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(piece, { maxLength: 10 }), fc.integer({ min: 1, max: 9 }), async (pieces, size) => {
      const answer = await read(OK + pieces.join(""), { size, maxBytes: 6 }).catch((thrown) => thrown);
      if (!(answer instanceof FetchRefused)) assert(answer.body.length <= 6, String(answer));
    }),
    { numRuns: 2000 },
  );
});
