/**
 * Every example mail in headless Chromium: phone and desktop, light and dark. Checks width and contrast, and saves
 * pictures and text parts in the folder that MAIL_PICTURES names.
 */
import { assert, assertEquals } from "@std/assert";
import { composeDigest } from "../../shared/reminders/digest_mail.ts";
import { htmlPart } from "../../shared/mail/html_part.tsx";
import { renderMail } from "../../local/auth/mail_template.ts";
import { readAuthSettings } from "../../local/auth/settings.ts";
import { renderMailbox } from "../../local/mail/mailbox_page.tsx";
import { wordsOf } from "../../shared/words/words.ts";
import { EXAMPLES, LINKS } from "../shared/reminders/digests.ts";
import { launchChromium } from "./chromium.ts";

const PICTURES = Deno.env.get("MAIL_PICTURES");
const WIDTHS = { narrow: 320, phone: 390, desktop: 1280 };

interface ExampleMail {
  subject: string;
  html: string;
  text: string;
}

const VALUES = {
  SiteURL: "https://expenses.example.com",
  RedirectTo: "https://expenses.example.com/auth/callback?next=%2Faccount",
  TokenHash: "c0ffee".repeat(9),
  Token: "123456",
  Email: `${"very.long.address.".repeat(3)}@example.com`,
  NewEmail: "mira@new.example.com",
};

/** Every mail by name: digests, the identity provider's mails, and mails written as text. */
async function mails(): Promise<[name: string, mail: ExampleMail][]> {
  const words = wordsOf("en");
  const digests = Object.entries(EXAMPLES).map(async ([name, content]): Promise<[string, ExampleMail]> => [
    name,
    await composeDigest({ id: "1", content }, { words, locale: "en-US", links: LINKS, host: "expenses.example.com" }),
  ]);
  const templates = Object.entries((await readAuthSettings()).templates)
    .map(([name, template]): [string, ExampleMail] => [name, renderMail(template, VALUES)]);
  const written = Object.entries(writtenMails()).map(async ([name, mail]): Promise<[string, ExampleMail]> => [
    name,
    { ...mail, html: await htmlPart(mail) },
  ]);
  return await Promise.all([...digests, ...templates, ...written]);
}

function writtenMails(): Record<string, { subject: string; text: string }> {
  const { deletion, handover, invitation, proposal, reminderAddress, removal, testMail } = wordsOf("en").mails;
  const site = VALUES.SiteURL;
  const home = "“Home <b>”";
  const link = `${site}/account/approvals/prop_000000000001`;
  const about = { proposer: VALUES.Email, app: "“Claude”", act: "delete 12 expenses", organization: home };
  const effects = ["Lunch deleted: amount €14.50, date 19 November", "Train deleted: amount €31.00, date 20 November"];
  const asked = {
    ...about,
    effects,
    reasons: ["it deletes expenses", "it is over €200.00 in total (€231.50)"],
    expires: "27 November 2026, 10:00",
    link,
  };
  const said = proposal.said.approved({ by: "anna@example.com" });
  const going = { organization: home, owner: "anna@example.com", on: "4 December 2026", url: `${site}/account` };
  const invited = { inviter: VALUES.Email, organization: home, days: 7 };
  const removed = { organization: home, by: "anna@example.com" };
  return {
    invitation: {
      subject: invitation.subject(invited),
      text: invitation.text({
        ...invited,
        role: "member",
        address: "ben@example.com",
        link: `${site}/invitation?t=exp_inv_${"A".repeat(43)}`,
      }),
    },
    handover: {
      subject: handover.subject({ owner: VALUES.Email }),
      text: handover.text({ owner: VALUES.Email, organization: home, link: `${site}/account`, days: 7 }),
    },
    proposal: { subject: proposal.asked.subject(about), text: proposal.asked.text(asked) },
    proposal_reminded: { subject: proposal.reminded.subject(about), text: proposal.reminded.text(asked) },
    proposal_decided: {
      subject: proposal.subjects.approved(about),
      text: proposal.decided.text({ ...about, effects, link, said }),
    },
    proposal_settled: {
      subject: proposal.subjects.approved(about),
      text: proposal.settled.text({ ...about, effects, link, said }),
    },
    reminder_address: {
      subject: reminderAddress.subject,
      text: reminderAddress.text({ email: VALUES.Email, link: `${site}/email/confirm?t=abc.def`, days: 7 }),
    },
    removal: {
      subject: removal.subject(removed),
      text: removal.text({
        ...removed,
        link: `${site}/account`,
        balances: [removal.balance({ owes: true, who: "anna@example.com", amount: "€31.00" })],
        withdrawn: 1,
      }),
    },
    deletion_going: deletion.going(going),
    deletion_as_asked: deletion.goingAsAsked(going),
    deletion_stays: deletion.stays(going),
    test_mail: {
      subject: testMail.subject,
      text: testMail.text({ site, at: "2026-11-29T08:00:00Z", mark: "c0ffee" }),
    },
  };
}

const NO_SANITIZERS = { sanitizeOps: false, sanitizeResources: false };
const browser = await launchChromium();
Deno.test.afterAll(() => browser.close());

for (const [name, { subject, html, text }] of await mails()) {
  for (const colorScheme of ["light", "dark"] as const) {
    Deno.test(`the mail ${name} renders correctly: ${colorScheme}`, NO_SANITIZERS, async () => {
      if (PICTURES) await Deno.writeTextFile(`${PICTURES}/${name}.txt`, `${subject}\n\n${text}`);
      const page = await browser.newPage({ colorScheme });
      const requests: string[] = [];
      page.on("request", (request) => requests.push(request.url()));
      await page.setContent(html);
      for (const [device, width] of Object.entries(WIDTHS)) {
        await page.setViewportSize({ width, height: 400 });
        if (PICTURES) {
          await page.screenshot({ path: `${PICTURES}/${name}-${device}-${colorScheme}.png`, fullPage: true });
        }
        const measured = await page.evaluate(MEASURE) as { overflow: number; faint: string[] };
        assert(measured.overflow <= 0, `wider than ${width} px by ${measured.overflow} px`);
        assertEquals(measured.faint, [], "every text has a contrast of 4.5:1");
      }
      assertEquals(requests, [], "nothing is loaded");
      await page.close();
    });
  }
}

Deno.test(
  "the embedded stack's mailbox shows a mail on its intended background, in both themes",
  NO_SANITIZERS,
  async () => {
    const { html } = new Map(await mails()).get("magic_link")!;
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

/** Runs in the page: the background that fits the browser's own text color in the theme. */
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
