/** A page under test, over a fake identity provider and a database that returns the data of a state. */
import type { OrganizationState } from "../../../shared/organization_state.ts";
import type { Config } from "../../../shared/config.ts";
import { PROVIDERS } from "../../../shared/providers/registry.ts";
import type { Languages } from "../../../shared/words/page_words.ts";
import { answering, type Browser, createPages, signIn } from "../../functions/auth-callback/harness.ts";

/** The state's request, sent to the app in the session of `browser`. */
export interface State {
  name: string;
  /** Renders the page; each call renders it again. @param languages the catalogs; a test may pass its own */
  show(siteUrl: string, languages?: Languages): Promise<Response>;
}

/** Names that people and apps choose. */
export const LONG =
  "The Extraordinarily Long-Winded Household of Anna-Maria von Württemberg-Hohenzollern and Sons, Purveyors of Fine Dirigibles";
export const UNBROKEN = "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft_".repeat(2)
  .slice(
    0,
    120,
  );
export const HOSTILE = `"><script>alert(1)</script><img src=x onerror=alert(1)> \u202Egpj.exe`;
export const RIGHT_TO_LEFT = "مصاريف عائلة الأندلسي (المنزل)";

const CURRENCIES = ["AED", "CHF", "EUR", "GBP", "INR", "JPY", "USD"];
export const EMAIL = "demo@example.com";

export const LONG_ADDRESS = `${"very.long.address.".repeat(3)}@${"subdomain.".repeat(12)}example.com`;

interface Visit {
  browser: Browser;
  /** The identity provider's mail page, and the pages' other dependencies. */
  pages: ReturnType<typeof createPages>;
  languages: Languages | undefined;
}

const CONFIG: Partial<Config> = {
  supportUrl: "https://expenses.example/support",
  privacyUrl: "https://expenses.example/privacy",
  termsUrl: "https://expenses.example/terms",
};

export function page(
  name: string,
  show: (visit: Visit) => Promise<Response>,
  { answers = {}, config = {} }: { answers?: Record<string, unknown>; config?: Partial<Config> } = {},
): State {
  return {
    name,
    async show(siteUrl, languages) {
      const database = answering({
        claim_attempt: { outcome: "allowed" },
        note_sign_in: { onboarded: false },
        read_onboarding: { onboarded: false, currencies: CURRENCIES },
        ...answers,
      });
      const pages = createPages(database, { ...CONFIG, ...config, siteUrl }, PROVIDERS, languages);
      return await show({ browser: pages.browser(), pages, languages });
    },
  };
}

export const signedIn = (name: string, path: string, options?: Parameters<typeof page>[2]): State =>
  page(
    name,
    async ({ pages }) => await (await signIn(pages, EMAIL)).browser.get(path, { "accept-language": "de-DE" }),
    options,
  );

/** The reader's organization, which accepts changes; other states differ from it. */
export const ORGANIZATION_STATE: OrganizationState = {
  name: "Home",
  deletes_at: null,
  owner: EMAIL,
  is_owner: true,
  takes_changes: true,
  writes: true,
  tabs: { exports: true, plans: true, organizations: [{ id: "org_home00000000", name: "Home" }] },
};
export const DELETING: OrganizationState = {
  ...ORGANIZATION_STATE,
  deletes_at: "2026-12-04T10:00:00Z",
  takes_changes: false,
};
