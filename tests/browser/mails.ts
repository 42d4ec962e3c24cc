/**
 * Every example mail in headless Chromium: phone and desktop, light and dark. Checks width and contrast, and saves
 * pictures in the folder that MAIL_PICTURES names.
 */
import { assert, assertEquals } from "@std/assert";
import { composeDigest } from "../../shared/reminders/digest_mail.ts";
import { htmlPart } from "../../shared/mail/html_part.tsx";
import { renderMail } from "../../local/auth/mail_template.ts";
import { renderMailbox } from "../../local/mail/mailbox_page.tsx";
import { wordsOf } from "../../shared/words/words.ts";
import { EXAMPLES, LINKS } from "../shared/reminders/digests.ts";
import { launchChromium } from "./chromium.ts";

const PICTURES = Deno.env.get("MAIL_PICTURES");
const WIDTHS = { phone: 320, desktop: 1100 };

const VALUES = {
  SiteURL: "https://expenses.example.com",
  RedirectTo: "https://expenses.example.com/auth/callback?next=%2Faccount",
  TokenHash: "c0ffee".repeat(9),
  Token: "123456",
  Email: `${"very.long.address.".repeat(3)}@example.com`,
};

/** Every mail by name: digests, and the identity provider's sign-in mails. */
async function mails(): Promise<[name: string, html: string][]> {
  const digests = Object.entries(EXAMPLES).map(async ([name, content]): Promise<[string, string]> => {
    const { html } = await composeDigest({ id: "1", content }, {
      words: wordsOf("en"),
      locale: "en-US",
      links: LINKS,
      host: "expenses.example.com",
    });
    return [name, html];
  });
  const templates = ["magic_link", "confirmation"].map(async (name): Promise<[string, string]> => {
    const html = await Deno.readTextFile(new URL(`../../supabase/templates/${name}.html`, import.meta.url));
    return [name, renderMail({ subject: "", html }, VALUES).html];
  });
  const { invitation, proposal } = wordsOf("en").mails;
  const link = "https://expenses.example.com/account/approvals/prop_000000000001";
  const about = { proposer: VALUES.Email, app: "“Claude”", act: "delete 12 expenses", organization: "“Home <b>”" };
  const texts = {
    invitation: invitation.text({
      inviter: VALUES.Email,
      organization: "“Home <b>”",
      role: "member",
      address: "ben@example.com",
      link: `https://expenses.example.com/invitation?t=exp_inv_${"A".repeat(43)}`,
      days: 7,
    }),
    proposal: proposal.asked.text({
      ...about,
      effects: ["Lunch: €14.50", "Train: €31.00"],
      reasons: ["it deletes"],
      expires: "27 November 2026",
      link,
    }),
  };
  const written = Object.entries(texts).map(async ([name, text]): Promise<[string, string]> => [
    name,
    await htmlPart({ subject: name, text }),
  ]);
  return await Promise.all([...digests, ...templates, ...written]);
}

const NO_SANITIZERS = { sanitizeOps: false, sanitizeResources: false };
const browser = await launchChromium();
Deno.test.afterAll(() => browser.close());

for (const [name, html] of await mails()) {
  for (const [device, width] of Object.entries(WIDTHS)) {
    for (const colorScheme of ["light", "dark"] as const) {
      Deno.test(`the mail ${name} looks right: ${device}, ${colorScheme}`, NO_SANITIZERS, async () => {
        const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
        const requests: string[] = [];
        page.on("request", (request) => requests.push(request.url()));
        await page.setContent(html);
        if (PICTURES) {
          await page.screenshot({ path: `${PICTURES}/${name}-${device}-${colorScheme}.png`, fullPage: true });
        }
        const measured = await page.evaluate(MEASURE) as { overflow: number; faint: string[] };
        assertEquals(requests, [], "nothing is loaded");
        assert(measured.overflow <= 0, `wider than the screen by ${measured.overflow} px`);
        assertEquals(measured.faint, [], "every text has a contrast of 4.5:1");
        await page.close();
      });
    }
  }
}

Deno.test(
  "the embedded stack's mailbox shows a mail on its intended background, in both themes",
  NO_SANITIZERS,
  async () => {
    const html = new Map(await mails()).get("magic_link")!;
    const mail = {
      id: "1",
      headers: {},
      from: "",
      to: "",
      subject: "Sign in",
      text: "",
      html,
      received_at: "2026-10-02T08:00:00Z",
    };
    const grounds = [];
    for (const colorScheme of ["light", "dark"] as const) {
      const page = await browser.newPage({ colorScheme });
      await page.setContent(
        await (await renderMailbox([mail], { siteUrl: "http://127.0.0.1:7400", path: "/secret/mail" })).text(),
      );
      const frame = page.frames().find((one) => one !== page.mainFrame())!;
      await frame.waitForSelector("h1");
      const ground = await page.evaluate(`getComputedStyle(document.querySelector("iframe")).backgroundColor`);
      assertEquals(ground, await frame.evaluate(CANVAS));
      grounds.push(ground);
      await page.close();
    }
    assert(grounds[0] !== grounds[1], `${grounds}`);
  },
);

/** Runs in the page: the background for the browser's own text color of the theme. */
const CANVAS = `(() => {
  document.body.insertAdjacentHTML("beforeend", '<i style="background:Canvas"></i>');
  const { backgroundColor } = getComputedStyle(document.body.lastChild);
  document.body.lastChild.remove();
  return backgroundColor;
})()`;

/** Runs in the page: its overflow, and texts that fail WCAG AA contrast. */
const MEASURE = `(() => {
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((v) => (v /= 255) <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const parse = (color) => color.match(/[\\d.]+/g).map(Number);
  const background = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const [r, g, b, a = 1] = parse(getComputedStyle(e).backgroundColor);
      if (a > 0) return [r, g, b];
    }
    // The browser's default background for its theme.
    document.body.insertAdjacentHTML("beforeend", '<i style="background:Canvas"></i>');
    const [r, g, b] = parse(getComputedStyle(document.body.lastChild).backgroundColor);
    document.body.lastChild.remove();
    return [r, g, b];
  };
  const faint = [];
  for (const element of document.querySelectorAll("h1,h2,p,td,th,a,span,bdi")) {
    if (![...element.childNodes].some((n) => n.nodeType === 3 && n.textContent.trim())) continue;
    const [a, b] = [luminance(parse(getComputedStyle(element).color).slice(0, 3)), luminance(background(element))].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) faint.push(element.textContent.trim().slice(0, 40));
  }
  return { overflow: document.documentElement.scrollWidth - innerWidth, faint };
})()`;
