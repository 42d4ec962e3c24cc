import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { isClientId } from "../../../shared/oauth/client_id.ts";
import {
  type ClientUrlRefusal,
  type DocumentRefusal,
  freshUntil,
  judgeClientUrl,
  judgeDocument,
} from "../../../shared/oauth/client_metadata_document.ts";
import { isRegistered } from "../../../shared/oauth/redirect_uri.ts";

const URL_OF = "https://client.example/oauth/client.json";
const DOCUMENT = { client_id: URL_OF, client_name: "Client", redirect_uris: ["https://client.example/callback"] };

const answer = (document: unknown, { status = 200, type = "application/json" } = {}) => ({
  status,
  headers: new Headers({ "content-type": type }),
  body: typeof document === "string"
    ? new TextEncoder().encode(document)
    : document instanceof Uint8Array
    ? document
    : new TextEncoder().encode(JSON.stringify(document)),
});
const judge = (more: Record<string, unknown>) => judgeDocument(URL_OF, answer({ ...DOCUMENT, ...more }));

const fixtures = new URL("../../fixtures/client_documents/", import.meta.url);

for (const name of ["claude", "claude_code", "chatgpt", "codex", "vscode"]) {
  Deno.test(`judgeDocument() accepts the document of ${name}`, async () => {
    const text = await Deno.readTextFile(new URL(`${name}.json`, fixtures));
    const published = JSON.parse(text);
    assertEquals(judgeClientUrl(published.client_id, { refusedHosts: [] }), { ok: true });
    assertEquals(judgeDocument(published.client_id, answer(text)), {
      ok: true,
      document: { client_name: published.client_name, redirect_uris: published.redirect_uris },
    });
    assert(isClientId(published.client_id));
  });
}

Deno.test("a portless loopback address in a document matches every port", () => {
  const judged = judge({ redirect_uris: ["http://localhost/callback", "http://127.0.0.1/callback"] });
  const redirect_uris = judged.ok ? judged.document.redirect_uris : [];
  assert(isRegistered("http://localhost:54123/callback", redirect_uris));
  assert(isRegistered("http://127.0.0.1:1/callback", redirect_uris));
  for (
    const near of ["http://localhost:54123/callback/", "http://[::1]:54123/callback", "https://localhost/callback"]
  ) {
    assertEquals(isRegistered(near, redirect_uris), false, near);
  }
});

const REFUSED_URLS: Record<string, readonly string[]> = {
  without_path: ["https://client.example", "https://client.example/", "https://client.example/?x=1"],
  not_canonical: [
    ...["https://CLIENT.example/c", "https://client.example:443/c", "https://client.example/a/../c"],
    ...[
      "https://client.example/./c",
      "https://client.example/%2e%2e/c",
      "https://%63lient.example/c",
      "HTTPS://client.example/c",
    ],
  ],
  has_fragment: ["https://client.example/c#", "https://client.example/c#x"],
  has_credentials: ["https://a@client.example/c", "https://a:b@client.example/c"],
  other_port: ["https://client.example:8443/c"],
  ip_address: ["https://[::1]/c", "https://2130706433/c", "https://169.254.169.254/latest/meta-data"],
  host_not_public: ["https://localhost/c", "https://metadata.google.internal/c"],
  host_refused: ["https://expenses.example/c"],
};

for (const [reason, urls] of Object.entries(REFUSED_URLS)) {
  Deno.test(`judgeClientUrl() refuses with ${reason}`, () => {
    for (const url of urls) {
      const judged = judgeClientUrl(url, { refusedHosts: ["expenses.example"] });
      assertEquals(judged, { ok: false, reason: reason as ClientUrlRefusal }, url);
    }
  });
}

Deno.test("judgeClientUrl() accepts one spelling of a URL", () => {
  const text = fc.oneof(
    fc.webUrl({ withQueryParameters: true, validSchemes: ["https"] }),
    fc.string().map((path) => `https://client.example/${path}`),
  );
  let taken = 0;
  fc.assert(fc.property(text, (url) => {
    if (!judgeClientUrl(url, { refusedHosts: [] }).ok) return;
    taken++;
    assertEquals(new URL(url).href, url);
  }));
  assert(taken > 0);
});

Deno.test("judgeDocument() accepts only 200 with JSON", () => {
  for (const status of [201, 204, 301, 302, 304, 400, 404, 500, 503]) {
    assertEquals(judgeDocument(URL_OF, answer(DOCUMENT, { status })), { ok: false, reason: "status_not_200" });
  }
  for (
    const type of ["application/json", "application/json; charset=utf-8", "Application/JSON", "application/cimd+json"]
  ) {
    assert(judgeDocument(URL_OF, answer(DOCUMENT, { type })).ok, type);
  }
  for (
    const type of [
      "",
      "text/html",
      "text/plain",
      "text/json",
      "application/jsonp",
      "application/json-seq",
      "image/svg+xml",
    ]
  ) {
    assertEquals(judgeDocument(URL_OF, answer(DOCUMENT, { type })), { ok: false, reason: "type_not_json" }, type);
  }
});

const REFUSED: [DocumentRefusal, Record<string, unknown>][] = [
  ["of_another_client", { client_id: undefined }],
  ["of_another_client", { client_id: `${URL_OF}/` }],
  ["of_another_client", { client_id: `${URL_OF}?` }],
  ["of_another_client", { client_id: URL_OF.toUpperCase() }],
  ["of_another_client", { client_id: [URL_OF] }],
  ["client_name_missing", { client_name: undefined }],
  ["client_name_missing", { client_name: "" }],
  ["client_name_missing", { client_name: "\u200b\u202e" }],
  ["client_name_missing", { client_name: 7 }],
  ["no_redirect_uris", { redirect_uris: undefined }],
  ["no_redirect_uris", { redirect_uris: [] }],
  ["no_redirect_uris", { redirect_uris: "https://client.example/callback" }],
  ["no_usable_redirect_uri", { redirect_uris: ["javascript:alert(1)", "http://client.example/callback", 7] }],
  ["too_many_redirect_uris", { redirect_uris: Array.from({ length: 11 }, (_, n) => `https://client.example/${n}`) }],
  ["holds_a_secret", { client_secret: "s" }],
  ["holds_a_secret", { client_secret: null }],
  ["holds_a_secret", { client_secret_expires_at: 0 }],
  ["holds_a_secret", { token_endpoint_auth_method: "client_secret_basic" }],
  ["holds_a_secret", { token_endpoint_auth_method: "client_secret_post" }],
  ["holds_a_secret", { token_endpoint_auth_method: "client_secret_jwt" }],
  ["auth_method_not_offered", { token_endpoint_auth_method: "private_key_jwt" }],
  ["auth_method_not_offered", { token_endpoint_auth_methods_supported: ["private_key_jwt", "tls_client_auth"] }],
  ["grant_type_not_offered", { grant_types: ["client_credentials"] }],
  ["response_type_not_offered", { response_types: ["token"] }],
];

Deno.test("judgeDocument() refuses a document that is another client's, incomplete, or not a public client's", () => {
  for (const [reason, more] of REFUSED) assertEquals(judge(more), { ok: false, reason }, JSON.stringify(more));
});

Deno.test("judgeDocument() reads the fields of a client and ignores others", () => {
  const taken: Record<string, unknown>[] = [
    { token_endpoint_auth_method: "none" },
    {
      token_endpoint_auth_method: "private_key_jwt",
      token_endpoint_auth_methods_supported: ["private_key_jwt", "none"],
    },
    { grant_types: ["authorization_code", "urn:example:unknown"], response_types: ["code", "id_token"] },
    { grant_types: [], response_types: [], scope: "openid admin", logo_uri: "http://169.254.169.254/", jwks_uri: 7 },
    JSON.parse('{"__proto__": {"client_name": "Other"}, "constructor": "x"}'),
  ];
  for (const more of taken) {
    assertEquals(judge(more), { ok: true, document: { client_name: "Client", redirect_uris: DOCUMENT.redirect_uris } });
  }
  const mixed = judge({ redirect_uris: ["javascript:alert(1)", "cursor://anysphere.cursor-mcp/oauth/callback"] });
  assertEquals(mixed.ok && mixed.document.redirect_uris, ["cursor://anysphere.cursor-mcp/oauth/callback"]);
});

Deno.test("judgeDocument() rejects anything but a JSON object in UTF-8", () => {
  for (const body of ["", "{", "{}x", "<html>", new Uint8Array([0x7b, 0xff, 0x7d])]) {
    assertEquals(judgeDocument(URL_OF, answer(body)), { ok: false, reason: "not_json" });
  }
  for (const body of ["null", "[]", "7", '"x"']) {
    assertEquals(judgeDocument(URL_OF, answer(body)), { ok: false, reason: "not_an_object" });
  }
});

Deno.test("judgeDocument() returns usable members or a reason for any input", () => {
  const member = fc.oneof(fc.json(), fc.constant(URL_OF), fc.constantFrom("https://client.example/cb", "file:///x"));
  const document = fc.dictionary(
    fc.constantFrom("client_id", "client_name", "redirect_uris", "grant_types", "token_endpoint_auth_method", "x"),
    fc.oneof(fc.anything(), member, fc.array(member)),
  );
  fc.assert(fc.property(document, (members) => {
    const judged = judgeDocument(URL_OF, answer(JSON.stringify({ ...DOCUMENT, ...members }) ?? ""));
    if (!judged.ok) return;
    assert(judged.document.client_name.length > 0);
    assert(judged.document.redirect_uris.every((uri) => !uri.startsWith("file:")));
  }));
});

Deno.test("freshUntil() keeps the owner's cache time between five minutes and a day", () => {
  const at = new Date("2026-11-20T10:00:00Z");
  const minutes = (headers: Record<string, string>) =>
    (freshUntil(new Headers(headers), at).getTime() - at.getTime()) / 60_000;
  const day = 24 * 60;
  const told: [Record<string, string>, number][] = [
    [{}, 5],
    [{ "cache-control": "no-store" }, 5],
    [{ "cache-control": "max-age=0" }, 5],
    [{ "cache-control": "max-age=299" }, 5],
    [{ "cache-control": "max-age=301" }, 301 / 60],
    [{ "cache-control": "public, MAX-AGE=3600, must-revalidate" }, 60],
    [{ "cache-control": 'max-age="3600"' }, 60],
    [{ "cache-control": "s-maxage=7200,max-age=3600" }, 60],
    [{ "cache-control": "max-age=3600", "age": "1800" }, 30],
    [{ "cache-control": "max-age=3600", "age": "7200" }, 5],
    [{ "cache-control": "max-age=3600", "age": "-7200" }, 60],
    [{ "cache-control": "max-age=86400" }, day],
    [{ "cache-control": "max-age=86401" }, day],
    [{ "cache-control": "max-age=999999999" }, day],
    [{ "cache-control": "max-age=99999999999999999999" }, day],
    [{ "cache-control": "max-age=-5" }, 5],
  ];
  for (const [headers, expected] of told) assertEquals(minutes(headers), expected, JSON.stringify(headers));
});
