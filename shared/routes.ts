/**
 * The only route table. It maps public paths to functions, and the functions themselves, the front door and the
 * embedded stack use it. Functions see public paths. When a function is called at its own address
 * (`/functions/v1/<slug>/…`, or `/<slug>/…` behind the platform's gateway, which strips the prefix), the slug is
 * removed first, so `/functions/v1/oauth/token`, `/oauth/api/oauth/token` and `/api/oauth/token` are one route.
 */

/**
 * Carries a page's content security policy through the hosted gateway, which replaces the standard header with a
 * sandbox. The header's presence shows the front door that a response is a page.
 */
export const PAGE_POLICY_HEADER = "x-page-policy";

/** Authenticates the front door's client-IP header with `FRONT_DOOR_SECRET`. */
export const FRONT_DOOR_HEADER = "x-front-door-secret";

/**
 * Set only by the embedded stack's front door, on requests that no proxy seems to have forwarded. Pages may then link
 * to the mailbox.
 */
export const DIRECT_HEADER = "x-direct";

/** Identifies a request in every log line that it causes. */
export const REQUEST_ID_HEADER = "x-request-id";

/**
 * All methods that any route serves. The front door rejects others itself: `fetch` cannot send TRACE and CONNECT, and
 * turns `get` into GET, though methods are case-sensitive (RFC 9110 §9.1).
 */
export const METHODS: readonly string[] = ["GET", "HEAD", "POST", "DELETE", "OPTIONS"];

export const SLUGS = [
  "mcp",
  "oauth",
  "payment-webhook",
  "auth-callback",
  "cron-reminders",
  "cron-provider-sync",
  "inbound-mail",
] as const;
export type Slug = (typeof SLUGS)[number];

export interface Route {
  /** Public path; one that ends in a slash also covers every path below it. */
  readonly path: string;
  readonly slug: Slug;
  /** Pages must reach browsers as text/html; the hosted gateway rewrites the type and the front door restores it. */
  readonly page?: true;
  /** The rest of the path is a secret. Neither our own logs nor the log of a printed front door contain it. */
  readonly secret?: true;
  /** The function's own path for the route, if different. */
  readonly target?: string;
  /** The largest body that a printed front door forwards, in MB; `LARGEST_BODY_MB` if absent. */
  readonly bodyMb?: number;
}

/** Several times more than any route reads, except those with their own limit. */
export const LARGEST_BODY_MB = 2;

const discovery = (name: string): string[] => [
  `/.well-known/${name}`,
  `/.well-known/${name}/api/mcp`,
  `/.well-known/${name}/api/oauth`,
  `/api/mcp/.well-known/${name}`,
  `/api/oauth/.well-known/${name}`,
];

const PROTECTED_RESOURCE = "/api/mcp/.well-known/oauth-protected-resource";

/** Most specific first. */
export const ROUTES: readonly Route[] = [
  { path: PROTECTED_RESOURCE, slug: "mcp" },
  { path: "/.well-known/oauth-protected-resource", slug: "mcp", target: PROTECTED_RESOURCE },
  { path: "/.well-known/oauth-protected-resource/api/mcp", slug: "mcp", target: PROTECTED_RESOURCE },
  ...discovery("oauth-authorization-server").map((path) => ({ path, slug: "oauth" as const })),
  ...discovery("openid-configuration").map((path) => ({ path, slug: "oauth" as const })),
  { path: "/api/mcp", slug: "mcp" },
  { path: "/api/oauth/authorize", slug: "oauth", page: true },
  { path: "/api/oauth/token", slug: "oauth" },
  { path: "/api/oauth/register", slug: "oauth" },
  { path: "/api/oauth/revoke", slug: "oauth" },
  { path: "/api/oauth/jwks", slug: "oauth" },
  { path: "/api/health", slug: "oauth" },
  { path: "/api/health/jobs", slug: "cron-reminders" },
  { path: "/api/health/mail", slug: "cron-reminders" },
  { path: "/api/payment/webhook", slug: "payment-webhook" },
  // A mail of 10 MiB, raw and with its attachments in base64.
  { path: "/api/mail/inbound", slug: "inbound-mail", bodyMb: 27 },
  { path: "/api/cron/reminders", slug: "cron-reminders" },
  { path: "/api/cron/provider-sync", slug: "cron-provider-sync" },
  { path: "/auth/callback", slug: "auth-callback", page: true },
  { path: "/login", slug: "auth-callback", page: true },
  { path: "/privacy", slug: "auth-callback", page: true },
  { path: "/terms", slug: "auth-callback", page: true },
  { path: "/review", slug: "auth-callback", page: true },
  { path: "/logout", slug: "auth-callback", page: true },
  { path: "/onboarding", slug: "auth-callback", page: true },
  { path: "/account", slug: "auth-callback", page: true },
  // For files of 25 MiB and the form around them.
  { path: "/account/import/", slug: "auth-callback", page: true, bodyMb: 27 },
  { path: "/account/", slug: "auth-callback", page: true },
  { path: "/books", slug: "auth-callback", page: true },
  { path: "/invitation", slug: "auth-callback", page: true },
  { path: "/organizations/", slug: "auth-callback", page: true },
  { path: "/email/unsubscribe", slug: "auth-callback", page: true },
  { path: "/calendar/", slug: "auth-callback", secret: true },
  { path: "/favicon.ico", slug: "auth-callback" },
  { path: "/icons/", slug: "auth-callback" },
  { path: "/.well-known/openai-apps-challenge", slug: "auth-callback" },
  { path: "/", slug: "auth-callback", page: true },
];

/** The front door's request for unknown paths. No handler serves it, so the "not found" page appears. */
export const NOT_FOUND: Route = { path: "/not-found/", slug: "auth-callback", page: true, target: "/not-found/" };

/** The route of a public path, or undefined when there is none. */
export function findRoute(pathname: string): Route | undefined {
  const wanted = withoutTrailingSlash(pathname);
  return ROUTES.find(({ path }) =>
    path === wanted || (path.length > 1 && path.endsWith("/") && wanted.startsWith(path))
  );
}

/** Whether a path contains a secret. */
export const hasSecretPath = (pathname: string): boolean => findRoute(pathname)?.secret === true;

/** A path in the form that the log may contain. */
export function loggedPath(pathname: string): string {
  const route = findRoute(pathname);
  return route?.secret ? `${route.path}[redacted]` : pathname;
}

// People and clients add a trailing slash, which means the same path.
const withoutTrailingSlash = (path: string) => path.replace(/(?<=[^/])\/$/, "");

/** The path below `/functions/v1` that the front door requests for a route. */
export function functionPath(route: Route, pathname: string): string {
  return `/${route.slug}${route.target ?? withoutTrailingSlash(pathname)}`;
}

/**
 * The route of the bare function URL (`/functions/v1/<slug>`). `mcp` keeps `/`, because its own URL is a separate
 * resource.
 */
const ROOT: Record<Slug, string> = {
  "mcp": "/",
  "oauth": "/.well-known/oauth-authorization-server",
  "payment-webhook": "/api/payment/webhook",
  "auth-callback": "/auth/callback",
  "cron-reminders": "/api/cron/reminders",
  "cron-provider-sync": "/api/cron/provider-sync",
  "inbound-mail": "/api/mail/inbound",
};

/** Public base of a function's relative paths. */
const BASE: Partial<Record<Slug, string>> = { "oauth": "/api/oauth" };

/**
 * The path that a function's app routes by; pass it to Hono as `getPath`.
 * @param url absolute URL of the request as the function received it.
 */
export function localPath(slug: Slug, url: string): string {
  const { pathname } = new URL(url);
  const own = pathname.replace(/^\/functions\/v1(?=\/)/, "");
  if (own === `/${slug}`) return ROOT[slug];
  const path = withoutTrailingSlash(own.startsWith(`/${slug}/`) ? own.slice(slug.length + 1) : own);
  const base = BASE[slug];
  const isOwnPath = findRoute(path)?.slug === slug;
  return base && !isOwnPath && findRoute(base + path)?.slug === slug ? base + path : path;
}
