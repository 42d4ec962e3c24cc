/** Changing the sign-in address, and signing out everywhere else. */
import { assertEquals, assertNotMatch, assertStringIncludes } from "@std/assert";
import { accountTest, auditOf, onboarded } from "./account_harness.ts";
import { AppError } from "../../../shared/errors.ts";
import { type Browser, createPages, over, type Pages, signIn } from "./harness.ts";

const NEW = "mira.new@example.com";

async function ask(pages: Pages, browser: Browser, email: string) {
  const page = await (await browser.get("/account/email")).text();
  const response = await browser.submit(page, 'name="email"', { email });
  return { status: response.status, text: await response.text(), mails: [...pages.provider.changes] };
}

/** Opens a mailed link in any browser and presses the button. */
async function confirm(browser: Browser, mail: { tokenHash: string; redirectTo: string }) {
  const url = new URL(mail.redirectTo);
  const path = `${url.pathname}${url.search}&token_hash=${mail.tokenHash}&type=email_change`;
  const page = await (await browser.get(path)).text();
  const response = await browser.submit(page, "<button");
  return { page, status: response.status, text: await response.text() };
}

accountTest(
  "the sign-in address changes once both addresses have confirmed, in any order and any browser",
  async (pages, database) => {
    const { id, browser } = await onboarded(pages, database);
    const asked = await ask(pages, browser, NEW);
    assertStringIncludes(asked.text, "Check both inboxes");
    assertEquals(asked.mails.map(({ email }) => email), ["mira@example.com", NEW]);
    const [old, fresh] = asked.mails;

    const elsewhere = pages.browser();
    const first = await confirm(elsewhere, fresh!);
    assertStringIncludes(first.page, "mira@example.com");
    assertStringIncludes(first.page, NEW);
    assertStringIncludes(first.text, "One more email");
    const [before] = await database.query<{ email: string }>("select email from identity.profiles");
    assertEquals(before!.email, "mira@example.com");

    const second = await confirm(elsewhere, old!);
    assertStringIncludes(second.text, "Your sign-in address has changed");
    const [after] = await database.query<{ user_id: string; email: string }>(
      "select user_id, email from identity.profiles",
    );
    assertEquals(after, { user_id: id, email: NEW });
    assertEquals((await auditOf(database)).filter((event) => event === "account.address_changed").length, 1);
    // Confirming changes no session.
    assertEquals((await elsewhere.get("/account")).status, 303);
    assertStringIncludes(await (await browser.get("/account")).text(), NEW);

    // A link works once. A double click shows only the second answer.
    const twice = await confirm(elsewhere, old!);
    assertEquals(twice.status, 400);
    assertStringIncludes(twice.text, "If you already pressed the button, it worked");
    assertNotMatch(twice.text, /[Nn]othing was changed/);
  },
);

accountTest(
  "an address changed during a database outage is stored at the next sign-in",
  async (_, database) => {
    let isDown = false;
    const pages = createPages({
      call: (name, args) =>
        isDown && name === "note_sign_in"
          ? Promise.reject(new AppError("unavailable", "down"))
          : over(database).call(name, args),
    });
    const { browser } = await onboarded(pages, database);
    const [old, fresh] = (await ask(pages, browser, NEW)).mails;
    await confirm(browser, old!);
    isDown = true;
    const done = await confirm(browser, fresh!);
    assertEquals(done.status, 200);
    assertStringIncludes(done.text, "Your sign-in address has changed");
    const noted = async () =>
      (await database.query<{ email: string }>("select email from identity.profiles"))[0]!.email;
    assertEquals(await noted(), "mira@example.com");
    isDown = false;
    await signIn(pages, NEW);
    assertEquals(await noted(), NEW);
  },
);

accountTest(
  "the response does not reveal other accounts, but reports a typo or the person's own address",
  async (pages, database) => {
    const { browser } = await onboarded(pages, database);
    pages.provider.user("taken@example.com");
    const taken = await ask(pages, browser, "taken@example.com");
    const free = await ask(pages, browser, NEW);
    const neutral = ({ text }: { text: string }) =>
      text.replaceAll("taken@example.com", NEW).replaceAll(/nonce="[^"]+"|name="browser_token" value="[^"]+"/g, "");
    assertEquals(neutral(taken), neutral(free));
    assertNotMatch(taken.text, /[Ww]e (sent|emailed)/);
    for (const wrong of ["nobody", "mira@example.com", "Mira@Example.com"]) {
      const refused = await ask(pages, browser, wrong);
      assertEquals([wrong, refused.status], [wrong, 400]);
    }
  },
);

accountTest("nobody else can request a change, and a forged link names no addresses", async (pages, database) => {
  const { browser } = await onboarded(pages, database);
  const stranger = pages.browser();
  assertEquals((await stranger.post("/account/email", { email: NEW })).status, 303);
  const page = await (await browser.get("/account/email")).text();
  const token = /name="form_token" value="([^"]+)"/.exec(page)![1]!;
  const { browser: other } = await signIn(pages, "eve@example.com");
  assertEquals((await other.post("/account/email", { form_token: token, email: NEW })).status, 403);
  assertEquals(pages.provider.changes, []);

  const forged = await (await stranger.get(
    "/account/email/confirm?for=eyJ0byI6ImV2ZUBleGFtcGxlLmNvbSJ9.x&token_hash=abc&type=email_change",
  )).text();
  assertNotMatch(forged, /eve@example\.com/);
  assertEquals((await stranger.get("/account/email/confirm")).status, 400);
});

accountTest("a person gets at most five such mails an hour, for any address", async (pages, database) => {
  const { browser } = await onboarded(pages, database);
  const statuses = [];
  for (let n = 0; n < 6; n++) statuses.push((await ask(pages, browser, `new${n}@example.com`)).status);
  assertEquals(statuses, [200, 200, 200, 200, 200, 429]);
});

accountTest("mails that others sent to an address do not block a change", async (pages, database) => {
  const { browser } = await onboarded(pages, database);
  const stranger = await onboarded(pages, database, "stranger@example.com");
  const page = await (await stranger.browser.get("/account")).text();
  for (let n = 0; n < 10; n++) {
    await stranger.browser.submit(page, 'value="reminders"', {
      reminder_email: n % 2 ? "a@example.com" : "mira@example.com",
    });
  }
  assertEquals(pages.mails.filter(({ to }) => to === "mira@example.com").length, 5);
  assertEquals((await ask(pages, browser, NEW)).status, 200);
});

accountTest("signing out everywhere else keeps this browser and apps signed in", async (pages, database) => {
  const { browser } = await onboarded(pages, database);
  // Sign-in mails to one address must be half a minute apart.
  pages.clock.now = new Date(pages.clock.now.getTime() + 60_000);
  const { browser: lost } = await signIn(pages, "mira@example.com");
  const { browser: other } = await signIn(pages, "noor@example.com");
  const page = await (await browser.get("/account")).text();
  const response = await browser.submit(page, "sign_out_elsewhere");
  assertEquals(response.headers.get("location"), "/account?done=signed_out_elsewhere");
  assertEquals((await browser.get("/account")).status, 200);
  assertEquals((await lost.get("/account")).headers.get("location"), "/login?next=%2Faccount");
  // Noor has an account but has not completed onboarding.
  assertEquals((await other.get("/account")).headers.get("location"), "/onboarding?next=%2Faccount");
});
