/** The consent page: apps that are known, doubted and hostile, and the organizations to choose from. */
import { createOAuthApp } from "../../../functions/oauth/app.ts";
import type { ConsentOrganization } from "../../../shared/db/oauth_store.ts";
import { createLog } from "../../../shared/log.ts";
import { answering, NOW, signIn } from "../../functions/auth-callback/harness.ts";
import { EMAIL, HOSTILE, LONG, page, RIGHT_TO_LEFT, type State, UNBROKEN } from "./state.ts";
import { home } from "./accounts.ts";

interface ConsentState {
  clientId?: string;
  clientName?: string;
  redirectUri?: string;
  organizations?: Partial<ConsentOrganization>[];
  hasPlans?: boolean;
  narrowed?: boolean;
  /** Further parameters of the request. */
  more?: Record<string, string>;
}

const ORGANIZATION: ConsentOrganization = {
  trial_ended_at: null,
  organization_id: home.id,
  name: "Home",
  role: "owner",
  plan: "team",
  has_connector: true,
  may_decide: true,
};

function consent(
  name: string,
  {
    clientId = "client_a",
    clientName = "Claude",
    redirectUri = "https://claude.ai/api/mcp/auth_callback",
    organizations = [{}],
    more = {},
    hasPlans = true,
    narrowed = false,
  }: ConsentState,
): State {
  return page(`consent-${name}`, async ({ pages, languages }) => {
    const { browser } = await signIn(pages, EMAIL);
    const opened = {
      client: { client_id: clientId, client_name: clientName, redirect_uris: [redirectUri] },
      approved: [],
      narrowed,
      onboarded: true,
      plans_enabled: hasPlans,
      organizations: organizations.map((organization, n) => ({
        ...ORGANIZATION,
        organization_id: `org_${n}`,
        ...organization,
      })),
    };
    const app = createOAuthApp({
      config: pages.config,
      database: answering({
        open_consent: opened,
        open_document_consent: { ...opened, document: "fresh", retry_after: 0, serves_stale: false },
      }),
      clock: () => NOW,
      log: createLog(() => {}),
      fetch: pages.provider.fetch,
      guardedFetch: () => Promise.reject(new Error("unexpected fetch")),
    }, languages);
    const query = new URLSearchParams({
      response_type: "code",
      client_id: clientId,
      redirect_uri: redirectUri,
      code_challenge: "a".repeat(43),
      code_challenge_method: "S256",
      ...more,
    });
    const cookie = [...browser.cookies].map(([name, value]) => `${name}=${value}`).join("; ");
    return await app.request(`${pages.config.siteUrl}/api/oauth/authorize?${query}`, { headers: { cookie } });
  });
}

export const CONSENT_STATES: readonly State[] = [
  consent("one", {}),
  consent("verified", { clientId: "https://claude.ai/oauth/mcp-oauth-client-metadata" }),
  consent("doubted", {
    clientId: "https://claude-login.example/client.json",
    redirectUri: "http://127.0.0.1:33418/callback",
  }),
  consent("look-alike-letters", { clientName: "Ⲥlaude", redirectUri: "http://127.0.0.1:33418/callback" }),
  consent("forwarded", { clientName: "Visual Studio Code", redirectUri: "https://vscode.dev/redirect" }),
  consent("silent", { redirectUri: "http://127.0.0.1:33418/callback", more: { prompt: "none" } }),
  consent("many", {
    organizations: [{}, { name: "Workshop", plan: "pro", role: "member" }, {
      name: "Choir",
      plan: "free",
      has_connector: false,
    }],
  }),
  consent("read-only", { organizations: [{ role: "viewer" }, { name: "Choir", role: "viewer", plan: "pro" }] }),
  consent("narrowed", { narrowed: true, more: { scope: "expenses:rw" } }),
  consent("asked-to-read", { more: { scope: "expenses:read offline_access" } }),
  consent("without-plans", { organizations: [{}, { name: "Workshop", role: "viewer" }], hasPlans: false }),
  consent("trial-ended", {
    organizations: [{ plan: "free", has_connector: false, trial_ended_at: "2026-11-14T10:00:00Z" }],
  }),
  consent("none", { organizations: [{ plan: "free", has_connector: false }] }),
  consent("loopback", { clientName: "Claude Code (expenses)", redirectUri: "http://127.0.0.1:33418/callback" }),
  consent("app", { clientName: "Cursor", redirectUri: "cursor://anysphere.cursor-mcp/oauth/callback" }),
  consent("unasked", {
    redirectUri: `https://claude.ai.${"sub.".repeat(20)}evil.example/callback`,
    more: { prompt: "none" },
  }),
  consent("lookalike", { redirectUri: "https://claude.ai.evil.example/callback" }),
  consent("awkward", {
    clientName: HOSTILE,
    redirectUri: `https://${"sub.".repeat(30)}example.com/callback`,
    organizations: [LONG, RIGHT_TO_LEFT, HOSTILE, UNBROKEN].map((name) => ({ name })),
  }),
  consent("right-to-left", { clientName: RIGHT_TO_LEFT, organizations: [{ name: RIGHT_TO_LEFT }] }),
];
