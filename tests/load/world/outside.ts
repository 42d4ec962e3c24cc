/**
 * Third-party servers in this process: the mail service with its API, the mail server of the identity provider, sources
 * of exchange rates, and bill providers. Each can be made to fail.
 */
import { createRatesFixture, ratesFixtureSources } from "../../_support/exchange_rates.ts";
import { createProvidersFixture, providersFixtureBases } from "../../../local/fixtures/providers/app.ts";
import { type MailSink, startMailSink } from "../../../local/mail/smtp_sink.ts";
import { mailService, type SentMail } from "../../functions/cron-reminders/harness.ts";

/**
 * `slow` responds late; `lying` returns well-formed nonsense; `dropping` performs the request and closes the
 * connection before it responds.
 */
export const MOODS = ["well", "down", "slow", "lying", "dropping"] as const;
export type Mood = typeof MOODS[number];
export type Party = "mail" | "rates" | "providers";

const SLOW_MS = 3_000;

export interface Outside {
  /** Base URL of the mail service's API, without a trailing slash. */
  mailUrl: string;
  rateSources: string;
  providerBases: string;
  /** Mails of the identity provider. */
  inbox: MailSink;
  /** The delivered mails; a mail sent twice with the same key appears once. */
  delivered: SentMail[];
  mood: Record<Party, Mood>;
  close(): Promise<void>;
}

export async function openOutside(): Promise<Outside> {
  const mails = mailService();
  const known = new Set<string>();
  // Reminders on one server, which sends a mail again with the same Message-ID after a lost response.
  const inbox = await startMailSink((mail) => {
    const id = mail.headers["message-id"]!;
    if (mail.headers["list-unsubscribe"] && !known.has(id)) mails.delivered.push(mail);
    known.add(id);
  });
  const now = () => new Date();
  const answers: Record<Party, (request: Request) => Promise<Response> | Response> = {
    mail: (request) => answerMail(request, mails),
    rates: (request) => createRatesFixture(now).fetch(request),
    providers: (request) => createProvidersFixture({ clock: now }).fetch(request),
  };
  const mood: Outside["mood"] = { mail: "well", rates: "well", providers: "well" };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const url = new URL(request.url);
    const [, party, ...path] = url.pathname.split("/");
    const answer = answers[party as Party];
    if (!answer) return new Response(null, { status: 404 });
    const passed = new Request(`${url.origin}/${path.join("/")}${url.search}`, request);
    return await inMood(mood[party as Party], () => answer(passed));
  });
  const url = `http://127.0.0.1:${server.addr.port}`;
  return {
    mailUrl: `${url}/mail`,
    rateSources: ratesFixtureSources(`${url}/rates`),
    providerBases: providersFixtureBases(`${url}/providers`),
    inbox,
    delivered: mails.delivered,
    mood,
    async close() {
      await inbox.close();
      await server.shutdown();
    },
  };
}

async function inMood(mood: Mood, answer: () => Promise<Response> | Response): Promise<Response> {
  switch (mood) {
    case "well":
      return await answer();
    case "down":
      return new Response("Bad gateway", { status: 502 });
    case "slow":
      await new Promise((resolve) => setTimeout(resolve, SLOW_MS));
      return await answer();
    case "lying":
      return Response.json({ amount: "-1e99", data: [{}], rates: { USD: -4 } });
    case "dropping":
      await answer();
      return new Response(
        new ReadableStream({ start: (stream) => stream.error(new Error("hung up")) }),
        { headers: { "content-type": "application/json" } },
      );
  }
}

/** Batches as the job sends them; a single mail is a batch of one. */
async function answerMail(request: Request, mails: ReturnType<typeof mailService>): Promise<Response> {
  const isBatch = new URL(request.url).pathname === "/emails/batch";
  const body = await request.text();
  const headers = new Headers(request.headers);
  if (!headers.has("idempotency-key")) headers.set("idempotency-key", crypto.randomUUID());
  const answer = await mails.fetch("https://api.resend.com/emails/batch", {
    method: "POST",
    headers,
    body: isBatch ? body : JSON.stringify([{ ...JSON.parse(body), to: [JSON.parse(body).to] }]),
  });
  if (isBatch || !answer.ok) return answer;
  const { data: [mail] } = await answer.json();
  return mail ? Response.json(mail) : Response.json({ name: "validation_error" }, { status: 422 });
}
