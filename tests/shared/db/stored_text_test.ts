/** Text is made valid for PostgreSQL before it reaches the database. */
import { assertEquals, assertRejects } from "@std/assert";
import { createDatabase } from "../../../shared/db/client.ts";
import { AppError } from "../../../shared/errors.ts";

async function sentFor(args: Record<string, unknown>): Promise<unknown> {
  let body = "";
  const send = ((_url: string, { body: sent }: RequestInit) => {
    body = sent as string;
    return Promise.resolve(Response.json(null));
  }) as typeof fetch;
  await createDatabase({ url: "http://127.0.0.1", key: "sb_secret_x", fetch: send }).call("find_client", args);
  return JSON.parse(body);
}

Deno.test("call() replaces a lone surrogate with U+FFFD, even in keys, and sends everything else unchanged", async () => {
  const half = "\ufffd";
  assertEquals(await sentFor({ a: "x\ud83d", b: ["\udc00\udc00", "\\\ud83d"], c: { "k\ud800": "😀" } }), {
    ...{ a: `x${half}`, b: [half + half, `\\${half}`], c: { [`k${half}`]: "😀" } },
  });
  const kept = { a: "\\ud83d", b: "\\\\u0000", c: "\u0001\u001f\ufffe", d: "\\u0000" };
  assertEquals(await sentFor(kept), kept);
});

Deno.test("call() refuses NUL, which database text can't contain", async () => {
  for (const args of [{ a: "\0" }, { a: { "b\0": 1 } }, { a: "\\\0" }]) {
    const { code } = await assertRejects(() => sentFor(args), AppError);
    assertEquals(code, "invalid_request");
  }
});
