/**
 * Well-known apps and the URLs that their makers publish for them. A client is verified only if its redirect URI is
 * listed here, character for character, so that codes reach only that maker. A maker's other URLs don't count, because
 * many show user content or redirect to a URL in a parameter.
 */
import type { Config } from "../config.ts";

export interface KnownApp {
  /** Its familiar name. */
  app: string;
  maker: string;
  /** Words in the names of the maker's apps, each without spaces. */
  names: readonly string[];
  /**
   * The maker's domains; only the callbacks listed here are redirect URIs on them. `google.*` is google in every
   * country.
   */
  domains: readonly string[];
  /** Its exact redirect URIs; `*` is one path segment. */
  callbacks: readonly string[];
  /** Redirect URIs that forward to the URL in `state`, so they don't belong to the maker alone. */
  forwarders?: readonly string[];
  /** The URLs of its client metadata: exact URLs, and patterns. */
  documents?: readonly string[];
  schemes?: readonly string[];
}

const MICROSOFT = {
  maker: "Microsoft",
  names: ["visualstudio", "vscode", "copilot", "microsoft", "github"],
  domains: ["vscode.dev", "microsoft.com", "github.com", "visualstudio.com", "live.com", "office.com", "bing.com"],
};
const GOOGLE = {
  maker: "Google",
  names: ["gemini", "google", "antigravity"],
  domains: ["google.*", "antigravity.google", "youtube.com"],
};

const KNOWN_APPS: readonly KnownApp[] = [
  {
    app: "Claude",
    maker: "Anthropic",
    names: ["claude", "anthropic"],
    domains: ["claude.ai", "claude.com", "anthropic.com", "claude.site", "claudeusercontent.com"],
    callbacks: ["https://claude.ai/api/mcp/auth_callback", "https://claude.com/api/mcp/auth_callback"],
    documents: [
      "https://claude.ai/oauth/mcp-oauth-client-metadata",
      "https://claude.ai/oauth/claude-code-client-metadata",
      "https://claude.ai/oauth/*",
    ],
  },
  {
    app: "ChatGPT",
    maker: "OpenAI",
    names: ["chatgpt", "openai", "codex"],
    domains: ["chatgpt.com", "openai.com"],
    callbacks: [
      "https://chatgpt.com/connector_platform_oauth_redirect",
      "https://chatgpt.com/connector/oauth/*",
      // The callback of an app's review before it is listed.
      "https://platform.openai.com/apps-manage/oauth",
    ],
    documents: [
      "https://chatgpt.com/oauth/client.json",
      "https://chatgpt.com/oauth/codex/client.json",
      "https://chatgpt.com/oauth/*/client.json",
    ],
  },
  {
    app: "Cursor",
    maker: "Anysphere",
    names: ["cursor"],
    domains: ["cursor.com", "cursor.sh"],
    callbacks: ["https://www.cursor.com/agents/mcp/oauth/callback", "https://cursor.com/agents/mcp/oauth/callback"],
    schemes: ["cursor"],
  },
  {
    ...MICROSOFT,
    app: "Visual Studio Code",
    callbacks: [],
    forwarders: ["https://vscode.dev/redirect", "https://insiders.vscode.dev/redirect"],
    documents: ["https://vscode.dev/oauth/client-metadata.json"],
    schemes: ["vscode", "vscode-insiders"],
  },
  {
    ...MICROSOFT,
    app: "Microsoft 365 Copilot",
    callbacks: ["https://teams.microsoft.com/api/platform/v1.0/oAuthRedirect"],
  },
  {
    ...GOOGLE,
    app: "Gemini Enterprise",
    callbacks: ["https://vertexaisearch.cloud.google.com/oauth-redirect"],
  },
  { ...GOOGLE, app: "Antigravity", callbacks: ["https://antigravity.google/oauth-callback"] },
  {
    app: "Perplexity",
    maker: "Perplexity",
    names: ["perplexity"],
    domains: ["perplexity.ai", "perplexity.com"],
    callbacks: [
      "https://www.perplexity.ai/rest/connections/oauth_callback",
      "https://enterprise.perplexity.ai/rest/connections/oauth_callback",
    ],
  },
  {
    app: "Le Chat",
    maker: "Mistral AI",
    names: ["mistral", "lechat"],
    domains: ["mistral.ai"],
    callbacks: ["https://callback.mistral.ai/v1/integrations_auth/oauth2_callback"],
  },
  {
    app: "Grok",
    maker: "xAI",
    names: ["grok"],
    domains: ["grok.com", "x.ai"],
    callbacks: [
      "https://grok.com/connectors-oauth-exchange-code",
      "https://grok.com/connectors-oauth-exchange-code/",
      "https://console.x.ai/connectors-oauth-exchange-code/",
    ],
    documents: ["https://grok.com/oauth/mcp-client.json"],
  },
];

let apps = KNOWN_APPS;

/**
 * Adds an operator's redirect URIs to the known ones, by app. The hosts of an unknown app's URIs become its domains.
 * Source: docs/operations.md, `KNOWN_APPS`.
 */
export function knowCallbacks(callbacks: Config["knownApps"]): void {
  apps = callbacks.reduce((known, [app, uri]) => {
    const old = known.find((one) => one.app === app) ??
      { app, maker: app, names: [written(app)], domains: [], callbacks: [] };
    const { hostname } = new URL(uri);
    const domains = old.domains.some((domain) => isWithin(hostname, domain)) ? old.domains : [...old.domains, hostname];
    return [...known.filter((one) => one !== old), { ...old, domains, callbacks: [...old.callbacks, uri] }];
  }, KNOWN_APPS);
}

const written = (app: string) => app.toLowerCase().replaceAll(" ", "");

/** The app whose vendor alone receives codes at this redirect URI. */
export const appOfCallback = (uri: string): KnownApp | undefined =>
  apps.find(({ callbacks }) => isListed(uri, callbacks));

/** The app whose maker published this redirect URI, although it forwards to a place that the request chooses. */
export const appOfForwarder = (uri: string): KnownApp | undefined =>
  apps.find(({ forwarders }) => isListed(uri, forwarders));

/** The app whose maker publishes its metadata at this URL. */
export const appOfDocument = (url: string): KnownApp | undefined =>
  apps.find(({ documents }) => isListed(url, documents));

/**
 * Whether this exact document is well known. Patterns don't count, because anybody who can create matching URLs could
 * use up the fetch quota.
 */
export const isPublishedDocument = (url: string): boolean =>
  apps.some(({ documents }) => documents?.includes(url) && !url.includes("*"));

/** The app that opens links of this scheme. */
export const appOfScheme = (scheme: string): KnownApp | undefined =>
  apps.find(({ schemes }) => schemes?.includes(scheme));

/** Apps that a name resembles. @param says whether the name contains a word. */
export const appsCalled = (says: (word: string) => boolean): readonly KnownApp[] =>
  apps.filter(({ names }) => names.some(says));

/** Whether a host belongs to a maker; without a port. */
export const isMakersHost = (host: string): boolean =>
  apps.some(({ domains }) => domains.some((domain) => isWithin(host, domain)));

/** Whether a maker publishes the redirect URI for one of its apps. */
export const isPublished = (uri: string): boolean => Boolean(appOfCallback(uri) ?? appOfForwarder(uri));

function isWithin(host: string, domain: string): boolean {
  if (!domain.endsWith(".*")) return host === domain || host.endsWith(`.${domain}`);
  return new RegExp(`(^|\\.)${domain.slice(0, -2)}\\.(com?\\.)?[a-z]{2,3}$`).test(host);
}

function isListed(url: string, patterns: readonly string[] = []): boolean {
  return patterns.some((pattern) => {
    const [before, after] = pattern.split("*");
    if (after === undefined) return url === pattern;
    return url.startsWith(before!) && url.endsWith(after) &&
      /^[\w-]+$/.test(url.slice(before!.length, url.length - after.length));
  });
}
