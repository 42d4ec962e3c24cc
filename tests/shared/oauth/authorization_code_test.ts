import { assertEquals, assertNotEquals } from "@std/assert";
import fc from "fast-check";
import { type AuthorizationCode, issueCode, judgeCode } from "../../../shared/oauth/authorization_code.ts";
import { signConsent } from "../../../shared/oauth/consent_token.ts";

const SECRET = "one secret of at least 32 bytes, really";
const OTHER = "another secret of 32 bytes and then some";
const AT = new Date("2026-11-20T10:00:00Z");
const RESOURCE = "https://expenses.example/api/mcp";
// RFC 7636 appendix B.
const VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk";

const CODE: AuthorizationCode = {
  id: "6b7e3c1e-93b5-4a0e-8f0a-0a6f2a3c9d11",
  clientId: "client_a",
  redirectUri: "http://localhost:5000/cb",
  userId: "11111111-1111-4111-8111-111111111111",
  organizationId: "org_acme00000000",
  resource: RESOURCE,
  codeChallenge: "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM",
  access: "write",
};
const SENT = { clientId: CODE.clientId, redirectUri: CODE.redirectUri, codeVerifier: VERIFIER };

async function judge(
  sent: Partial<typeof SENT> & { code?: string; resource?: string },
  secondsLater = 0,
  secrets = [SECRET],
) {
  const code = sent.code ?? await issueCode([SECRET], CODE, AT);
  const at = new Date(AT.getTime() + secondsLater * 1000);
  const judged = await judgeCode({ ...SENT, ...sent, code }, { secrets, resources: [RESOURCE], at });
  return judged.outcome === "refused" ? judged.reason : judged.outcome;
}

Deno.test("judgeCode() accepts a code from its client within ten minutes", async () => {
  assertEquals(await judge({}), "good");
  assertEquals(await judge({ resource: `${RESOURCE}/` }, 599), "good");
  assertEquals(await judge({}, 600), "code_expired");
});

Deno.test("judgeCode() refuses a code for anything that it is not bound to", async () => {
  assertEquals(await judge({ clientId: "client_b" }), "code_of_another_client");
  assertEquals(await judge({ redirectUri: "http://localhost:5001/cb" }), "code_for_another_redirect_uri");
  assertEquals(await judge({ resource: "https://other.example/" }), "resource_unknown");
  assertEquals(await judge({ codeVerifier: "x".repeat(43) }), "wrong_verifier");
});

Deno.test("judgeCode() checks the verifier last, so an earlier failure cannot invalidate the code", async () => {
  assertEquals(await judge({ clientId: "client_b", codeVerifier: "x" }), "code_of_another_client");
  assertEquals(await judge({ resource: "https://other.example/", codeVerifier: "x" }), "resource_unknown");
});

Deno.test("judgeCode() accepts codes of every listed key and of no other", async () => {
  assertEquals(await judge({}, 0, [OTHER, SECRET]), "good");
  assertEquals(await judge({}, 0, [OTHER]), "code_not_ours");
});

Deno.test("judgeCode() refuses tokens that the same keys signed for another purpose", async () => {
  const request = { client_id: CODE.clientId, redirect_uri: CODE.redirectUri, code_challenge: CODE.codeChallenge };
  const consent = await signConsent([SECRET], { id: CODE.id, userId: CODE.userId, request }, AT);
  assertEquals(await judge({ code: consent }), "code_not_ours");
});

Deno.test("judgeCode() refuses a code with any character changed, added or removed", async () => {
  const code = await issueCode([SECRET], CODE, AT);
  const character = fc.constantFrom(..."ABab01-_.=+/ ".split(""));
  await fc.assert(
    fc.asyncProperty(fc.nat(code.length - 1), character, fc.nat(2), async (index, changed, kind) => {
      const altered = kind === 0
        ? code.slice(0, index) + changed + code.slice(index + 1)
        : kind === 1
        ? code.slice(0, index) + changed + code.slice(index)
        : code.slice(0, index) + code.slice(index + 1);
      if (altered !== code) assertEquals(await judge({ code: altered }), "code_not_ours");
    }),
    { numRuns: 300 },
  );
  // The last character of the signature has two spare bits; only one spelling is valid.
  const spelling = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  const twin = code.slice(0, -1) + spelling[spelling.indexOf(code.at(-1)!) ^ 1];
  assertEquals(await judge({ code: twin }), "code_not_ours");
});

Deno.test("issueCode() returns one code per consent", async () => {
  assertEquals(await issueCode([SECRET], CODE, AT), await issueCode([SECRET, OTHER], CODE, AT));
  assertNotEquals(
    await issueCode([SECRET], { ...CODE, id: crypto.randomUUID() }, AT),
    await issueCode([SECRET], CODE, AT),
  );
});
