/** Signs in as a person would: the login page, the mail, its link, the button, and onboarding for a new person. */
import { findForm, FormBrowser, type Page } from "./form_browser.ts";
import type { RunningStack } from "./running_stack.ts";

type StackAddress = Pick<RunningStack, "site_url" | "mail_url">;

export interface SignInOptions {
  /** The final path; the login page's default when absent. */
  next?: string;
  /** Fields of the onboarding page to override. */
  onboarding?: Record<string, string>;
}

/** @returns the final page, and the browser with its session. */
export async function signIn(
  stack: StackAddress,
  email: string,
  options: SignInOptions = {},
): Promise<{ browser: FormBrowser; page: Page }> {
  const browser = new FormBrowser(stack.site_url);
  const login = await browser.open(`/login${options.next ? `?next=${encodeURIComponent(options.next)}` : ""}`);
  return { browser, page: await signInFrom(stack, { browser, page: login, email, options }) };
}

/** The same, from a login page that a browser has already opened. */
export async function signInFrom(
  stack: StackAddress,
  { browser, page, email, options = {} }: { browser: FormBrowser; page: Page; email: string; options?: SignInOptions },
): Promise<Page> {
  await browser.submit(page, findForm(page, ({ fields }) => "email" in fields), { fill: { email } });
  const confirm = await browser.open(await newestLink(stack, email));
  const signedIn = await browser.submit(confirm, findForm(confirm));
  if (signedIn.url.pathname !== "/onboarding") return signedIn;
  const onboarding = findForm(signedIn, ({ fields }) => "country" in fields);
  return await browser.submit(signedIn, onboarding, { fill: { country: "DE", ...options.onboarding } });
}

/** The link in the newest mail to an address. */
export async function newestLink(stack: StackAddress, email: string): Promise<string> {
  if (!stack.mail_url) throw new Error("A stack with a public address has no mailbox to read");
  const response = await fetch(`${stack.mail_url}?to=${encodeURIComponent(email)}`);
  const [mail]: { html: string }[] = await response.json();
  const link = mail && /href="([^"]+)"/.exec(mail.html)?.[1];
  if (!link) throw new Error(`There is no mail with a link to ${email}`);
  return link.replaceAll("&amp;", "&");
}
