/**
 * Correction 6: the embedded identity provider's handling of mails, links, codes and claims, through its own client.
 */
import { assert, assertEquals, assertMatch, assertNotEquals } from "@std/assert";
import { decode } from "hono/jwt";
import { newestLink } from "../../local/sign_in.ts";
import { authClient } from "../_support/auth_client.ts";
import { startStack } from "../_support/stack.ts";

const stack = await startStack({ args: ["--no-demo"] });
Deno.test.afterAll(async () => void await stack.stop());
const callback = `${stack.site_url}/auth/callback?next=%2Faccount`;
const admin = authClient(stack, stack.secret_key).auth.admin;
Deno.test.beforeAll(async () => {
  for (const email of ["ann@example.com", "ben@example.com"]) await admin.createUser({ email, email_confirm: true });
});
const newestMail = async (to: string) => (await (await fetch(`${stack.mail_url}?to=${to}`)).json())[0];
const askForMail = async (email: string, redirectTo = callback) => {
  const client = authClient(stack);
  const { data, error } = await client.auth.signInWithOtp({ email, options: { emailRedirectTo: redirectTo } });
  assertEquals([data, error], [{ user: null, session: null }, null]);
  return client;
};
/** The real provider's default mail link. */
const verifyLink = async (email: string, { type = "magiclink", redirectTo = callback } = {}) => {
  const token = new URL(await newestLink(stack, email)).searchParams.get("token_hash")!;
  return `${stack.supabase_url}/auth/v1/verify?${new URLSearchParams({ token, type, redirect_to: redirectTo })}`;
};
const follow = async (link: string) => {
  const response = await fetch(link, { redirect: "manual" });
  await response.body?.cancel();
  assertEquals(response.status, 303);
  return new URL(response.headers.get("location")!);
};

Deno.test("the identity provider mails a confirmation to an unknown address and a sign-in link to a known one", async () => {
  await askForMail("unknown@example.com");
  assertMatch((await newestMail("unknown@example.com")).subject, /^Confirm/);
  await follow(await verifyLink("unknown@example.com", { type: "signup" }));
  await askForMail("unknown@example.com");
  assertMatch((await newestMail("unknown@example.com")).subject, /^Sign in/);
});

Deno.test("the identity provider refuses a malformed address, and creates no user when told not to", async () => {
  const { auth } = authClient(stack);
  const unknown = await auth.signInWithOtp({ email: "nobody@example.com", options: { shouldCreateUser: false } });
  assertEquals([unknown.error?.status, unknown.error?.code], [422, "otp_disabled"]);
  const malformed = await auth.signInWithOtp({ email: "nobody" });
  assertEquals([malformed.error?.status, malformed.error?.code], [400, "validation_failed"]);
});

Deno.test("the identity provider adds the code to the redirect's own query, and exchanges it once, only with its verifier", async () => {
  const client = await askForMail("ann@example.com");
  const target = await follow(await verifyLink("ann@example.com"));
  assertEquals(target.href.replace(/code=[0-9a-f-]{36}$/, ""), `${callback}&`);
  const code = target.searchParams.get("code")!;

  const stranger = await authClient(stack).auth.exchangeCodeForSession(code);
  assertEquals(stranger.error?.code, "pkce_code_verifier_not_found");
  const { data, error } = await client.auth.exchangeCodeForSession(code);
  assertEquals([error, data.user?.email], [null, "ann@example.com"]);
  assertEquals((await client.auth.getUser()).data.user?.email, "ann@example.com");
  assertEquals((await client.auth.exchangeCodeForSession(code)).error?.code, "pkce_code_verifier_not_found");
});

Deno.test("the identity provider reports a used link in query and fragment, and keeps next", async () => {
  await askForMail("ann@example.com");
  await follow(await verifyLink("ann@example.com"));
  const target = await follow(await verifyLink("ann@example.com"));
  const error = {
    error: "access_denied",
    error_code: "otp_expired",
    error_description: "Email link is invalid or has expired",
  };
  assertEquals(Object.fromEntries(target.searchParams), { next: "/account", ...error });
  assertEquals(Object.fromEntries(new URLSearchParams(target.hash.slice(1))), { ...error, sb: "" });
});

Deno.test("the identity provider redirects to the site when asked for a foreign URL", async () => {
  await askForMail("ann@example.com", "https://evil.example/steal");
  const link = await newestLink(stack, "ann@example.com");
  assertEquals(new URL(link).origin, stack.site_url);
  const target = await follow(await verifyLink("ann@example.com", { redirectTo: "https://evil.example/steal" }));
  assertEquals(target.origin, stack.site_url);
});

for (const type of ["email", "magiclink"] as const) {
  Deno.test(`the identity provider accepts a token hash of type ${type} once`, async () => {
    await askForMail("ann@example.com");
    const token_hash = new URL(await newestLink(stack, "ann@example.com")).searchParams.get("token_hash")!;
    const { data, error } = await authClient(stack).auth.verifyOtp({ token_hash, type });
    assertEquals([error, data.user?.email], [null, "ann@example.com"]);
    const again = await authClient(stack).auth.verifyOtp({ token_hash, type });
    assertEquals([again.error?.status, again.error?.code], [403, "otp_expired"]);
  });
}

Deno.test("the identity provider accepts the mail's six digits with the address of the mail", async () => {
  await askForMail("ben@example.com");
  const token = />\s*(\d{6})\s*</.exec((await newestMail("ben@example.com")).html)![1]!;
  const wrong = await authClient(stack).auth.verifyOtp({ email: "ann@example.com", token, type: "email" });
  assertEquals([wrong.error?.status, wrong.error?.code], [403, "otp_expired"]);
  const { data, error } = await authClient(stack).auth.verifyOtp({
    email: "ben@example.com",
    token,
    type: "email",
  });
  assertEquals([error, data.user?.email], [null, "ben@example.com"]);
  assert(data.user?.email_confirmed_at);
});

Deno.test("the identity provider puts the real claims into the access token, even after a refresh", async () => {
  const client = await askForMail("ben@example.com");
  const token_hash = new URL(await newestLink(stack, "ben@example.com")).searchParams.get("token_hash")!;
  const first = await client.auth.verifyOtp({ token_hash, type: "email" });
  const refreshed = await client.auth.refreshSession();
  for (const session of [first.data.session!, refreshed.data.session!]) {
    const { payload } = decode(session.access_token);
    const { iss, aud, role, aal, amr, app_metadata, user_metadata, is_anonymous, phone, email } = payload as Record<
      string,
      unknown
    >;
    assertEquals({ iss, aud, role, aal, is_anonymous, phone, email }, {
      iss: `${stack.supabase_url}/auth/v1`,
      aud: "authenticated",
      role: "authenticated",
      aal: "aal1",
      is_anonymous: false,
      phone: "",
      email: "ben@example.com",
    });
    assertEquals((amr as { method: string }[])[0]!.method, "otp");
    assertEquals(app_metadata, { provider: "email", providers: ["email"] });
    assertEquals((user_metadata as { email_verified: boolean }).email_verified, true);
    assertEquals(payload.sub, first.data.user!.id);
  }
  assertNotEquals(first.data.session!.refresh_token, refreshed.data.session!.refresh_token);
  assertEquals((await client.auth.signOut()).error, null);
});

Deno.test("the identity provider keeps the password of the sign-up, and the hook refuses it", async () => {
  const credentials = { email: "Dora@example.com", password: "first come" };
  const signedUp = await authClient(stack).auth.signUp(credentials);
  assertEquals([signedUp.error, signedUp.data.session], [null, null]);
  // A second sign-up changes nothing.
  const again = await authClient(stack).auth.signUp({ ...credentials, password: "second come" });
  assertEquals(again.data.user?.id, signedUp.data.user?.id);
  const signIn = (password: string) => authClient(stack).auth.signInWithPassword({ ...credentials, password });
  assertEquals((await signIn("first come")).error?.code, "email_not_confirmed");

  await follow(await verifyLink("dora@example.com", { type: "signup" }));
  assertEquals((await signIn("second come")).error?.code, "invalid_credentials");
  const refused = await signIn("first come");
  assertEquals([refused.error?.status, refused.error?.message], [403, "Sign in with a link or code we email you."]);

  // It does not reveal whether an account exists, and sends no mail.
  const before = (await newestMail("dora@example.com")).html;
  const known = await authClient(stack).auth.signUp(credentials);
  assertEquals([known.error, known.data.user?.identities], [null, []]);
  assertNotEquals(known.data.user?.id, signedUp.data.user?.id);
  assertEquals((await newestMail("dora@example.com")).html, before);
  const { error } = await authClient(stack).auth.signInAnonymously();
  assertEquals([error?.status, error?.code], [422, "anonymous_provider_disabled"]);
});

Deno.test("the identity provider records how a session began", async () => {
  for (
    const [email, type, method] of [["eva@example.com", "signup", "email/signup"], [
      "eva@example.com",
      "magiclink",
      "magiclink",
    ]] as const
  ) {
    const client = await askForMail(email);
    const target = await follow(await verifyLink(email, { type }));
    const { data } = await client.auth.exchangeCodeForSession(target.searchParams.get("code")!);
    for (const session of [data.session!, (await client.auth.refreshSession()).data.session!]) {
      const { amr } = decode(session.access_token).payload as { amr: { method: string }[] };
      assertEquals(amr.map((entry) => entry.method), [method]);
    }
  }
});

Deno.test("the identity provider refuses banned people everywhere, and ends the sessions of deleted ones", async () => {
  const client = await askForMail("fritz@example.com");
  const link = () =>
    newestLink(stack, "fritz@example.com").then((href) => new URL(href).searchParams.get("token_hash")!);
  const first = await client.auth.verifyOtp({ token_hash: await link(), type: "email" });
  const id = first.data.user!.id;
  const reasons = async () => {
    await askForMail("fritz@example.com");
    const token_hash = await link();
    const anonymous = authClient(stack).auth;
    return [
      (await client.auth.getUser()).error,
      (await client.auth.refreshSession({ refresh_token: first.data.session!.refresh_token })).error,
      (await anonymous.verifyOtp({ token_hash, type: "email" })).error,
      (await anonymous.verifyOtp({ email: "fritz@example.com", token: "000000", type: "email" })).error,
    ].map((error) => error && [error.status, error.code]);
  };
  const banned = await admin.updateUserById(id, { ban_duration: "1h" });
  assert(Date.parse((banned.data.user as { banned_until?: string }).banned_until!) > Date.now());
  const target = await follow(await (await askForMail("fritz@example.com"), verifyLink("fritz@example.com")));
  assertEquals(target.searchParams.get("error_code"), "user_banned");
  assertEquals(await reasons(), [[403, "user_banned"], [400, "user_banned"], [403, "user_banned"], [
    403,
    "user_banned",
  ]]);

  await admin.updateUserById(id, { ban_duration: "none" });
  const fresh = await askForMail("fritz@example.com");
  await fresh.auth.verifyOtp({ token_hash: await link(), type: "email" });
  assertEquals((await fresh.auth.getUser()).data.user?.id, id);
  assertEquals((await admin.deleteUser(id, true)).error, null);
  assert((await fresh.auth.getUser()).error);
  assert((await admin.getUserById(id)).data.user?.email !== "fritz@example.com");
});

Deno.test("the identity provider serves the admin API only for the secret key", async () => {
  const made = await admin.createUser({
    email: "Carl@example.com",
    email_confirm: true,
    user_metadata: { name: "Carl" },
  });
  assertEquals([made.error, made.data.user?.email], [null, "carl@example.com"]);
  assertEquals((await admin.createUser({ email: "carl@example.com" })).error?.code, "email_exists");
  assertEquals((await admin.getUserById(made.data.user!.id)).data.user?.user_metadata.name, "Carl");
  assert((await admin.listUsers()).data.users.some(({ email }) => email === "carl@example.com"));

  const { data } = await admin.generateLink({ type: "magiclink", email: "carl@example.com" });
  const { hashed_token: token_hash, verification_type } = data.properties!;
  assertEquals(verification_type, "magiclink");
  const signedIn = await authClient(stack).auth.verifyOtp({ token_hash, type: "magiclink" });
  assertEquals(signedIn.data.user?.id, made.data.user!.id);

  assertEquals((await admin.deleteUser(made.data.user!.id)).error, null);
  assertEquals((await admin.getUserById(made.data.user!.id)).error?.status, 404);
  assertEquals((await authClient(stack).auth.admin.listUsers()).error?.status, 401);
});

Deno.test("the identity provider returns a session in the fragment for a link requested without PKCE", async () => {
  const { data } = await admin.generateLink({
    type: "magiclink",
    email: "ann@example.com",
    options: { redirectTo: callback },
  });
  const target = await follow(data.properties!.action_link);
  assertEquals(target.origin + target.pathname, `${stack.site_url}/auth/callback`);
  assert(new URLSearchParams(target.hash.slice(1)).get("access_token"));
});

Deno.test("the identity provider requires a key", async () => {
  const response = await fetch(`${stack.supabase_url}/auth/v1/otp`, { method: "POST", body: "{}" });
  await response.body?.cancel();
  assertEquals(response.status, 401);
});
