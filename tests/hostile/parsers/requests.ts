/** Parsers of forms, of URLs with their parameters, and of headers. */
import { Hono } from "hono";
import { fieldProblems } from "../../../functions/auth-callback/account/providers/connect_problems.ts";
import { writeCalendar } from "../../../shared/calendar/feed_text.ts";
import { tokenOfFile } from "../../../shared/calendar/token.ts";
import { cleanLine } from "../../../shared/clean_text.ts";
import { acceptsEventStream, widenAccept } from "../../../shared/connector/accept.ts";
import { readBearer } from "../../../shared/connector/bearer.ts";
import { isAllowedOrigin } from "../../../shared/connector/origin.ts";
import { placeOf } from "../../../shared/events/occurrence.ts";
import { keyOf } from "../../../shared/webhooks/standard.ts";
import { customPeriod } from "../../../shared/export/period.ts";
import type { AppContext, AppEnv } from "../../../shared/http/app.ts";
import { readCaller } from "../../../shared/http/caller.ts";
import { isFileForm, readFileForm } from "../../../shared/http/file_form.ts";
import { readForm } from "../../../shared/http/form_post.ts";
import { readBody } from "../../../shared/http/read_body.ts";
import { countryOfLanguages } from "../../../functions/auth-callback/profile/country.ts";
import { isEmail } from "../../../functions/auth-callback/profile/email.ts";
import { isDay } from "../../../shared/iso_day.ts";
import { safeNextPath } from "../../../shared/next_path.ts";
import { isTimezone } from "../../../functions/auth-callback/profile/timezone.ts";
import { createLog } from "../../../shared/log.ts";
import { strangersLine, strangersName } from "../../../shared/words/strangers_name.ts";
import { isHostName, judgeUrl } from "../../../shared/net/guarded_url.ts";
import { isLoopback } from "../../../shared/net/loopback.ts";
import { parseJson } from "../../../shared/parse_json.ts";
import { parseAddress } from "../../../shared/net/ip_address.ts";
import { isPublicAddress } from "../../../shared/net/public_address.ts";
import { readers } from "../../../shared/pages/reader.ts";
import { askedAccess } from "../../../shared/oauth/access.ts";
import { readAskingApp } from "../../../shared/oauth/asking_app.ts";
import { judgeAuthorizationRequest } from "../../../shared/oauth/authorization_request.ts";
import { isClientId } from "../../../shared/oauth/client_id.ts";
import { freshUntil, judgeClientUrl } from "../../../shared/oauth/client_metadata_document.ts";
import { cleanClientName } from "../../../shared/oauth/client_name.ts";
import { appOfDocument } from "../../../shared/oauth/known_makers.ts";
import { MAX_BODY_BYTES } from "../../../shared/oauth/limits.ts";
import { readParameters } from "../../../shared/oauth/parameters.ts";
import { isCodeChallenge, isCodeVerifier } from "../../../shared/oauth/pkce.ts";
import { isRegistered, judgeRedirectUri, withParameters } from "../../../shared/oauth/redirect_uri.ts";
import { judgeRegistration } from "../../../shared/oauth/registration.ts";
import { isOurResource } from "../../../shared/oauth/resource.ts";
import { isAccessToken, isRefreshToken } from "../../../shared/oauth/tokens.ts";
import { failureOfStatus } from "../../../shared/providers/failure.ts";
import { readPeriod } from "../../../shared/providers/period.ts";
import { PROVIDERS } from "../../../shared/providers/registry.ts";
import { innerName, nameAlone, quotedName } from "../../../shared/reminders/names.ts";
import { isScope } from "../../../shared/reminders/unsubscribe_token.ts";
import { localPath } from "../../../shared/routes.ts";
import { readToken } from "../../../shared/signed_token.ts";
import type { Run } from "../cost.ts";
import { LANGUAGES } from "../../../shared/words/page_words.ts";
import { formatOf } from "../../../shared/words/format.ts";
import { all, at, chunks, CSV, FORM, HEADER, headers, type Parser, pieces, SECRETS, SITE } from "./limits.ts";

const { en } = LANGUAGES;

const CONNECT_WORDS = en.pages.connectProvider;

const pages = new Hono<AppEnv>().post(
  "/",
  async (c) => c.json([...await readForm(c as AppContext, { siteUrl: SITE })]),
).post("/raw", async (c) => c.body(await readBody(c as AppContext, FORM)));
export const forms: Record<string, Run> = {
  "readForm()": async (body) =>
    await pages.request("/", {
      method: "POST",
      body,
      headers: { "content-type": "application/x-www-form-urlencoded" },
    }),
  "readBody() in small pieces": async (text) =>
    await pages.request("/raw", { method: "POST", body: ReadableStream.from(chunks(text, 32)) }),
  "readParameters()": (text) => readParameters(new URLSearchParams(text), ["client_id", "a"]),
  "cleanLine()": cleanLine,
  "strangersLine()": strangersLine,
  "strangersName()": strangersName,
  "names in digests": (text) => [nameAlone(text), quotedName(text), innerName(text)],
  "customPeriod()": (text) => customPeriod(text, "2026-10-01"),
  "isDay()": isDay,
  "keyOf() a webhook": (text) => [keyOf(text), keyOf(`whsec_${text}`)],
  "placeOf() an event": (text) => [placeOf(text), placeOf(`2026-11-10T00:00:00+00:00~${text}`)],
  "isLoopback()": isLoopback,
  "parseJson()": parseJson,
  "tokenOfFile()": tokenOfFile,
  "writeCalendar()": (text) =>
    writeCalendar({ organization: text, country: "DE", is_cut: false, dates: [] }, {
      words: en.pages.calendarFeed,
      format: formatOf("en-DE"),
      language: "en",
      host: "expenses.example",
    }),
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
  "askedAccess()": askedAccess,
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

/** An upload form with these texts as its body or content type. */
const fileForm = async (body: string, type = "multipart/form-data; boundary=x") => {
  const raw = new Request(SITE, { method: "POST", body });
  const c = { req: { raw, header: (name: string) => name === "content-type" ? type : undefined } } as AppContext;
  // Most texts are rejected, because they are not forms.
  return isFileForm(c) &&
    await readFileForm(c, { maxBytes: CSV, maxFiles: 20, maxFileBytes: CSV }).catch(() => undefined);
};
const PART = '--x\r\ncontent-disposition: form-data; name="file"; filename="';
const fileForms: Record<string, Run> = {
  "readFileForm()": (text) => fileForm(`${text}\r\n--x--`),
  "readFileForm() of many parts": (text) => fileForm(`${PART}a"\r\n\r\n${text.replaceAll("\n", PART)}\r\n--x--`),
  "readFileForm() of a file's name": (text) => fileForm(`${PART}${text}"\r\n\r\na\r\n--x--`),
};

const requests: Record<string, Run> = {
  "readFileForm() of a content type": async (text) =>
    await fileForm("--x--", `multipart/form-data; ${text.replace(/[^\t\x20-\x7e]/g, "?")}`),
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

export const REQUEST_PARSERS: readonly Parser[] = [
  ...all(forms, Math.max(FORM, MAX_BODY_BYTES)),
  ...all(fileForms, CSV),
  ...all(requests, HEADER),
];
