/** The front page, signing in with every error, and onboarding. */
import { withMailedAddress } from "../../../functions/auth-callback/sign_in/mailed_address.ts";
import { DIRECT_HEADER } from "../../../shared/routes.ts";
import { withAskingApp } from "../../../shared/oauth/asking_app.ts";
import { formsOf, NOW, signIn } from "../../functions/auth-callback/harness.ts";
import { EMAIL, HOSTILE, LONG_ADDRESS, page, signedIn, type State, UNBROKEN } from "./state.ts";

const failedSignIn = (name: string, query: string): State =>
  page(name, async ({ browser }) => await browser.get(`/auth/callback?${query}`));

/** The page of a mailed link, with or without an address. */
export const confirm = (
  name: string,
  { address, isSignedIn = false }: { address?: string; isSignedIn?: boolean },
): State =>
  page(name, async ({ pages, browser }) => {
    const visitor = isSignedIn ? (await signIn(pages, EMAIL)).browser : browser;
    const link = "/auth/callback?token_hash=abc&type=email";
    return await visitor.get(address ? await withMailedAddress(pages.config, link, { address, at: NOW }) : link);
  });

/** Set by the embedded stack. */
const LOCAL = { localUrl: "http://127.0.0.1:7401/secret", demoEmail: "demo@example.com" };

export const SIGN_IN_STATES: readonly State[] = [
  page("front", ({ browser }) => browser.get("/")),
  page("front-sold", ({ browser }) => browser.get("/"), {
    config: { proPrice: "€4.00", teamPrice: "€9.00", pricingUrl: "https://expenses.example/pricing" },
  }),
  signedIn("front-signed-in", "/"),
  page("login", ({ browser }) => browser.get("/login", { [DIRECT_HEADER]: "1" }), {
    config: { authProviders: ["google", "github"], ...LOCAL },
  }),
  page("login-plain", ({ browser }) => browser.get("/login")),
  page("login-for-app", async ({ browser, pages }) => {
    const next = await withAskingApp(pages.config.codeSecrets, "/api/oauth/authorize?client_id=a", {
      name: HOSTILE,
      at: NOW,
    });
    return await browser.get(`/login?next=${encodeURIComponent(next)}`);
  }),
  page("login-mistyped", ({ browser }) => browser.post("/login", { email: `${UNBROKEN}<b>@` })),
  page("login-sent-embedded", async ({ browser }) => {
    await browser.post("/login", { email: EMAIL });
    return await browser.get("/login?sent=1", { [DIRECT_HEADER]: "1" });
  }, { config: LOCAL }),
  page("login-sent", async ({ browser }) => {
    await browser.post("/login", { email: EMAIL });
    return await browser.get("/login?sent=1&next=%2Faccount");
  }),
  page("login-wrong-code", async ({ browser }) => {
    await browser.post("/login", { email: LONG_ADDRESS });
    return await browser.post("/login", { action: "code", code: "12" });
  }),
  page("login-limited", ({ browser }) => browser.post("/login", { email: EMAIL }), {
    answers: { claim_attempt: { outcome: "limited", retry_after: 700 } },
  }),
  confirm("confirm", { address: EMAIL }),
  confirm("confirm-other", { address: LONG_ADDRESS, isSignedIn: true }),
  confirm("confirm-unsaid", { isSignedIn: true }),
  page("confirm-untyped", ({ browser }) => browser.post("/auth/callback?token_hash=abc&type=email", {})),
  page("no-cookies", ({ pages }) => {
    const headers = { "content-type": "application/x-www-form-urlencoded", "sec-fetch-site": "same-origin" };
    return Promise.resolve(
      pages.app.request(`${pages.config.siteUrl}/login`, { method: "POST", headers, body: "email=" }),
    );
  }),
  page("no-mail", ({ browser, pages }) => {
    pages.provider.failure = () => Promise.resolve(new Response(null, { status: 500 }));
    return browser.post("/login", { email: EMAIL });
  }),
  failedSignIn("failed-used", "error=access_denied&error_code=otp_expired"),
  failedSignIn("failed-cancelled", "error=access_denied"),
  failedSignIn("failed-browser", "code=7d1d2c7a-0d53-4d3f-9a53-111111111111"),
  failedSignIn("failed-incomplete", ""),
  page("identity-provider-down", async ({ pages }) => {
    const { browser } = await signIn(pages, EMAIL);
    pages.provider.failure = () => Promise.resolve(new Response(null, { status: 429 }));
    return await browser.get("/account");
  }),
  signedIn("onboarding", "/onboarding"),
  page("onboarding-problems", async ({ pages }) => {
    const { browser } = await signIn(pages, EMAIL);
    const form = formsOf(await (await browser.get("/onboarding")).text())[0]!;
    return await browser.post("/onboarding", {
      ...form.fields,
      country: "",
      timezone: "Mars",
      organization_name: HOSTILE.repeat(2),
      reminder_email: "bills",
    });
  }),
];
