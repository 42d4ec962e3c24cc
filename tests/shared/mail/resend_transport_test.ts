/** The HTTPS transport's interpretation of the service's responses, sensible or not. */
import { assertEquals } from "@std/assert";
import { resendTransport } from "../../../shared/mail/resend_transport.ts";
import { mailsTo } from "./mails.ts";

/** The outcome of this many mails for a given response. */
async function deliver(count: number, body: unknown, status = 200) {
  const response = new Response(typeof body === "string" ? body : JSON.stringify(body), { status });
  const transport = resendTransport({ key: "re_1", from: "us@example.com", fetch: () => Promise.resolve(response) });
  const mails = mailsTo(Array.from({ length: count }, (_, n) => `owner${n}@x.example`));
  const { results, pause } = await transport.deliver(mails, {
    key: "key",
    timeoutMs: 1_000,
    onSettled: () => Promise.resolve(),
  });
  assertEquals(results.map(({ id }) => id), mails.map(({ id }) => id));
  return {
    outcomes: results.map(({ outcome, code, refused, alone }) =>
      [outcome, code, refused && "refused", alone && "alone"].filter(Boolean).join(" ")
    ),
    pause: pause?.code,
  };
}

const TO = "Invalid `to` field. The email address needs to follow the `email@example.com` format.";
const FROM = "Invalid `from` field. The email address needs to follow the `email@example.com` format.";
const error = (index: number, message: unknown) => ({ index, message });

const ADDRESS = "dead address_refused refused";
const MAIL = "dead mail_refused";
const US = "held mail_not_allowed";
const UNSURE = "unsure mail_no_answer";
const PAUSE = "mail_not_allowed";

Deno.test("in a partly accepted batch, only an error that names an address refuses it", async () => {
  for (
    const [message, outcome, pause] of [
      [TO, ADDRESS, undefined],
      [FROM, US, PAUSE],
      ["The example.com domain is not verified.", US, PAUSE],
      ["Invalid `subject` field.", MAIL, undefined],
      ["We failed to send to nobody from nowhere.", MAIL, undefined],
      [undefined, MAIL, undefined],
      [{ strange: true }, MAIL, undefined],
    ] as const
  ) {
    const answer = await deliver(3, { data: [{}, {}], errors: [error(1, message)] });
    assertEquals(answer, { outcomes: ["sent", outcome, "sent"], pause });
  }
});

Deno.test("a batch with no accepted mail is held, and each mail is tried alone if all addresses are blamed", async () => {
  const none = (message: string) => deliver(2, { data: [], errors: [error(0, message), error(1, message)] });
  assertEquals(await none(FROM), { outcomes: [US, US], pause: PAUSE });
  assertEquals(await none("Something."), { outcomes: [US, US], pause: PAUSE });
  assertEquals(await none(TO), { outcomes: [`${US} alone`, `${US} alone`], pause: PAUSE });
  assertEquals(await deliver(1, { errors: [error(0, TO)] }), { outcomes: [ADDRESS], pause: undefined });
});

Deno.test("after a refused call several mails are tried alone, a single one fails, and a refused sender waits", async () => {
  for (const status of [400, 422]) {
    const refuse = (count: number, message: string) => deliver(count, { name: "validation_error", message }, status);
    assertEquals(await refuse(1, TO), { outcomes: [ADDRESS], pause: undefined });
    assertEquals(await refuse(1, FROM), { outcomes: [US], pause: PAUSE });
    assertEquals(await refuse(1, "Missing `html` field."), { outcomes: [MAIL], pause: undefined });
    assertEquals(await refuse(2, TO), { outcomes: Array(2).fill("held mail_refused alone"), pause: undefined });
    assertEquals(await refuse(2, FROM), { outcomes: [US, US], pause: PAUSE });
  }
});

Deno.test("a call that is too large is split; a single mail that is too large fails", async () => {
  assertEquals(await deliver(2, "", 413), { outcomes: Array(2).fill("held mail_refused alone"), pause: undefined });
  assertEquals(await deliver(1, "", 413), { outcomes: [MAIL], pause: undefined });
});

const STRANGE = ["", "null", "[]", "7", '"ok"', "{", '{"errors":"none"}', '{"errors":{"0":"x"}}', '{"errors":[null]}'];

Deno.test("an unreadable success response is retried", async () => {
  const indexes = [2, -1, 0.5, "0", null].map((index) => JSON.stringify({ errors: [{ index, message: TO }] }));
  for (const body of [...STRANGE, ...indexes]) {
    assertEquals(await deliver(2, body), { outcomes: [UNSURE, UNSURE], pause: undefined }, body);
  }
});

Deno.test("a success response that does not name each mail confirms nothing", async () => {
  for (const body of ["{}", '{"data":[]}', '{"data":[{}]}', '{"errors":null}', '{"data":"x","more":1}']) {
    assertEquals(await deliver(2, body), { outcomes: [UNSURE, UNSURE], pause: undefined }, body);
  }
  for (const body of ['{"data":[{},{}]}', '{"data":[{},{}],"errors":[]}', '{"data":[{},{}],"errors":null,"more":1}']) {
    assertEquals(await deliver(2, body), { outcomes: ["sent", "sent"], pause: undefined }, body);
  }
});

Deno.test("an unexpected body in any other response changes nothing", async () => {
  const strange = [...STRANGE, '{"name":7,"message":[]}'];
  for (
    const [status, outcome, pause] of [
      [409, "unsure mail_in_flight", undefined],
      [401, US, PAUSE],
      [422, MAIL, undefined],
      [429, "held mail_rate_limited", "mail_rate_limited"],
      [500, "unsure mail_unavailable", undefined],
    ] as const
  ) {
    for (const body of strange) assertEquals(await deliver(1, body, status), { outcomes: [outcome], pause }, body);
  }
});
