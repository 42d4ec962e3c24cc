/** Requests to Vercel, and the parsing of its responses, which follow its reference's example. */
import { assert, assertEquals } from "@std/assert";
import { vercel } from "../../../shared/providers/vercel.ts";
import { asking, said } from "./asking.ts";

const credential = { team_id: "team_nllPyCtREAqxxdyF", token: "vcp_0123456789abcdefghij" };

const charge = (cost: unknown, more: Record<string, unknown> = {}) => ({
  BilledCost: cost,
  BillingCurrency: "USD",
  ChargeCategory: "Usage",
  ChargePeriodStart: "2026-10-01T00:00:00Z",
  ChargePeriodEnd: "2026-10-02T00:00:00Z",
  EffectiveCost: 99,
  ServiceName: "Function Duration",
  ...more,
});
const lines = (...charges: unknown[]) => charges.map((one) => JSON.stringify(one)).join("\n");
const answering = (answer: string | Response | ReadableStream<Uint8Array>) =>
  asking(vercel, { credential, answer: () => answer instanceof Response ? answer : new Response(answer) });

Deno.test("vercel requests the team's month, end exclusive", async () => {
  const { asked, outcome } = await answering(lines(charge(1.25), charge(0.005)));
  const url = new URL(asked[0]!.url);
  assertEquals(url.origin + url.pathname, "https://api.vercel.com/v1/billing/charges");
  assertEquals(Object.fromEntries(url.searchParams), {
    teamId: credential.team_id,
    from: "2026-10-01T00:00:00.000Z",
    to: "2026-11-01T00:00:00.000Z",
  });
  assertEquals(asked[0]!.headers.authorization, `Bearer ${credential.token}`);
  assertEquals(outcome, { amount: "1.26", currency: "USD", pages: 1 });
});

Deno.test("vercel's lines may have any line end, and arrive in any pieces", async () => {
  const text = lines(charge(1), charge(2, { ServiceName: "Größe 🏷️" }));
  for (const whole of [text, `${text}\n`, `${text}\r\n\r\n`, `\n${text.replace("\n", "\r\n\n")}`]) {
    const bytes = new TextEncoder().encode(whole);
    for (const size of [1, 7, 4096]) {
      let at = 0;
      const pieces = new ReadableStream<Uint8Array>({
        pull(stream) {
          if (at >= bytes.length) return stream.close();
          stream.enqueue(bytes.slice(at, at += size));
        },
      });
      assertEquals(said(await answering(pieces)), { amount: "3.00", currency: "USD", pages: 1 });
    }
  }
});

Deno.test("vercel counts charges that began in the month, including credits", async () => {
  const charges = lines(
    charge(240, { ChargePeriodStart: "2026-04-01T00:00:00Z" }),
    charge(3, { ChargePeriodStart: "2026-09-30T23:59:59.999Z" }),
    charge(10.1),
    charge(-0.1, { ChargeCategory: "Credit", ChargePeriodStart: "2026-10-31T00:00:00.000Z" }),
    charge(7, { ChargePeriodStart: "2026-11-01T00:00:00Z" }),
  );
  assertEquals(said(await answering(charges)), { amount: "10.00", currency: "USD", pages: 1 });
});

Deno.test("vercel without charges is not ready, and never 0", async () => {
  const notFound = (code: string) => Response.json({ error: { code, message: "Costs not found" } }, { status: 404 });
  assertEquals(said(await answering(notFound("costs_not_found"))), "not_ready");
  assertEquals(said(await answering("")), "not_ready");
  assertEquals(said(await answering(lines(charge(1, { ChargePeriodStart: "2026-09-01T00:00:00Z" })))), "not_ready");
  assertEquals(said(await answering(notFound("team_not_found"))), "bad_shape");
  assertEquals(said(await answering(new Response("<h1>404</h1>", { status: 404 }))), "bad_shape");
});

Deno.test("vercel refuses a stream with other lines", async () => {
  const good = charge(1);
  for (
    const text of [
      lines(good, charge(1, { BillingCurrency: "EUR" })),
      lines(good, charge(null)),
      lines(good, charge(undefined)),
      lines(good, charge(1, { ChargePeriodStart: "soon" })),
      lines(good, null),
      `${lines(good)}\n{"error":`,
      `[${lines(good)}]`,
      "<!doctype html>",
    ]
  ) {
    assertEquals(said(await answering(text)), "bad_shape", text);
  }
  assertEquals(said(await answering(new Response(new Uint8Array([0x7b, 0xff, 0x7d])))), "bad_shape");
});

Deno.test("vercel's charges may be larger than other responses, up to a limit", async () => {
  const block = new TextEncoder().encode(`${lines(charge(0.001))}\n`.repeat(4000));
  const stream = (blocks: number) => {
    let sent = 0;
    let isCancelled = false;
    const body = new ReadableStream<Uint8Array>({
      pull: (stream) => sent++ < blocks ? stream.enqueue(block.slice()) : stream.close(),
      cancel: () => void (isCancelled = true),
    });
    return { body, sent: () => sent * block.length, isCancelled: () => isCancelled };
  };
  const large = stream(Math.ceil(6_000_000 / block.length));
  assert((said(await answering(large.body)) as { amount: string }).amount > "1");
  const endless = stream(Infinity);
  assertEquals(said(await answering(endless.body)), "bad_shape");
  assert(endless.isCancelled() && endless.sent() < 55_000_000);
  assertEquals(said(await answering(" ".repeat(300_000))), "bad_shape");
});
