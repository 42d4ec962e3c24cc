/** Acts as the person at the authorization page: signs in, chooses an organization, clicks a button. */
import { findForm, FormBrowser } from "../form_browser.ts";
import type { RunningStack } from "../running_stack.ts";
import { signInFrom } from "../sign_in.ts";

export interface Person {
  email: string;
  /** The page's default if absent. */
  organizationId?: string;
}

/**
 * Goes through the pages of an authorization request.
 * @returns the client's redirect URI with the response in its query, without loading it.
 */
export async function decide(
  stack: Pick<RunningStack, "site_url" | "mail_url">,
  { authorizationUrl, person, press = "approve", browser = new FormBrowser(stack.site_url) }: {
    authorizationUrl: string | URL;
    person: Person;
    press?: "approve" | "deny";
    /** The browser is signed in afterwards. */
    browser?: FormBrowser;
  },
): Promise<URL> {
  let page = await browser.open(authorizationUrl);
  if (page.url.pathname === "/login") page = await signInFrom(stack, { browser, page, email: person.email });
  const consent = findForm(page, ({ buttons }) => buttons.some(({ name }) => name === "action"));
  const fill = person.organizationId ? { organization_id: person.organizationId } : undefined;
  const answered = await browser.submit(page, consent, { fill, press });
  if (answered.url.origin === stack.site_url) {
    throw new Error(`Consent ended at ${answered.url.pathname} with ${answered.status} instead of the client`);
  }
  return answered.url;
}
