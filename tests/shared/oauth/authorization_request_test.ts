import { assertEquals } from "@std/assert";
import { authorizationPath, judgeAuthorizationRequest } from "../../../shared/oauth/authorization_request.ts";
import { safeNextPath } from "../../../shared/next_path.ts";

const RESOURCES = ["https://expenses.example/api/mcp"];
const SENT = {
  client_id: "client_a",
  redirect_uri: "http://localhost:5000/cb",
  code_challenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
};

const judge = (more: Record<string, string | undefined>) => {
  const judged = judgeAuthorizationRequest({ ...SENT, ...more }, { resources: RESOURCES });
  return judged.ok ? judged.request : judged.reason;
};

Deno.test("judgeAuthorizationRequest() requires only client, redirect and challenge", () => {
  assertEquals(judge({}), SENT);
});

Deno.test("judgeAuthorizationRequest() accepts parameters of real clients and drops foreign scopes", () => {
  const usual = { response_type: "code", code_challenge_method: "S256", response_mode: "query", prompt: "consent" };
  assertEquals(judge({ ...usual, scope: "openid email profile offline_access", state: " a b " }), {
    ...SENT,
    state: " a b ",
  });
  assertEquals(judge({ resource: "https://expenses.example/" }), SENT);
});

Deno.test("judgeAuthorizationRequest() refuses parameters that would weaken or change the flow", () => {
  const refused = {
    response_type_not_code: [{ response_type: "token" }, { response_type: "code id_token" }],
    response_mode_not_query: [{ response_mode: "fragment" }, { response_mode: "form_post" }],
    request_object_sent: [{ request: "eyJ" }, { request_uri: "https://app.example/r" }],
    challenge_missing: [{ code_challenge: undefined }],
    challenge_malformed: [{ code_challenge: "short" }, { code_challenge: SENT.code_challenge + "a" }],
    challenge_method_not_s256: [{ code_challenge_method: "plain" }, { code_challenge_method: "s256" }],
    resource_unknown: [{ resource: "https://other.example/api/mcp" }, { resource: "x" }],
    state_too_long: [{ state: "x".repeat(2049) }],
  };
  for (const [reason, requests] of Object.entries(refused)) {
    for (const request of requests) assertEquals(judge(request), reason);
  }
  assertEquals(judge({ state: "x".repeat(2048) }), { ...SENT, state: "x".repeat(2048) });
});

Deno.test("authorizationPath() round-trips through the login page", () => {
  const path = authorizationPath({ ...SENT, state: "/.\\ %\n\u202e😀", scope: undefined });
  assertEquals(safeNextPath(path), path);
  assertEquals(new URL(path, "https://expenses.example").searchParams.get("state"), "/.\\ %\n\u202e😀");
});
