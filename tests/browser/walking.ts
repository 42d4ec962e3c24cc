/**
 * Journeys through a running embedded stack in Chromium, with scripts off: each file with a journey starts its own
 * stack.
 */
import type { Browser, BrowserContext, Page } from "playwright-core";
import { decide } from "../../local/demo/consent.ts";
import { newestLink } from "../../local/sign_in.ts";
import { CHECKOUT_URL, startStack, type TestStack } from "../_support/stack.ts";
import { connectFor, personOf } from "../e2e/person.ts";
import { launchChromium } from "./chromium.ts";

let browser: Browser;
export let stack: TestStack;

Deno.test.beforeAll(async () => {
  browser = await launchChromium();
  stack = await startStack({ args: ["--no-schedules"], env: { CHECKOUT_URL } });
});
Deno.test.afterAll(async () => {
  await browser.close();
  await stack?.stop();
});

/** @param walk receives one person's page, and opens another person's page with `visitor` */
export function journey(
  name: string,
  walk: (page: Page, context: BrowserContext, visitor: () => Promise<Page>) => Promise<void>,
): void {
  Deno.test({
    name,
    // Chromium's pipes open before the first test and close after the last.
    sanitizeOps: false,
    sanitizeResources: false,
    async fn() {
      const contexts: BrowserContext[] = [];
      const open = async () => {
        const context = await browser.newContext({
          baseURL: stack.site_url,
          javaScriptEnabled: false,
          locale: "fr-FR",
        });
        contexts.push(context);
        return context;
      };
      try {
        const context = await open();
        await walk(await context.newPage(), context, async () => await (await open()).newPage());
      } finally {
        await Promise.all(contexts.map((context) => context.close()));
      }
    },
  });
}

/** A context with scripts on. */
export const scripted = (options: { width: number; height: number }): Promise<BrowserContext> =>
  browser.newContext({ baseURL: stack.site_url, viewport: options });

/** A click returns while the next page is still being parsed, so half of its options could be missing. */
const clickThrough = async (page: Page, role: "button" | "link", name: string) => {
  await page.getByRole(role, { name, exact: true }).click();
  await page.waitForLoadState("domcontentloaded");
};
export const press = (page: Page, name: string): Promise<void> => clickThrough(page, "button", name);
export const follow = (page: Page, name: string): Promise<void> => clickThrough(page, "link", name);
/** Uses the link of the embedded stack, on the current login page. */
export async function signInAsDemo(page: Page): Promise<void> {
  await follow(page, "Sign in as demo@example.com");
  await press(page, "Sign in");
}
export const heading = (page: Page): Promise<string | null> => page.getByRole("heading", { level: 1 }).textContent();
export const said = (page: Page): Promise<string> => page.getByRole("status").first().innerText();

/** The newest mail to an address, as text if it has one. */
export async function newestMail(to: string): Promise<string> {
  const [mail] = await (await fetch(`${stack.mail_url}?to=${encodeURIComponent(to)}`)).json();
  return mail.text || mail.html;
}

export async function signIn(page: Page, email: string): Promise<void> {
  await page.goto("/login");
  await page.getByLabel("Email address").fill(email);
  await press(page, "Email me a link");
  await page.goto(await newestLink(stack, email));
  await press(page, "Sign in");
}

/** Signs somebody in for the first time and ends on their account page. */
export async function begin(page: Page, email: string, organization: string): Promise<void> {
  await signIn(page, email);
  await page.getByLabel("Name of your organization").fill(organization);
  await press(page, "Start");
}

/**
 * A second person accepts the invitation of the person on `page`, and connects their assistant to that organization.
 */
export async function join(
  page: Page,
  other: Page,
  { organizationId, email }: { organizationId: string; email: string },
): ReturnType<typeof connectFor> {
  await page.goto(`/organizations/${organizationId}/members`);
  await page.getByLabel("Their email address").fill(email);
  await press(page, "Send invitation");
  await other.goto(/https?:\/\/\S+\/invitation\S+/.exec(await newestMail(email))![0]);
  await press(other, "Accept");
  return await connectFor({
    ...personOf(stack, email),
    decide: (authorizationUrl) => decide(stack, { authorizationUrl, person: { email, organizationId } }),
  }, stack.mcp_url);
}

/** Opens a mail's link without a session, signs in by another mail and returns to the link. */
export async function openSignedOut(page: Page, link: string, email: string): Promise<void> {
  await page.goto(link);
  await page.getByLabel("Email address").fill(email);
  await press(page, "Email me a link");
  await page.goto(await newestLink(stack, email));
  await press(page, "Sign in");
}
