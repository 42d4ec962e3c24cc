/** The SMTP transport attributes each refusal to the recipient, the mail or the sender. */
import { assert, assertEquals } from "@std/assert";
import type { MailResult } from "../../../shared/mail/delivery.ts";
import { smtpTransport } from "../../../shared/mail/smtp_transport.ts";
import { mailsTo } from "./mails.ts";
import { type Script, type ScriptedServer, startScriptedServer } from "./scripted_smtp.ts";

interface Options {
  timeoutMs?: number;
  beginWithinMs?: number;
}

/** Sends mails to these addresses; returns each outcome, and the requested pause. */
async function deliver(
  server: Pick<ScriptedServer, "url">,
  addresses: string[],
  { timeoutMs = 2_000, beginWithinMs = timeoutMs }: Options = {},
) {
  const transport = smtpTransport({ url: server.url, from: "us@example.com", timeoutMs });
  const settled: MailResult[] = [];
  const mails = mailsTo(addresses);
  const { results, pause } = await transport.deliver(mails, {
    key: "key",
    timeoutMs: beginWithinMs,
    onSettled: (result) => Promise.resolve(void settled.push(result)),
  });
  transport.close();
  const all = [...settled, ...results];
  assertEquals(all.map(({ id }) => id).toSorted(), addresses.toSorted());
  return {
    outcomes: addresses.map((to) => {
      const { outcome, code, refused } = all.find(({ id }) => id === to)!;
      return [outcome, code, refused && "refused"].filter(Boolean).join(" ");
    }),
    pause: pause?.code,
  };
}

async function deliverThrough(script: Script, addresses: string[], options?: Options) {
  const server = await startScriptedServer(script);
  try {
    return { ...await deliver(server, addresses, options), connections: server.connections };
  } finally {
    server.close();
  }
}

// Node's sockets under Deno keep a timer for a moment after closing.
const test = (name: string, work: () => Promise<void>) =>
  Deno.test(name, { sanitizeOps: false, sanitizeResources: false }, work);

const US = { outcome: "held mail_not_allowed", pause: "mail_not_allowed" };
const MAIL = { outcome: "dead mail_refused", pause: undefined };
const ADDRESS = { outcome: "dead address_refused refused", pause: undefined };

const REFUSALS: [place: string, answer: string, { outcome: string; pause: string | undefined }][] = [
  ["greeting", "554 no mail from your network", US],
  ["MAIL FROM", "550 sender rejected", US],
  ["MAIL FROM", "550 5.1.8 no such sender", US],
  ["MAIL FROM", "550 5.7.1 account suspended", US],
  ["MAIL FROM", "530 5.7.0 authentication required", US],
  ["MAIL FROM", "552 5.3.4 message too big", MAIL],
  ["MAIL FROM", "451 4.3.0 later", { outcome: "held mail_put_off", pause: undefined }],
  ["RCPT TO", "550 5.1.1 no such user", ADDRESS],
  ["RCPT TO", "550-5.1.1 no such user\r\n550 5.1.1 see https://server.example", ADDRESS],
  ["RCPT TO", "550 #5.1.0 address rejected", ADDRESS],
  ["RCPT TO", "556 5.1.10 the domain takes no mail", ADDRESS],
  ["RCPT TO", "550 no such user", ADDRESS],
  ["RCPT TO", "551 user not local", ADDRESS],
  ["RCPT TO", "553 mailbox name not allowed", ADDRESS],
  ["RCPT TO", "550 no such user at 10.5.1.8", ADDRESS],
  ["RCPT TO", "550 5.7.1 blocked", US],
  ["RCPT TO", "550 blocked (5.7.1)", US],
  ["RCPT TO", "553 5.1.8 the sender's domain does not exist", US],
  ["RCPT TO", "554 relay denied", US],
  ["RCPT TO", "554 5.7.1 relay access denied", US],
  ["RCPT TO", "552 5.2.2 mailbox full", MAIL],
  ["RCPT TO", "552 mailbox full", MAIL],
  ["RCPT TO", "550 5.2.1 mailbox disabled", MAIL],
  ["RCPT TO", "451 4.2.1 later", { outcome: "held mail_put_off", pause: undefined }],
  ["DATA", "554 no", MAIL],
  ["content", "554 no", MAIL],
  ["content", "550 5.1.1 no such user", MAIL],
  ["content", "554 5.7.1 sender not authorized", US],
];

for (const [place, answer, { outcome, pause }] of REFUSALS) {
  test(`${place}: ${answer.replace("\r\n", " ")}: ${outcome}`, async () => {
    const { outcomes, pause: asked } = await deliverThrough({ answers: { [place]: answer } }, ["ann@x.example"]);
    assertEquals([outcomes, asked], [[outcome], pause]);
  });
}

test("with pipelined commands, the reply about the sender counts first", async () => {
  const answers = { "EHLO": "250-server\r\n250 PIPELINING", "RCPT TO": "503 no sender", "DATA": "554 no recipients" };
  const mail = await deliverThrough({ answers: { ...answers, "MAIL FROM": "550 no" } }, ["ann@x.example"]);
  assertEquals([mail.outcomes, mail.pause], [[US.outcome], US.pause]);
  const rcpt = await deliverThrough({ answers: { ...answers, "RCPT TO": "550 5.1.1 no such user" } }, ["a@x.example"]);
  assertEquals([rcpt.outcomes, rcpt.pause], [[ADDRESS.outcome], undefined]);
});

test("a rejected sender stops the rest of the batch, and no address is marked", async () => {
  const addresses = Array.from({ length: 20 }, (_, n) => `owner${n}@x.example`);
  const { outcomes, pause } = await deliverThrough({ answers: { "MAIL FROM": "550 no" } }, addresses);
  assertEquals([outcomes, pause], [Array(20).fill(US.outcome), US.pause]);
});

test("a refused recipient blocks no other", async () => {
  const { outcomes, pause } = await deliverThrough({ answers: { "RCPT TO:<gone": "550 5.1.1 no such user" } }, [
    "ann@x.example",
    "gone@x.example",
    "ben@x.example",
  ]);
  assertEquals([outcomes, pause], [["sent", ADDRESS.outcome, "sent"], undefined]);
});

test("a server that accepted another mail accepts the sender, whatever its reply about one recipient", async () => {
  const addresses = Array.from({ length: 8 }, (_, n) => `owner${n}@x.example`);
  const { outcomes, pause } = await deliverThrough({ answers: { "RCPT TO:<owner5@": "550 5.7.1 blocked" } }, addresses);
  assertEquals([outcomes, pause], [addresses.map((_, n) => n === 5 ? "held mail_refused" : "sent"), undefined]);
});

test("a malformed address is refused without connecting", async () => {
  assertEquals((await deliverThrough({}, ["no address"])).outcomes, [ADDRESS.outcome]);
});

/** Keyed by the server's behavior instead of a greeting. All connections together wait once for a silent server. */
const MOST_CONNECTIONS = { "silence": 4, "hang up": 24 };

for (const [instead, most] of Object.entries(MOST_CONNECTIONS) as [keyof typeof MOST_CONNECTIONS, number][]) {
  test(`${instead} instead of a greeting costs one wait, and all mails are held`, async () => {
    const addresses = Array.from({ length: 20 }, (_, n) => `owner${n}@x.example`);
    const { outcomes, pause, connections } = await deliverThrough({ instead }, addresses, { timeoutMs: 1_500 });
    assertEquals([outcomes, pause], [Array(20).fill("held mail_unavailable"), "mail_unavailable"]);
    assert(connections <= most, `${connections} connections`);
  });
}

test("a slow server gets no new mail once the time is up", async () => {
  const addresses = Array.from({ length: 20 }, (_, n) => `owner${n}@x.example`);
  const { outcomes, pause } = await deliverThrough({ delayMs: 150 }, addresses, { beginWithinMs: 1_000 });
  const sent = outcomes.filter((outcome) => outcome === "sent").length;
  assert(sent >= 1 && sent < 20, `${sent} sent`);
  assertEquals(outcomes.filter((outcome) => outcome === "held mail_put_off").length, 20 - sent);
  assertEquals(pause, undefined);
});
