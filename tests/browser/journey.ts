/** `deno task suite browser`: a person's journey through the running embedded stack, in Chromium with scripts off. */
import { Buffer } from "node:buffer";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { newestLink } from "../../local/sign_in.ts";
import { LANGUAGES } from "../../shared/words/page_words.ts";
import { connectFor, personOf } from "../e2e/person.ts";
import { heading, journey, newestMail, press, scripted, signIn, signInAsDemo, stack } from "./walking.ts";

const { en } = LANGUAGES;

journey("a new person signs in by mail, is asked five things, connects an app and disconnects it", async (page) => {
  await page.goto("/login?next=%2Faccount%3Ffrom%3Dmail");
  await page.getByLabel("Email address").fill("camille@example.com");
  await press(page, "Email me a link");
  assertEquals(await heading(page), "Check your email");
  assertStringIncludes(await page.locator("main").innerText(), "camille@example.com");
  await page.goto(await newestLink(stack, "camille@example.com"));
  await press(page, "Sign in");

  assertEquals(await heading(page), en.pages.onboarding.title);
  assertEquals(await page.getByLabel("Country").inputValue(), "FR");
  assertEquals(await page.getByLabel("Time zone").inputValue(), "Europe/Paris");
  assertEquals(await page.getByLabel("Main currency").inputValue(), "EUR");
  await page.getByLabel("Name of your organization").fill("Chez Camille");
  await page.getByLabel("Email for reminders").fill("factures@example.com");
  await press(page, "Start");
  assertEquals(new URL(page.url()).search, "?from=mail");
  assertMatch(await page.locator("main").innerText(), /Chez Camille\s+Team plan, free to try until/);

  const client = await listenAsClient("Ledger");
  await page.goto(client.authorizationUrl);
  assertEquals(await heading(page), "Ledger wants to use your expenses");
  await press(page, "Allow");
  await page.waitForURL(/127\.0\.0\.1:\d+\/callback/);
  assertMatch(new URL(page.url()).searchParams.get("code")!, /./);
  await client.exchange(new URL(page.url()).searchParams.get("code")!);

  await page.goto("/account");
  await page.getByRole("link", { name: "Disconnect Ledger" }).click();
  assertEquals(await heading(page), "Disconnect Ledger?");
  await press(page, "Disconnect");
  assertStringIncludes(await page.getByRole("status").first().innerText(), "The app is disconnected");
  await client.close();

  const confirmation = /http\S+\/account\/reminder-email\S+/.exec(await newestMail("factures@example.com"));
  await page.goto(confirmation![0]);
  await press(page, "Yes, send them here");
  assertEquals(await heading(page), "Reminders will go to this address");

  await page.goto("/account");
  await press(page, "Sign out");
  await page.goto("/account");
  assertEquals(await heading(page), "Sign in");
});

journey("a person changes the name and the reminders, and comes back to what they saved", async (page) => {
  await signIn(page, "noor@example.com");
  await press(page, "Start");
  await page.getByText("Rename").click();
  await page.getByLabel("New name").fill("مصاريف نور");
  await press(page, "Save name");
  assertStringIncludes(await page.locator("main").innerText(), "مصاريف نور");
  await page.getByLabel("Days before a bill is due").fill("10");
  await page.getByLabel("Remind me by email").uncheck();
  await press(page, "Save");
  assertStringIncludes(await page.getByRole("status").first().innerText(), "saved");
  assertEquals(await page.getByLabel("Days before a bill is due").inputValue(), "10");
  assertEquals(await page.getByLabel("Remind me by email").isChecked(), false);
});

journey("the code of the mail signs in where the link cannot", async (page) => {
  await page.goto("/login");
  await page.getByLabel("Email address").fill("lena@example.com");
  await press(page, "Email me a link");
  const code = /(?<!\S)\d{6}(?!\S)/.exec((await newestMail("lena@example.com")).replace(/<[^>]+>/g, " "))![0];
  await page.getByLabel("Or enter the six-digit code").fill(code);
  await press(page, "Sign in");
  assertEquals(await heading(page), en.pages.onboarding.title);
});

journey("a link that was used says so and offers a new one", async (page, context) => {
  await signIn(page, "olu@example.com");
  const used = await newestLink(stack, "olu@example.com");
  await context.clearCookies();
  await page.goto(used);
  await press(page, "Sign in");
  assertEquals(await heading(page), "This link no longer works");
  await page.getByRole("link", { name: "Sign in again" }).click();
  assertEquals(await heading(page), "Sign in");

  // Another click while signed in removes nothing.
  await signIn(page, "olu@example.com");
  await page.goto(used);
  await press(page, "Sign in");
  assertStringIncludes(await page.locator("main").innerText(), "If you were already signed in here, you still are.");
  await page.getByRole("link", { name: "Sign in again" }).click();
  assertEquals(await heading(page), en.pages.onboarding.title);
});

journey("a mistyped address is a page with a way home, and no second complaint", async (page) => {
  const failed: string[] = [];
  page.on("response", (response) => void (response.status() >= 400 && failed.push(new URL(response.url()).pathname)));
  await page.goto("/acount");
  assertEquals(await heading(page), "Page not found");
  assertMatch(await page.locator(".request-id").innerText(), /Request [0-9a-f-]{36}/);
  await page.getByRole("link", { name: "Go to the front page" }).click();
  assertEquals(new URL(page.url()).pathname, "/");
  await page.goto(stack.mail_url!);
  assertEquals(failed, ["/acount"]);
  assertEquals((await page.goto("/favicon.ico"))!.status(), 200);
});

journey("the local link signs in as the demo person", async (page) => {
  await page.goto("/login");
  await signInAsDemo(page);
  assertEquals(await heading(page), "Your account");
});

journey("the owner of a variable bill connects its provider, pauses and removes it", async (page) => {
  await page.goto("/login?next=%2Faccount%2Fproviders%2Fconnect%3Fbill%3Dbill_demo00000009");
  await signInAsDemo(page);
  assertEquals(await heading(page), "Choose the provider of Cloud hosting");
  await page.getByRole("link", { name: "Connect to DigitalOcean" }).click();
  assertStringIncludes(await page.locator("main").innerText(), "Connected now: Team …4f2a");

  const token = page.getByLabel("Personal access token");
  await token.fill("dop_v1_0123456789abcdef-401");
  await press(page, "Test and connect");
  assertStringIncludes(await page.getByRole("alert").innerText(), "Nothing was saved");
  assertMatch(await page.locator("main").innerText(), /DigitalOcean doesn’t accept what you entered/);
  assertEquals(await token.inputValue(), "");
  await token.fill(" dop_v1_0123456789abcdef7e57 ");
  await press(page, "Test and connect");
  assertEquals(await heading(page), "Cloud hosting is connected to DigitalOcean");

  await page.goto("/account");
  await page.getByRole("button", { name: "Pause Cloud hosting" }).click();
  assertMatch(await page.locator("main").innerText(), /DigitalOcean, Team …7e57: paused/);
  await page.getByRole("button", { name: "Resume Cloud hosting" }).click();
  assertMatch(await page.locator("main").innerText(), /DigitalOcean, Team …7e57: working/);
  await page.getByRole("link", { name: "Remove the provider of Cloud hosting" }).click();
  await press(page, "Remove");
  assertStringIncludes(await page.getByRole("status").first().innerText(), "its key is deleted");
  assertEquals(await page.getByRole("link", { name: "Connect Cloud hosting" }).count(), 1);
});

const STATEMENT = [
  "Date,Description,Amount,Balance,Currency",
  "2026-10-01,LIDL SAGT DANKE 4411,-23.80,976.20,EUR",
  "2026-10-02,Stadtwerke,-54.90,921.30,EUR",
  "2026-10-15,Salary,2500.00,3421.30,EUR",
].join("\n");

journey("a person chooses a statement on the page that their assistant's link opens", async (page) => {
  const { client, call } = await connectFor(personOf(stack, stack.demo!.email), stack.mcp_url);
  const { data: { upload } } = await call("import_expenses");
  await page.goto(upload.url);
  await signInAsDemo(page);
  assertEquals(page.url(), upload.url, "signing in leads back");
  const choose = (name: string, content: string | Uint8Array) =>
    page.getByLabel("One file from your bank, or invoices and receipts").setInputFiles({
      name,
      mimeType: "text/csv",
      buffer: Buffer.from(content as string),
    });

  await choose("statement.csv", new Uint8Array(12 * 1024 * 1024).fill(97));
  await press(page, "Upload");
  assertStringIncludes(await page.locator("main").innerText(), "larger than 10 MB");
  await page.getByRole("link", { name: "Try again" }).click();
  await choose("receipt.pdf", "%PDF-1.7\n1 0 obj");
  await press(page, "Upload");
  assertEquals(await heading(page), "No document was saved");
  assertStringIncludes(await page.locator("main").innerText(), "This PDF is damaged.");
  await page.getByRole("link", { name: "Upload more" }).click();
  await choose("October <b>2026</b>.csv", STATEMENT);
  await press(page, "Upload");
  assertEquals(await heading(page), "We’ve read your file");
  assertStringIncludes(await page.getByRole("status").innerText(), "“It’s uploaded.”");
  assertMatch(await page.locator("main").innerText(), /New expenses\s+2\s[^]*78\.70[^]*LIDL SAGT DANKE 4411/);
  await page.reload();
  assertEquals(await heading(page), "We’ve read your file");

  const { data: { preview } } = await call("import_expenses", { import_id: upload.import_id });
  await call("import_expenses", preview.commit_with);
  await page.reload();
  assertEquals(await heading(page), "This file is in your books");
  await client.close();
});

Deno.test({
  name: "with scripts, a large file shows its progress and is read without a further click",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const { client, call } = await connectFor(personOf(stack, stack.demo!.email), stack.mcp_url);
    const { data: { upload } } = await call("import_expenses");
    const context = await scripted({ width: 390, height: 800 });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    await page.goto(upload.url);
    await signInAsDemo(page);
    await page.evaluate(`{
      const seen = window.seen = new Set();
      new MutationObserver(() => seen.add(document.querySelector("[role=status], #progress").textContent))
        .observe(document.body, { childList: true, subtree: true });
    }`);
    let visits = 0;
    page.on("framenavigated", () => void visits++);
    const lines = Array.from({ length: 1_500 }, (_, n) => `2026-10-${1 + n % 28},Shop ${n},-${1 + n % 90}.50,EUR`);
    const text = ["Date,Description,Amount,Currency", ...lines].join("\n").replaceAll(/-(\d),/g, "-0$1,");
    await page.getByLabel("One file from your bank, or invoices and receipts").setInputFiles({
      name: "year.csv",
      mimeType: "text/csv",
      buffer: Buffer.from(text),
    });
    const read = page.getByRole("heading", { level: 1, name: "We’ve read your file" });
    const refused = page.getByText("Press Upload to try again.");
    // An overloaded machine refuses it for a while.
    for (let tries = 0; tries < 5 && await read.count() === 0; tries++) {
      await press(page, "Upload");
      await read.or(refused).waitFor({ timeout: 120_000 });
    }
    assertEquals(await page.title(), "We’ve read your file · Expenses");
    assertEquals(await page.evaluate("document.activeElement.tagName"), "H1");
    assertMatch(await page.locator("main").innerText(), /New expenses\s+1,4\d\d/);
    const seen = await page.evaluate("[...seen]") as string[];
    assert(seen.includes("Uploading…") || seen.includes("Uploaded. Reading it now…"), `${seen}`);
    // Every browser logs an error status to the console; an overloaded machine responds with 503.
    assertEquals([visits, complaints.filter((text) => !text.startsWith("Failed to load resource"))], [0, []]);
    await context.close();
    await client.close();
  },
});

Deno.test({
  name: "the mailbox shows a mail at its full height",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    const context = await scripted({ width: 390, height: 800 });
    const page = await context.newPage();
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(message.text()));
    await page.goto("/login");
    await page.getByLabel("Email address").fill("high@example.com");
    await press(page, "Email me a link");
    await page.getByRole("link", { name: "Open the mailbox" }).click();
    await page.waitForLoadState();
    const heights = await page.evaluate(`(() => {
      const frame = document.querySelector("iframe");
      return [frame.clientHeight, frame.contentDocument.documentElement.scrollHeight];
    })()`) as [number, number];
    assertEquals(heights[0], heights[1]);
    assert(heights[0] > 300);
    assertEquals(complaints, []);
    await context.close();
  },
});

/** A client on this computer: registered, with PKCE, waiting for its code on its own port. */
async function listenAsClient(name: string) {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    () => new Response("You can close this window."),
  );
  const redirectUri = `http://127.0.0.1:${server.addr.port}/callback`;
  const registered = await fetch(`${stack.site_url}/api/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: name, redirect_uris: [redirectUri] }),
  });
  const { client_id } = await registered.json();
  const verifier = "v".repeat(64);
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier)));
  const challenge = btoa(String.fromCharCode(...digest)).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const query = new URLSearchParams({
    response_type: "code",
    client_id,
    redirect_uri: redirectUri,
    code_challenge: challenge,
    code_challenge_method: "S256",
  });
  return {
    authorizationUrl: `/api/oauth/authorize?${query}`,
    async exchange(code: string) {
      const body = new URLSearchParams({
        grant_type: "authorization_code",
        code,
        code_verifier: verifier,
        redirect_uri: redirectUri,
        client_id,
      });
      const response = await fetch(`${stack.site_url}/api/oauth/token`, { method: "POST", body });
      assertEquals(response.status, 200, await response.text());
    },
    close: () => server.shutdown(),
  };
}
