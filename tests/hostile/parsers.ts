/** Every parser of ours that reads untrusted text, with the longest text that reaches it. */
import { Hono } from "hono";
import { fieldProblems } from "../../functions/auth-callback/account/providers/connect_problems.ts";
import { plainError } from "../../functions/mcp/plain_error.ts";
import { getPrompt } from "../../functions/mcp/prompts.ts";
import { bufferResponse } from "../../functions/mcp/buffer_response.ts";
import { TOOLS } from "../../functions/mcp/tools/mod.ts";
import { parseEvent } from "../../shared/billing/event.ts";
import { cleanLine, cleanText } from "../../shared/clean_text.ts";
import { acceptsEventStream, widenAccept } from "../../shared/connector/accept.ts";
import { readBearer } from "../../shared/connector/bearer.ts";
import { formHint } from "../../shared/connector/form_hint.ts";
import { nestsDeeper, readMessage } from "../../shared/connector/json_rpc.ts";
import { isAllowedOrigin } from "../../shared/connector/origin.ts";
import { type JsonSchema, PATTERNS } from "../../shared/connector/schema.ts";
import { MESSAGE_BYTES, type Tool } from "../../shared/connector/tool.ts";
import { cleanStrings } from "../../shared/connector/typed_text.ts";
import type { AppContext, AppEnv } from "../../shared/http/app.ts";
import { readCaller } from "../../shared/http/caller.ts";
import { readForm } from "../../shared/http/form_post.ts";
import { readBody } from "../../shared/http/read_body.ts";
import { countryOfLanguages } from "../../functions/auth-callback/profile/country.ts";
import { isEmail } from "../../functions/auth-callback/profile/email.ts";
import { safeNextPath } from "../../shared/next_path.ts";
import { isTimezone } from "../../functions/auth-callback/profile/timezone.ts";
import { readDate, toIsoDate } from "../../shared/import/date_text.ts";
import { currencyInHeader } from "../../shared/import/find_columns.ts";
import { findDecimalSign } from "../../shared/import/find_conventions.ts";
import { isSameHeader, plainHeader, rankOf } from "../../shared/import/header_words.ts";
import { decimalSignOf, readCurrency, readMoney, toDecimal } from "../../shared/import/money_text.ts";
import { readCsv } from "../../shared/import/read_csv.ts";
import { MAX_COLUMNS, MAX_ROWS, readImport } from "../../shared/import/read_import.ts";
import { repairText } from "../../shared/import/repair_text.ts";
import { readUrl } from "../../shared/import/url_text.ts";
import { createLog } from "../../shared/log.ts";
import { resendTransport } from "../../shared/mail/resend_transport.ts";
import { enhancedStatus } from "../../shared/mail/smtp_transport.ts";
import { isHostName, judgeUrl } from "../../shared/net/guarded_url.ts";
import { readResponse } from "../../shared/net/http_response.ts";
import { parseAddress } from "../../shared/net/ip_address.ts";
import { isPublicAddress } from "../../shared/net/public_address.ts";
import { readers } from "../../shared/pages/reader.ts";
import { readAskingApp } from "../../shared/oauth/asking_app.ts";
import { judgeAuthorizationRequest } from "../../shared/oauth/authorization_request.ts";
import { isClientId } from "../../shared/oauth/client_id.ts";
import { freshUntil, judgeClientUrl, judgeDocument } from "../../shared/oauth/client_metadata_document.ts";
import { cleanClientName } from "../../shared/oauth/client_name.ts";
import { judgeClient } from "../../shared/oauth/client_trust.ts";
import { ownerOf } from "../../shared/oauth/host_owner.ts";
import { appOfDocument } from "../../shared/oauth/known_makers.ts";
import { hasOddLetters } from "../../shared/oauth/name_letters.ts";
import { MAX_BODY_BYTES, MAX_DOCUMENT_BYTES, MAX_NAME_LENGTH } from "../../shared/oauth/limits.ts";
import { readParameters } from "../../shared/oauth/parameters.ts";
import { isCodeChallenge, isCodeVerifier } from "../../shared/oauth/pkce.ts";
import { isRegistered, judgeRedirectUri, withParameters } from "../../shared/oauth/redirect_uri.ts";
import { judgeRegistration } from "../../shared/oauth/registration.ts";
import { isOurResource } from "../../shared/oauth/resource.ts";
import { isAccessToken, isRefreshToken } from "../../shared/oauth/tokens.ts";
import { linesOf, MAX_LINE_LENGTH } from "../../shared/providers/body.ts";
import { parseDecimal } from "../../shared/providers/decimal.ts";
import { parseExactly } from "../../shared/providers/exact_json.ts";
import { failureOfStatus } from "../../shared/providers/failure.ts";
import { httpJson } from "../../shared/providers/http_json.ts";
import { MonthTotal } from "../../shared/providers/month_total.ts";
import { readPeriod } from "../../shared/providers/period.ts";
import { PROVIDERS } from "../../shared/providers/registry.ts";
import { parseEcb } from "../../shared/rates/ecb.ts";
import { parseFrankfurter } from "../../shared/rates/frankfurter.ts";
import { rateSet } from "../../shared/rates/rate_set.ts";
import { isScope } from "../../shared/reminders/unsubscribe_token.ts";
import { oneLine } from "../../shared/reminders/names.ts";
import { localPath } from "../../shared/routes.ts";
import { readToken } from "../../shared/signed_token.ts";
import { startConnector } from "../functions/mcp/harness.ts";
import { asking } from "../shared/providers/asking.ts";
import type { Limits, Run } from "./cost.ts";
import { en } from "../../shared/words/en/mod.ts";

export interface Parser extends Limits {
  name: string;
  run: Run;
  /** Only these shapes, by name, when all others are equivalent. */
  shapes?: readonly string[];
}

/** All headers of a request together, on the servers that we know. */
const HEADER = 16_384;
/** The most that our functions read of a form. */
const FORM = 16_384;
const CSV = 524_288;
const RATES = 16_384;
const EVENT = 262_144;
/** Arguments from an AI client, and one-line answers from other servers. */
const LINE = 65_536;

const CONNECT_WORDS = en.pages.connectProvider;
const at = new Date("2026-10-06T09:00:00Z");
const SITE = "https://expenses.example";
const SECRETS = ["a secret that is long enough for this test"];
const bytes = (text: string) => new TextEncoder().encode(text);
const pieces = (text: string, length: number) =>
  Array.from({ length: Math.ceil(text.length / length) }, (_, i) => text.slice(i * length, (i + 1) * length));
/** Repeats this for every piece of a text, such as the cells of a file. */
const each = (length: number, run: Run): Run => (text) => pieces(text, length).forEach(run);
const headers = (name: string, text: string) => new Headers({ [name]: text.replace(/[^\t\x20-\x7e]/g, "?") });

const files: Record<string, Run> = {
  "readCsv()": (text) => readCsv(text, { maxRows: MAX_ROWS, maxCells: MAX_COLUMNS }),
  "readCsv() told its delimiter": (text) => readCsv(`sep=;\r\n${text}`, { maxRows: MAX_ROWS, maxCells: MAX_COLUMNS }),
  "readImport()": (text) => readImport(text),
  "readImport() of a long header": (text) => readImport(`date,amount,name,${text}\n2026-10-01,5,a\n`),
  "readImport() of a long cell": (text) => readImport(`date,amount,name\n2026-10-01,5,"${text}\n`),
  "repairText()": repairText,
  "import_expenses": (text) => parse("import_expenses", { csv: text }),
  "cleanText()": cleanText,
};

const tables: Record<string, Run> = {
  "readImport() of many amounts": (text) =>
    readImport(`date,amount,name\n${pieces(text, 39).map((cell) => `2026-10-01,"${cell}",a`).join("\n")}`),
  "readImport() of many days": (text) =>
    readImport(`date,amount,name\n${pieces(text, 59).map((cell) => `"${cell}",5,a`).join("\n")}`),
  "readImport() of many headers": (text) => readImport(table(text, 6)),
  "readImport() of many columns": (text) =>
    readImport(`${Array.from({ length: MAX_COLUMNS }, (_, i) => `c${i}`).join()}\n${table(text, 3)}`),
  "readImport() with a mapping": (text) =>
    readImport(table(text, 8), { date: text, amount: "abc" + "s".repeat(100), name: "2", note: text.slice(0, 50) }),
};

/** A text's cells, in as many columns as allowed. */
const table = (text: string, length: number) =>
  pieces(text, length * MAX_COLUMNS).map((row) => pieces(row.replaceAll(/[\r\n,"]/g, "?"), length).join()).join("\n");

const parse = (name: string, args: unknown) => TOOLS.find(({ listed }) => listed.name === name)!.parse(args);

const cells: Record<string, Run> = {
  "readDate()": (text) => {
    const date = readDate(text);
    return date && toIsoDate(date, "DMY");
  },
  "readMoney()": (text) => {
    const money = readMoney(text);
    return money && [findDecimalSign([money]), decimalSignOf(money.digits), toDecimal(money.digits, ".")];
  },
  "readCurrency()": readCurrency,
  "headers": (text) => [rankOf("amount", plainHeader(text)), isSameHeader(plainHeader(text), "amount")],
  "currencyInHeader()": currencyInHeader,
  "readUrl()": (text) => [readUrl(text), readUrl(`https://${text}`)],
};

/** Each argument in turn is the text, or is built from it. */
function argumentsOf({ listed: { inputSchema } }: Tool, value: (schema: JsonSchema) => unknown) {
  return Object.fromEntries(Object.entries(inputSchema.properties ?? {}).map(([key, schema]) => [key, value(schema)]));
}

const ITEM_MEMBERS = 12;

function ofTool(tool: Tool): Parser[] {
  const { listed: { name, inputSchema }, maxBytes: limit } = tool;
  const count = Object.keys(inputSchema.properties ?? {}).length || 1;
  // A part for every member, including members of items.
  const share = (text: string) => text.slice(0, Math.ceil(text.length / count / ITEM_MEMBERS));
  const asItem = (schema: JsonSchema, text: string): unknown =>
    schema.type === "object"
      ? Object.fromEntries(Object.keys(schema.properties ?? {}).map((key) => [key, text]))
      : text;
  const forms: Record<string, Run> = {
    "text": (text) => tool.parse(argumentsOf(tool, (schema) => asItem(schema, share(text)))),
    "lists": (text) =>
      tool.parse(argumentsOf(tool, ({ items }) => pieces(share(text), 8).map((piece) => asItem(items ?? {}, piece)))),
    "unknown members": (text) =>
      tool.parse(Object.fromEntries(pieces(text, 16).map((piece, i) => [piece.slice(8) + i, 0]))),
    "members of members": (text) =>
      tool.parse(argumentsOf(tool, () => Object.fromEntries(pieces(share(text), 8).map((piece, i) => [piece + i, i])))),
  };
  // The same compiler checks them all, so two represent the others. Tens of thousands of members take longer to build
  // than to refuse, so most tools get them at the limit only.
  const tried: Record<string, string[]> = { log_expenses: ["lists"], delete_records: Object.keys(forms) };
  return Object.entries(forms).filter(([form]) => form === "text" || tried[name]?.includes(form))
    .map(([form, run]) => ({ name: `${name} with ${form}`, limit, run }));
}

// What a stranger can make us parse.
const unauthenticatedConnector = startConnector({
  authenticate_bearer: () => ({ outcome: "invalid_token" }),
  call_tool: () => ({ outcome: "invalid_token" }),
});
const message = (params: unknown, method = "tools/call") => JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
const post = async (body: string) => await (await unauthenticatedConnector.post(body)).text();
const messages: Record<string, Run> = {
  "a stranger's message": post,
  "a stranger's method": (text) => post(message({}, text)),
  "a stranger's tool": (text) => post(message({ name: text })),
  "a stranger's file": (text) => post(message({ name: "import_expenses", arguments: { csv: text } })),
  "a stranger's expenses": (text) =>
    post(
      message({ name: "log_expenses", arguments: { items: pieces(text, 20).map((name) => ({ name, amount: name })) } }),
    ),
  "readMessage(), nestsDeeper()": (text) => {
    const value = JSON.parse(text);
    return [readMessage(value), nestsDeeper(value, 100)];
  },
  "cleanStrings()": (text) => cleanStrings(pieces(text, 10)),
  "formHint()": (text) =>
    [PATTERNS.amount, PATTERNS.date, "^(exp|bill)_[0-9a-z]{8,32}$"].map((pattern) => formHint({ pattern }, text)),
  "plainError()": (text) => [plainError(text), plainError(`{"error":{"code":-32602,"message":"${text}[`)],
  "bufferResponse()": (text) =>
    bufferResponse(new Response(`data: ${text}`, { headers: { "content-type": "text/event-stream" } }), true),
  "getPrompt()": (text) => getPrompt("month_close", { month: text }),
};

const pages = new Hono<AppEnv>().post(
  "/",
  async (c) => c.json([...await readForm(c as AppContext, { siteUrl: SITE })]),
);
const forms: Record<string, Run> = {
  "readForm()": async (body) =>
    await pages.request("/", {
      method: "POST",
      body,
      headers: { "content-type": "application/x-www-form-urlencoded" },
    }),
  "readBody() in small pieces": async (text) =>
    await readBody(new Request(SITE, { method: "POST", body: ReadableStream.from(chunks(text, 32)) }), FORM),
  "readParameters()": (text) => readParameters(new URLSearchParams(text), ["client_id", "a"]),
  "cleanLine()": cleanLine,
  "isEmail()": isEmail,
  "safeNextPath()": (text) => safeNextPath(`/account?${text}`) ?? safeNextPath(text),
  "isTimezone()": isTimezone,
  "readPeriod()": (text) => readPeriod(text, at),
  "readToken()": (token) => readToken(SECRETS, "test", { token, at }),
  "isScope()": isScope,
  "judgeRegistration()": (text) => [
    judgeRegistration({ client_name: text, redirect_uris: ["https://a.example/callback"] }),
    judgeRegistration({ redirect_uris: pieces(text, 40) }),
    judgeRegistration({ redirect_uris: [text, `https://a.example/${text}`, `a.b:/${text}`] }),
  ],
  "judgeRegistration() of any JSON": (text) => judgeRegistration(JSON.parse(text)),
  "cleanClientName()": cleanClientName,
  "judgeRedirectUri()": (text) => [judgeRedirectUri(text), judgeRedirectUri(`https://${text}`)],
  "isRegistered()": (text) => isRegistered(`http://localhost:1/${text}`, [`http://localhost:2/${text}`, text]),
  "withParameters()": (text) => withParameters(`https://a.example/${text}`, { state: text }),
  "isClientId()": (text) => isClientId(text) && appOfDocument(text),
  "judgeClientUrl()": (text) => [text, `https://${text}`].map((url) => judgeClientUrl(url, { refusedHosts: ["a.b"] })),
  "judgeUrl()": (text) => [text, `https://a.example/${text}`].map((url) => judgeUrl(url, { refusedHosts: ["a.b"] })),
  "isHostName()": isHostName,
  "isOurResource()": (text) => [text, SITE + text].map((url) => isOurResource(url, [SITE])),
  "judgeAuthorizationRequest()": (text) =>
    judgeAuthorizationRequest(
      { client_id: "a", redirect_uri: SITE, code_challenge: text, state: text, resource: text },
      {
        resources: [SITE],
      },
    ),
  "readAskingApp()": (text) => readAskingApp(SECRETS, `/a?asked_by=${text}`, at),
  "tokens, challenges": (text) =>
    [isCodeChallenge, isCodeVerifier, isAccessToken, isRefreshToken].map((is) => is(text)),
  "credentials of providers": (text) =>
    [...PROVIDERS.values()].map((provider) =>
      fieldProblems(provider, Object.fromEntries(provider.fields.map(({ name }) => [name, text])), CONNECT_WORDS)
    ),
  "credentials of providers that begin well": (text) =>
    [...PROVIDERS.values()].map((provider) =>
      fieldProblems(provider, {
        token: `dop_v1_${text}`,
        api_key: `sk-admin-${text}`,
        account: `users/${text}`,
        url: `https://${text}`,
        team_id: `team_${text}`,
      }, CONNECT_WORDS)
    ),
};

const requests: Record<string, Run> = {
  "readBearer()": (text) => [readBearer(text), readBearer(`Bearer ${text}`)],
  "widenAccept(), acceptsEventStream()": (text) => [widenAccept(text), acceptsEventStream(text)],
  "isAllowedOrigin()": (text) => [isAllowedOrigin(text), isAllowedOrigin(`https://${text}`)],
  "countryOfLanguages()": countryOfLanguages,
  "readers()": async (text) => {
    const context = { req: { header: () => text }, set: () => {} };
    await readers()(context as unknown as AppContext, () => Promise.resolve());
  },
  "readCaller()": (text) => readCaller(headers("x-forwarded-for", text), { frontDoorSecrets: [] }),
  "localPath()": (text) => localPath("oauth", `${SITE}/${text}`),
  "parseAddress(), isPublicAddress()": (text) => [parseAddress(text), parseAddress(`::${text}`), isPublicAddress(text)],
  "freshUntil()": (text) => freshUntil(headers("cache-control", text), at),
  "failureOfStatus()": (text) =>
    failureOfStatus({ status: 429, headers: headers("retry-after", text) }, { now: at, means: {} }),
  "createLog()": (text) => createLog(() => {}).error("test", { error: text }),
};

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
  "parseExactly()": { limit: 500_000, run: parseExactly },
  "linesOf()": { limit: MAX_LINE_LENGTH, run: (text) => drain(linesOf(chunks(text, 65_536))) },
  "linesOf() in small pieces": { limit: MAX_LINE_LENGTH, run: (text) => drain(linesOf(chunks(text, 512))) },
  "parseDecimal()": { limit: LINE, run: parseDecimal },
  "MonthTotal": { limit: LINE, run: each(90, (text) => new MonthTotal("USD").add(text, "USD")) },
  "readResponse()": { limit: LINE, run: (text) => readResponse(readerOf(chunks(text, 4096)), { maxBytes: LINE }) },
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

async function* chunks(text: string, length: number): AsyncGenerator<Uint8Array> {
  const all = bytes(text);
  for (let from = 0; from < all.length; from += length) yield all.subarray(from, from + length);
}

const byteByByte = (text: string) => chunks(text, 1);

function readerOf(parts: AsyncGenerator<Uint8Array>) {
  return async () => (await parts.next()).value ?? null;
}

async function drain(values: AsyncIterable<unknown>) {
  for await (const _ of values);
}

const all = (runs: Record<string, Run>, limit: number, mostMs?: number): Parser[] =>
  Object.entries(runs).map(([name, run]) => ({ name, run, limit, ...(mostMs && { mostMs }) }));

/** Table cell contents; the shapes differ in the separators. */
const CELLS = [
  "digits, then a letter",
  "digits with commas",
  "points",
  "spaces between two letters",
  "days",
  "near months",
  "round brackets",
  "brackets in pairs",
  "one pile of marks",
  "letters that stand for many",
  "enclosed digits",
  "lone surrogates",
  "lost letters",
  "many lost letters",
];

export const PARSERS: readonly Parser[] = [
  ...all(files, CSV),
  ...all(tables, CSV).map((parser) => ({ ...parser, shapes: CELLS })),
  ...all(cells, LINE),
  ...Object.entries(cells).map(([name, run]) => ({ name: `${name} of short cells`, limit: LINE, run: each(40, run) })),
  ...TOOLS.flatMap(ofTool),
  ...all(messages, MESSAGE_BYTES),
  ...all(forms, Math.max(FORM, MAX_BODY_BYTES)),
  ...all(requests, HEADER),
  ...Object.entries(answers).map(([name, parser]) => ({ name, ...parser })),
];
