import { assert, assertEquals, assertRejects } from "@std/assert";
import { AppError } from "../../../shared/errors.ts";
import type { AppContext } from "../../../shared/http/app.ts";
import { BodyReader } from "../../../shared/http/body_reader.ts";
import { readBody, readText } from "../../../shared/http/read_body.ts";
import { fakeTimer } from "../../_support/fake_timer.ts";

const requestOf = (body?: BodyInit) => new Request("https://site.example/", { method: "POST", body: body ?? null });
const post = (body?: BodyInit) => ({ get: () => undefined, req: { raw: requestOf(body) } }) as unknown as AppContext;

/** A body that arrives on the test's command. */
function slowBody() {
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  let isCancelled = false;
  const body = new ReadableStream<Uint8Array>({
    start: (opened) => void (controller = opened),
    cancel: () => void (isCancelled = true),
  });
  return {
    body,
    send: (text: string) => controller.enqueue(new TextEncoder().encode(text)),
    end: () => controller.close(),
    isCancelled: () => isCancelled,
  };
}

const failureOf = (reading: Promise<unknown>) => reading.then(() => undefined, (thrown: AppError) => thrown.code);

Deno.test("readBody() reads up to its limit, in any number of pieces, and returns nothing without a body", async () => {
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

Deno.test("readBody() reports a truncated body as the sender's error", async () => {
  const broken = new ReadableStream<Uint8Array>({ pull: (controller) => controller.error(new Error("broke off")) });
  assertEquals(await failureOf(readBody(post(broken), 10)), "invalid_request");
});

Deno.test("a body that sends nothing for five seconds is aborted", async () => {
  const { timer, pass, pending } = fakeTimer();
  const { body, send, isCancelled } = slowBody();
  const reading = failureOf(new BodyReader(requestOf(body), undefined, timer).readUpTo(100));
  await pass(4_999);
  send("a");
  await pass(4_999);
  assertEquals(isCancelled(), false);
  await pass(1);
  assertEquals([await reading, isCancelled(), pending()], ["request_timeout", true, 0]);
});

for (const [what, limit, seconds] of [["a short body", 65_536, 15], ["a file", 10_000_000, 100]] as const) {
  Deno.test(`${what} must arrive within ${seconds} seconds, even if it trickles steadily`, async () => {
    const { timer, pass } = fakeTimer();
    const { body, send } = slowBody();
    let failure: string | undefined;
    const reading = failureOf(new BodyReader(requestOf(body), undefined, timer).readUpTo(limit));
    void reading.then((code) => failure = code);
    for (let second = 1; second < seconds; second++) {
      send("a");
      await pass(1_000);
      assertEquals(failure, undefined);
    }
    send("a");
    await pass(1_000);
    assertEquals(await reading, "request_timeout");
  });
}

Deno.test("a body that ends in time leaves no timer behind", async () => {
  const { timer, pass, pending } = fakeTimer();
  const { body, send, end } = slowBody();
  const reader = new BodyReader(requestOf(body), undefined, timer);
  const reading = reader.readUpTo(100);
  send("abc");
  await pass(4_000);
  end();
  assertEquals([await reading, reader.text(), pending()], [true, "abc", 0]);
});
