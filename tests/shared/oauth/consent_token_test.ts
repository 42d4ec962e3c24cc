import { assertEquals } from "@std/assert";
import { issueCode } from "../../../shared/oauth/authorization_code.ts";
import { openConsent, signConsent } from "../../../shared/oauth/consent_token.ts";

const SECRETS = ["one secret of at least 32 bytes, really"];
const AT = new Date("2026-11-20T10:00:00Z");
const CONSENT = {
  id: "6b7e3c1e-93b5-4a0e-8f0a-0a6f2a3c9d11",
  userId: "11111111-1111-4111-8111-111111111111",
  request: {
    client_id: "client_a",
    redirect_uri: "https://app.example/cb",
    code_challenge: "c".repeat(43),
    state: "é\n😀",
  },
};

Deno.test("openConsent() verifies a token for ten minutes", async () => {
  const token = await signConsent(SECRETS, CONSENT, AT);
  assertEquals(await openConsent(SECRETS, token, AT), { outcome: "valid", consent: CONSENT });
  const later = new Date(AT.getTime() + 600_000);
  assertEquals(await openConsent(SECRETS, token, later), { outcome: "expired", consent: CONSENT });
});

Deno.test("openConsent() accepts neither forgeries nor codes", async () => {
  const token = await signConsent(SECRETS, CONSENT, AT);
  const code = await issueCode(SECRETS, {
    id: CONSENT.id,
    clientId: CONSENT.request.client_id,
    redirectUri: CONSENT.request.redirect_uri,
    codeChallenge: CONSENT.request.code_challenge,
    userId: CONSENT.userId,
    organizationId: "org_acme00000000",
    resource: "https://expenses.example/api/mcp",
    access: "write",
  }, AT);
  for (const forged of ["", ".", "a.b", token.slice(1), `${token}.x`, code]) {
    assertEquals(await openConsent(SECRETS, forged, AT), { outcome: "not_ours" });
  }
});
