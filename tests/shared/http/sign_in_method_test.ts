import { assertEquals } from "@std/assert";
import { isOurSignIn, type SessionClaims } from "../../../shared/http/sign_in_method.ts";

const session = (methods: string[], providers: string[] = ["email"]): SessionClaims => ({
  amr: methods.map((method) => ({ method, timestamp: 1 })),
  app_metadata: { providers },
});

Deno.test("isOurSignIn() accepts a mailed code or link, even with a second factor or after a refresh", () => {
  for (const method of ["otp", "magiclink", "email/signup", "invite", "recovery", "email_change"]) {
    assertEquals(isOurSignIn(session([method]), []), true, method);
    assertEquals(isOurSignIn(session(["totp", method]), []), true, method);
  }
  assertEquals(isOurSignIn({ amr: ["otp"] }, []), true);
});

Deno.test("isOurSignIn() refuses a password, even with a code, and every unlisted method", () => {
  const others = [
    "password",
    "anonymous",
    "web3",
    "sso/saml",
    "passkey",
    "oauth_provider/authorization_code",
    "new",
    "",
  ];
  for (const method of others) {
    assertEquals(isOurSignIn(session([method]), ["github"]), false, method);
    assertEquals(isOurSignIn(session(["otp", method]), ["github"]), false, method);
  }
  for (const method of ["totp", "token_refresh"]) assertEquals(isOurSignIn(session([method]), []), false, method);
  for (const claims of [{}, { amr: [] }]) assertEquals(isOurSignIn(claims, ["github"]), false);
});

Deno.test("isOurSignIn() accepts another service only when it is offered, or when every possible one is", () => {
  const cases: [string[], string[], boolean][] = [
    [["email", "github"], ["github"], true],
    [["github"], ["google", "github"], true],
    [["github"], [], false],
    [["github", "discord"], ["github"], false],
    [["email"], ["email"], false],
    [[], ["github"], false],
  ];
  for (const [used, offered, expected] of cases) {
    assertEquals(isOurSignIn(session(["oauth"], used), offered), expected, `${used} of ${offered}`);
  }
  const named = { amr: [{ method: "oauth", provider: "github" }], app_metadata: { providers: ["github", "discord"] } };
  assertEquals(isOurSignIn(named, ["github"]), true);
  assertEquals(isOurSignIn(named, ["discord"]), false);
});
