/**
 * Pre-hijacking an account with a password. An attacker signs up a stranger's address, the stranger later signs in
 * with our link, and the attacker's password is still set. It gives no access, with or without the access token hook.
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { decode, sign } from "hono/jwt";
import { Buffer } from "node:buffer";
import { FormBrowser } from "../../local/form_browser.ts";
import { connect } from "../../local/demo/client.ts";
import { authClient } from "../_support/auth_client.ts";
import { signIn, startStack } from "../_support/stack.ts";
import { connectFor, personOf } from "./person.ts";

Deno.test("a password from before the first confirmed sign-in gives no access", async () => {
  await using stack = await startStack({ args: ["--no-demo"] });
  const victim = { email: "victim@example.com", password: "chosen by the attacker" };
  const attacker = authClient(stack).auth;
  // The attacker signs up with the victim's address, as the real provider allows.
  {
    const { data, error } = await attacker.signUp(victim);
    assertEquals([error, data.session, data.user?.email], [null, null, victim.email]);
    const early = await attacker.signInWithPassword(victim);
    assertEquals([early.error?.status, early.error?.code], [400, "email_not_confirmed"]);
  }

  // The victim signs in with our link, and connects an app.
  {
    const { page } = await signIn(stack, victim.email);
    assertEquals(page.url.pathname, "/account");
    const app = await connectFor(personOf(stack, victim.email), stack.mcp_url);
    assertEquals((await app.call("get_context")).ok, true);
  }

  // The password is now correct, and the hook refuses the session.
  {
    const wrong = await attacker.signInWithPassword({ ...victim, password: "another one" });
    assertEquals([wrong.error?.status, wrong.error?.code], [400, "invalid_credentials"]);
    const right = await attacker.signInWithPassword(victim);
    assertEquals([right.error?.status, right.data.session], [403, null]);
    assertEquals(right.error?.message, "Sign in with a link or code we email you.");
  }

  // A password session created without the hook opens neither the account nor consent.
  {
    const browser = await withPasswordSession(stack, victim.email);
    const account = await browser.open("/account");
    assertEquals([account.url.pathname, account.status], ["/login", 200]);
    assertStringIncludes(account.html, "Sign in with a link or code we email you.");
    assertEquals([...browser.cookies.keys()].filter((name) => name.startsWith("session")), []);

    let consent: Awaited<ReturnType<FormBrowser["open"]>> | undefined;
    await connect(stack.mcp_url, {
      clientName: "Attacker's client",
      async decide(authorizationUrl) {
        consent = await (await withPasswordSession(stack, victim.email)).open(authorizationUrl);
        throw new Error("no consent");
      },
    }).catch(() => undefined);
    assertEquals(consent?.url.pathname, "/login");
  }

  // The victim's own session was unaffected.
  {
    const { page } = await signIn(stack, victim.email);
    assertEquals(page.url.pathname, "/account");
  }
});

/**
 * A browser with the session that the identity provider would issue for the correct password without the hook: a valid
 * token and a live session.
 */
async function withPasswordSession(
  stack: Awaited<ReturnType<typeof startStack>>,
  email: string,
): Promise<FormBrowser> {
  const { admin } = authClient(stack, stack.secret_key).auth;
  const { hashed_token } = (await admin.generateLink({ type: "magiclink", email })).data.properties!;
  const { session } = (await authClient(stack).auth.verifyOtp({ token_hash: hashed_token, type: "email" })).data;
  const { payload } = decode(session!.access_token);
  const { jwt_secret } = JSON.parse(await Deno.readTextFile(`${stack.folder}/secrets.json`));
  const browser = new FormBrowser(stack.site_url);
  const inside = async (method: string) => {
    const claims = { ...payload, amr: [{ method, timestamp: payload.iat }] };
    const cookie = JSON.stringify({ ...session, access_token: await sign(claims, jwt_secret, "HS256") });
    browser.cookies.set("session", `base64-${Buffer.from(cookie).toString("base64url")}`);
  };
  // The same token is accepted when it names a code as its method, so its method is the only fault.
  await inside("otp");
  assertEquals((await browser.open("/account")).url.pathname, "/account");
  await inside("password");
  return browser;
}

Deno.test("a banned person regains access after the ban", async () => {
  await using stack = await startStack({ args: ["--no-demo"] });
  const email = "mira@example.com";
  const admin = authClient(stack, stack.secret_key).auth.admin;
  const { browser } = await signIn(stack, email);
  const app = await connectFor(personOf(stack, email), stack.mcp_url);
  assertEquals((await app.call("get_context")).ok, true);
  const { id } = (await admin.listUsers()).data.users.find((user) => user.email === email)!;
  const callTool = () =>
    fetch(stack.mcp_url, {
      method: "POST",
      headers: {
        authorization: `Bearer ${app.tokens().access_token}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list", params: {} }),
    }).then(async (response) => {
      await response.body?.cancel();
      return response.status;
    });

  // A banned person sees a notice on every page, and their apps get 401.
  {
    assertEquals((await admin.updateUserById(id, { ban_duration: "24h" })).error, null);
    assertEquals(await callTool(), 401);
    const page = await browser.open("/account");
    assertEquals(page.status, 403);
    assertMatch(page.html, /<h1>This account is suspended<\/h1>/);
  }

  // The sign-in refuses even the correct link.
  {
    const { page } = await signIn(stack, email);
    assertEquals(page.status, 403);
    assertMatch(page.html, /<h1>This account is suspended<\/h1>/);
  }

  // Everything works again when the ban ends.
  {
    assertEquals((await admin.updateUserById(id, { ban_duration: "none" })).error, null);
    assertEquals(await callTool(), 200);
    const { page } = await signIn(stack, email);
    assertEquals([page.url.pathname, page.status], ["/account", 200]);
  }

  // A soft deletion ends all access.
  {
    assertEquals((await admin.deleteUser(id, true)).error, null);
    assertEquals(await callTool(), 401);
    // Anybody with the address may start again, without the old data.
    const { page } = await signIn(stack, email);
    assertEquals(page.status, 200);
    const ids = (await admin.listUsers()).data.users.filter((user) => user.email === email).map((user) => user.id);
    assert(ids.length === 1 && ids[0] !== id);
  }
});
