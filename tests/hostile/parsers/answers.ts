/** Parsers of other servers' responses: documents, rates, payment events, providers, the mail service. */
import { parseEvent } from "../../../shared/billing/event.ts";
import { parseExactJson } from "../../../shared/exact_json.ts";
import { resendTransport } from "../../../shared/mail/resend_transport.ts";
import { enhancedStatus } from "../../../shared/mail/smtp_transport.ts";
import { readResponse } from "../../../shared/net/http_response.ts";
import { judgeDocument } from "../../../shared/oauth/client_metadata_document.ts";
import { judgeClient } from "../../../shared/oauth/client_trust.ts";
import { ownerOf } from "../../../shared/oauth/host_owner.ts";
import { hasOddLetters } from "../../../shared/oauth/name_letters.ts";
import { MAX_DOCUMENT_BYTES, MAX_NAME_LENGTH } from "../../../shared/oauth/limits.ts";
import { linesOf, MAX_LINE_LENGTH } from "../../../shared/providers/body.ts";
import { parseDecimal } from "../../../shared/providers/decimal.ts";
import { httpJson } from "../../../shared/providers/http_json.ts";
import { MonthTotal } from "../../../shared/providers/month_total.ts";
import { parseCentralBanks } from "../../../shared/rates/central_banks.ts";
import { parseEcb } from "../../../shared/rates/ecb.ts";
import { parseFrankfurter } from "../../../shared/rates/frankfurter.ts";
import { rateSet } from "../../../shared/rates/rate_set.ts";
import { oneLine } from "../../../shared/words/one_line.ts";
import { asking } from "../../shared/providers/asking.ts";
import type { Run } from "../cost.ts";
import { bytes, chunks, each, EVENT, HEADER, LINE, type Parser, pieces, RATES } from "./limits.ts";

const answers: Record<string, { limit: number; run: Run }> = {
  "judgeDocument()": {
    limit: MAX_DOCUMENT_BYTES,
    run: (text) => {
      const client_id = "https://a.example/client";
      const type = new Headers({ "content-type": "application/json" });
      const documents = [text, JSON.stringify({ client_id, client_name: text, redirect_uris: [text] })];
      return documents.map((document) =>
        judgeDocument(client_id, { status: 200, headers: type, body: bytes(document) })
      );
    },
  },
  "judgeClient()": {
    limit: MAX_NAME_LENGTH,
    run: (text) =>
      hasOddLetters(text) ||
      judgeClient({ clientId: "https://a.example/client", name: text, redirectUri: "https://a.example/callback" }),
  },
  "ownerOf()": { limit: MAX_NAME_LENGTH, run: ownerOf },
  "parseEcb()": { limit: RATES, run: parseEcb },
  "parseEcb() of many rates": {
    limit: RATES,
    run: (text) =>
      parseEcb(
        `<Envelope><Cube><Cube time="2026-10-01">${
          pieces(text.replaceAll(/[<&"]/g, "?"), 12).map((rate) => `<Cube currency="USD" rate="${rate}"/>`).join("")
        }</Cube></Cube></Envelope>`.slice(0, RATES),
      ),
  },
  "parseCentralBanks()": { limit: RATES, run: parseCentralBanks },
  "parseCentralBanks() of many rates": {
    limit: RATES,
    run: (text) =>
      parseCentralBanks(JSON.stringify(
        pieces(text, 40).map((part) => ({ date: part, base: "EUR", quote: part.slice(0, 3), rate: part })),
      )),
  },
  "parseFrankfurter()": { limit: RATES, run: parseFrankfurter },
  "rateSet()": {
    limit: RATES,
    run: (text) => rateSet("ecb", "2026-10-01", pieces(text, 8).map((rate) => ["USD", rate])),
  },
  "parseEvent()": { limit: EVENT, run: (text) => parseEvent(bytes(text)) },
  "parseEvent() of long words": {
    limit: EVENT,
    run: (text) =>
      parseEvent(bytes(JSON.stringify({
        event: text.slice(0, text.length / 4),
        created_at: text.slice(0, text.length / 4),
        payload: { subscription: { entity: { id: text.slice(0, text.length / 4), notes: { organization_id: text } } } },
      }))),
  },
  "parseExactJson()": { limit: 500_000, run: parseExactJson },
  "linesOf()": { limit: MAX_LINE_LENGTH, run: (text) => drain(linesOf(chunks(text, 65_536))) },
  "linesOf() in small pieces": { limit: MAX_LINE_LENGTH, run: (text) => drain(linesOf(chunks(text, 512))) },
  "parseDecimal()": { limit: LINE, run: parseDecimal },
  "MonthTotal": { limit: LINE, run: each(90, (text) => new MonthTotal("USD").add(text, "USD")) },
  "readResponse()": { limit: LINE, run: (text) => readResponse(readerOf(chunks(text, 4096)), { maxBytes: LINE }) },
  "readResponse(), a header": {
    // With room for the rest of the head.
    limit: HEADER - 100,
    run: (text) => readResponse(readerOf(chunks(`HTTP/1.1 200 OK\r\nx: a${text}b\r\n\r\n`, 4096)), { maxBytes: LINE }),
  },
  "readResponse() byte by byte": {
    limit: HEADER,
    run: (text) => readResponse(readerOf(byteByByte(text)), { maxBytes: LINE }),
  },
  "answers of the mail service": {
    limit: LINE,
    run: (text) => [text, JSON.stringify({ name: text, message: text })].map(refusedMail),
  },
  "enhancedStatus()": { limit: LINE, run: enhancedStatus },
  "oneLine()": { limit: LINE, run: (text) => oneLine(text) },
  "a page of a provider": {
    limit: LINE,
    run: (text) => asking(httpJson, { answer: () => new Response(text), credential: CREDENTIAL }),
  },
};

const CREDENTIAL = { url: "https://a.example/", token: "t" };

async function refusedMail(body: string) {
  const transport = resendTransport({
    key: "k",
    from: "a@example.com",
    fetch: () => Promise.resolve(new Response(body, { status: 422 })),
  });
  const mail = { id: "1", to: "b@example.com", subject: "", text: "", html: "", messageId: "", headers: {} };
  return await transport.deliver([mail], { key: "k", timeoutMs: 1000, onSettled: () => Promise.resolve() });
}

const byteByByte = (text: string) => chunks(text, 1);

function readerOf(parts: AsyncGenerator<Uint8Array>) {
  return async () => (await parts.next()).value ?? null;
}

async function drain(values: AsyncIterable<unknown>) {
  for await (const _ of values);
}

export const ANSWER_PARSERS: readonly Parser[] = Object.entries(answers).map(([name, parser]) => ({ name, ...parser }));
