/**
 * All absolute URLs that the service publishes, built only from configuration, because `Host` and `X-Forwarded-*` can
 * be forged.
 */
import { calendarFile } from "./calendar/token.ts";
import type { Config } from "./config.ts";

/** One of the connector's two URLs: behind the front door, or the function's own. */
export interface ConnectorAddress {
  /** The resource identifier of this URL (RFC 9728 §2). */
  resource: string;
  /** URL of its protected-resource document (RFC 9728 §5.1). */
  metadata: string;
}

export interface Urls {
  /** Issuer identifier of the authorization server (RFC 8414 §2). */
  issuer: string;
  /** The canonical resource. Tokens are bound to it, whichever URL a client was given. */
  resource: string;
  front: ConnectorAddress;
  direct: ConnectorAddress;
  authorize: string;
  token: string;
  register: string;
  revoke: string;
  jwks: string;
  account: string;
  /** The page where a person decides whether an app may write. */
  appAccess(grantId: string): string;
  /** The page that connects a bill to its provider; `?bill=` selects it. */
  connectProvider: string;
  /** The download of a file of expenses; `?t=` identifies the person and the query. */
  expenseFile: string;
  /** The page that accepts an import's file, without showing it to the model. */
  importUpload(importId: string): string;
  /** The page where a signed-in person opens a document. */
  document(documentId: string): string;
  /** The URL that a calendar app reads; its token is the only credential. */
  calendar(token: string): string;
  unsubscribe: string;
  proposal(proposalId: string): string;
  books(organizationId: string): string;
  /** The page that deletes an organization or cancels the deletion. */
  deleteOrganization(organizationId: string): string;
  members(organizationId: string): string;
  /** The page of an organization's incoming mail. */
  inboundMail(organizationId: string): string;
  exports(organizationId: string): string;
  /**
   * The page that changes an organization's plan or names a person who can; without an organization, the list of plans.
   */
  plans(organizationId?: string): string;
  /**
   * The checkout's URL; undefined without configuration. The payment page copies the organization into the
   * subscription's notes, which identify the organization of the first payment.
   */
  checkout(organizationId: string, plan: "pro" | "team"): string | undefined;
  invoices(organizationId: string): string | undefined;
  cancelPlan(organizationId: string): string | undefined;
}

const address = (resource: string): ConnectorAddress => ({
  resource,
  metadata: `${resource}/.well-known/oauth-protected-resource`,
});

/** The pages of one organization. */
export const organizationPath = (
  organizationId: string,
  page: "members" | "approvals" | "export" | "plan" | "delete" | "mail",
): string => `/organizations/${organizationId}/${page}`;

/** The accounts of the DATEV export. */
export const datevPath = (organizationId: string): string => `${organizationPath(organizationId, "export")}/datev`;

/** The changes in an organization, with their authors and apps. */
export const activityPath = (organizationId: string): string => `/account/activity?organization=${organizationId}`;
/** An organization's books at a glance; the reader's first organization if undefined. */
export const booksPath = (organizationId?: string): string =>
  organizationId ? `/books?organization=${encodeURIComponent(organizationId)}` : "/books";

/** The page that accepts a statement, or documents. */
export const importPath = (importId: string): string => `/account/import/${importId}`;

/** The page of a document for people who may see it. */
export const documentPath = (documentId: string): string => `/account/documents/${documentId}`;

/** The page that sets the access of one connected app. */
export const appAccessPath = (grantId: string): string => `/account/access?grant=${grantId}`;

/** The page of one proposal; mails to possible approvers link to it. */
export const proposalPath = (proposalId: string): string => `/account/approvals/${proposalId}`;

/** A configured URL template, filled with our own values. */
const filled = (template: string, values: Record<string, string>): string =>
  template.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(values[name] ?? ""));

type UrlConfig =
  & Pick<Config, "siteUrl" | "supabaseUrl">
  & Partial<Pick<Config, "pricingUrl" | "checkoutUrl" | "invoicesUrl" | "cancelUrl">>;

export function createUrls(config: UrlConfig): Urls {
  const site = config.siteUrl;
  return {
    issuer: site,
    resource: `${site}/api/mcp`,
    front: address(`${site}/api/mcp`),
    direct: address(`${config.supabaseUrl}/functions/v1/mcp`),
    authorize: `${site}/api/oauth/authorize`,
    token: `${site}/api/oauth/token`,
    register: `${site}/api/oauth/register`,
    revoke: `${site}/api/oauth/revoke`,
    jwks: `${site}/api/oauth/jwks`,
    account: `${site}/account`,
    appAccess: (grantId) => site + appAccessPath(grantId),
    connectProvider: `${site}/account/providers/connect`,
    expenseFile: `${site}/account/expenses.csv`,
    importUpload: (importId) => site + importPath(importId),
    document: (documentId) => site + documentPath(documentId),
    calendar: (token) => `${site}/calendar/${calendarFile(token)}`,
    unsubscribe: `${site}/email/unsubscribe`,
    proposal: (proposalId) => site + proposalPath(proposalId),
    books: (organizationId) => site + booksPath(organizationId),
    members: (organizationId) => `${site}${organizationPath(organizationId, "members")}`,
    inboundMail: (organizationId) => `${site}${organizationPath(organizationId, "mail")}`,
    exports: (organizationId) => `${site}${organizationPath(organizationId, "export")}`,
    deleteOrganization: (organizationId) => `${site}${organizationPath(organizationId, "delete")}`,
    plans: (organizationId) =>
      organizationId ? `${site}${organizationPath(organizationId, "plan")}` : config.pricingUrl ?? `${site}/account`,
    checkout: (organizationId, plan) => {
      if (config.checkoutUrl) return filled(config.checkoutUrl, { organization_id: organizationId, plan });
      if (!config.pricingUrl) return undefined;
      const url = new URL(config.pricingUrl);
      url.searchParams.set("organization_id", organizationId);
      return url.href;
    },
    invoices: (organizationId) => config.invoicesUrl && filled(config.invoicesUrl, { organization_id: organizationId }),
    cancelPlan: (organizationId) => config.cancelUrl && filled(config.cancelUrl, { organization_id: organizationId }),
  };
}
