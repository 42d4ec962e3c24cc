import { assert, assertEquals } from "@std/assert";
import fc from "fast-check";
import { judgeRegistration } from "../../../shared/oauth/registration.ts";

const judge = (body: unknown) => {
  const judged = judgeRegistration(body);
  return judged.ok ? judged.metadata : judged.reason;
};
const CALLBACK = "https://app.example/cb";

Deno.test("judgeRegistration() returns the metadata that takes effect", () => {
  assertEquals(
    judge({
      client_name: "Inspector",
      redirect_uris: ["http://127.0.0.1:6276/oauth/callback"],
      grant_types: ["authorization_code", "refresh_token", "urn:ietf:params:oauth:grant-type:jwt-bearer"],
      response_types: ["code", "token"],
      token_endpoint_auth_method: "client_secret_post",
      scope: "",
      application_type: "native",
      logo_uri: "https://tracker.example/pixel.png",
      jwks_uri: "https://internal.example/",
    }),
    {
      client_name: "Inspector",
      redirect_uris: ["http://127.0.0.1:6276/oauth/callback"],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      scope: "expenses:rw",
    },
  );
});

Deno.test("judgeRegistration() fills in an absent name and unknown grant types", () => {
  const expected = {
    client_name: "Unnamed app",
    redirect_uris: [CALLBACK],
    grant_types: ["authorization_code", "refresh_token"],
    response_types: ["code"],
    token_endpoint_auth_method: "none",
    scope: "expenses:rw",
  };
  assertEquals(judge({ redirect_uris: [CALLBACK, CALLBACK] }), expected);
  assertEquals(judge({ redirect_uris: [CALLBACK], client_name: "\u202e", grant_types: ["implicit"] }), expected);
  assertEquals(judge({ redirect_uris: [CALLBACK], client_name: null, grant_types: "code" }), expected);
});

Deno.test("judgeRegistration() drops a bad redirect URI when another one is good", () => {
  const uris = ["myapp://x", "cursor://anysphere.cursor-mcp/oauth/callback", 7, "javascript:alert(1)", CALLBACK];
  const judged = judgeRegistration({ redirect_uris: uris });
  assertEquals(judged.ok && judged.metadata.redirect_uris, [uris[1], CALLBACK]);
});

Deno.test("judgeRegistration() rejects unsupported registrations", () => {
  for (const body of [undefined, null, "x", 7, [CALLBACK]]) assertEquals(judge(body), "not_an_object");
  assertEquals(judge({ redirect_uris: [CALLBACK], client_name: 7 }), "client_name_not_a_string");
  for (const uris of [undefined, null, "x", [], {}]) assertEquals(judge({ redirect_uris: uris }), "no_redirect_uris");
  assertEquals(judge({ redirect_uris: Array(11).fill(CALLBACK) }), "too_many_redirect_uris");
  assertEquals(judge({ redirect_uris: ["http://app.example/", null] }), "no_usable_redirect_uri");
});

Deno.test("judgeRegistration() survives any JSON and registers only strings", () => {
  const body = fc.oneof(
    fc.jsonValue(),
    fc.record({
      redirect_uris: fc.oneof(fc.array(fc.oneof(fc.webUrl(), fc.jsonValue())), fc.jsonValue()),
      client_name: fc.jsonValue(),
    }),
  );
  let registered = 0;
  fc.assert(
    fc.property(body, (body) => {
      const judged = judgeRegistration(body);
      if (!judged.ok) return;
      registered++;
      assert(judged.metadata.redirect_uris.every((uri) => typeof uri === "string"));
    }),
    { numRuns: 1000 },
  );
  assert(registered > 0);
});
