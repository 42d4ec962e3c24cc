/** Two independent client libraries at their strictest settings: oauth4webapi and openid-client. */
import { assert, assertEquals, assertRejects } from "@std/assert";
import * as oauth from "oauth4webapi";
import * as openid from "openid-client";
import { sharedDatabase } from "../../_support/database.ts";
import { createPerson, RESOURCE, SITE } from "./harness.ts";
import { createSite } from "./site.ts";

const database = await sharedDatabase();
const person = await createPerson(database, "independent@example.com", ["team"]);
const CALLBACK = "https://app.example/callback";
const METADATA = { client_name: "Example", redirect_uris: [CALLBACK], token_endpoint_auth_method: "none" };
const CALL = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "get_context" } });
const HEADERS = { "content-type": "application/json", "accept": "application/json" };

Deno.test("oauth4webapi discovers, registers, checks iss and state, exchanges with PKCE, calls, refreshes and revokes", async () => {
  const site = createSite(database);
  const options = { [oauth.customFetch]: site.fetch as (url: string, init: object) => Promise<Response> };

  const resource = await oauth.processResourceDiscoveryResponse(
    new URL(RESOURCE),
    await oauth.resourceDiscoveryRequest(new URL(RESOURCE), options),
  );
  const issuer = new URL(resource.authorization_servers![0]!);
  const as = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { ...options, algorithm: "oauth2" }),
  );
  const viaOpenId = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { ...options, algorithm: "oidc" }),
  );
  assertEquals(viaOpenId, as);
  assertEquals(as.authorization_response_iss_parameter_supported, true);

  const client = await oauth.processDynamicClientRegistrationResponse(
    await oauth.dynamicClientRegistrationRequest(as, METADATA, options),
  );
  const verifier = oauth.generateRandomCodeVerifier();
  const state = oauth.generateRandomState();
  const authorizationUrl = new URL(as.authorization_endpoint!);
  authorizationUrl.search = new URLSearchParams({
    client_id: client.client_id,
    redirect_uri: CALLBACK,
    response_type: "code",
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
    code_challenge_method: "S256",
    state,
    scope: "expenses:rw offline_access",
    resource: RESOURCE,
  }).toString();
  const callback = await site.allow(authorizationUrl, person);
  const parameters = oauth.validateAuthResponse(as, client, callback, state);

  const tokens = await oauth.processAuthorizationCodeResponse(
    as,
    client,
    await oauth.authorizationCodeGrantRequest(as, client, oauth.None(), parameters, CALLBACK, verifier, {
      ...options,
      additionalParameters: { resource: RESOURCE },
    }),
  );
  assertEquals([tokens.token_type, tokens.scope, tokens.expires_in], ["bearer", "expenses:rw", 3600]);
  const call = (token: string) =>
    oauth.protectedResourceRequest(token, "POST", new URL(RESOURCE), new Headers(HEADERS), CALL, options);
  assertEquals((await (await call(tokens.access_token)).json()).result.structuredContent.ok, true);

  const renewed = await oauth.processRefreshTokenResponse(
    as,
    client,
    await oauth.refreshTokenGrantRequest(as, client, oauth.None(), tokens.refresh_token!, {
      ...options,
      additionalParameters: { resource: RESOURCE },
    }),
  );
  assert(renewed.refresh_token !== tokens.refresh_token);
  await oauth.processRevocationResponse(
    await oauth.revocationRequest(as, client, oauth.None(), renewed.refresh_token!, options),
  );
  const challenged = await assertRejects(
    async () => await call(renewed.access_token),
    oauth.WWWAuthenticateChallengeError,
  );
  assertEquals(challenged.cause[0]!.parameters.error, "invalid_token");
  assertEquals(challenged.cause[0]!.parameters.scope, "expenses:rw");
});

Deno.test("oauth4webapi reports our errors as its own error types", async () => {
  const site = createSite(database);
  const options = { [oauth.customFetch]: site.fetch as (url: string, init: object) => Promise<Response> };
  const issuer = new URL(SITE);
  const as = await oauth.processDiscoveryResponse(
    issuer,
    await oauth.discoveryRequest(issuer, { ...options, algorithm: "oauth2" }),
  );
  const client = { client_id: "client_gone" };
  const grant = oauth.refreshTokenGrantRequest(as, client, oauth.None(), `exp_rt_${"x".repeat(43)}`, options);
  const refused = await assertRejects(
    async () => await oauth.processRefreshTokenResponse(as, client, await grant),
    oauth.ResponseBodyError,
  );
  assertEquals([refused.error, refused.status], ["invalid_client", 401]);
});

Deno.test("openid-client discovers, registers, exchanges with state, iss and PKCE, calls, refreshes and revokes", async () => {
  const site = createSite(database);
  const customFetch = site.fetch as openid.CustomFetch;
  const config = await openid.dynamicClientRegistration(new URL(SITE), METADATA, openid.None(), {
    algorithm: "oauth2",
    [openid.customFetch]: customFetch,
  });
  assertEquals(config.serverMetadata().supportsPKCE("S256"), true);

  const pkceCodeVerifier = openid.randomPKCECodeVerifier();
  const expectedState = openid.randomState();
  const authorizationUrl = openid.buildAuthorizationUrl(config, {
    redirect_uri: CALLBACK,
    scope: "expenses:rw",
    code_challenge: await openid.calculatePKCECodeChallenge(pkceCodeVerifier),
    code_challenge_method: "S256",
    state: expectedState,
    resource: RESOURCE,
  });
  const callback = await site.allow(authorizationUrl, person);
  const tokens = await openid.authorizationCodeGrant(
    config,
    callback,
    { pkceCodeVerifier, expectedState },
    { resource: RESOURCE },
  );
  assertEquals(tokens.expires_in, 3600);
  const response = await openid.fetchProtectedResource(
    config,
    tokens.access_token,
    new URL(RESOURCE),
    "POST",
    CALL,
    new Headers(HEADERS),
  );
  assertEquals((await response.json()).result.structuredContent.ok, true);
  const renewed = await openid.refreshTokenGrant(config, tokens.refresh_token!, { resource: RESOURCE });
  await openid.tokenRevocation(config, renewed.refresh_token!);
  await assertRejects(() => openid.refreshTokenGrant(config, renewed.refresh_token!), openid.ResponseBodyError);

  const replayed = new URL(callback);
  replayed.searchParams.set("iss", "https://other.example");
  await assertRejects(() =>
    openid.authorizationCodeGrant(config, replayed, { pkceCodeVerifier, expectedState }, { resource: RESOURCE })
  );
});
