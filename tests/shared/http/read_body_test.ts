import { assert, assertEquals, assertRejects } from "@std/assert";
import { AppError } from "../../../shared/errors.ts";
import { readBody, readText } from "../../../shared/http/read_body.ts";

const post = (body?: BodyInit) => new Request("https://site.example/", { method: "POST", body: body ?? null });

Deno.test("readBody() reads up to its limit, in any number of pieces, and nothing without a body", async () => {
  const pieces = new ReadableStream<Uint8Array>({
    start(controller) {
      for (const text of ["§", "", "12", "3"]) controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
  assertEquals(await readText(post(pieces), 5), "§123");
  assertEquals((await readBody(post("12345"), 5)).byteLength, 5);
  assertEquals((await readBody(post(), 5)).byteLength, 0);
});

Deno.test("readBody() stops at its limit: an endless body is cancelled, not read", async () => {
  let sent = 0;
  const { promise: cancelled, resolve: cancel } = Promise.withResolvers<void>();
  const endless = new ReadableStream<Uint8Array>({
    pull(controller) {
      sent++;
      controller.enqueue(new Uint8Array(1000));
    },
    cancel: () => cancel(),
  });
  const error = await assertRejects(() => readBody(post(endless), 10_000), AppError);
  assertEquals([error.code, error.status], ["payload_too_large", 413]);
  await cancelled;
  assert(sent < 20, `${sent} pieces were read`);
});

Deno.test("readBody() fails on a truncated body", async () => {
  const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("broke off")) });
  await assertRejects(() => readBody(post(broken), 10), Error, "broke off");
});
