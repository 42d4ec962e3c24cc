/**
 * Adds absolute URLs to results. The database does not know our addresses: it names the page, and this module builds
 * the URL from the configuration.
 */
import type { Envelope } from "../../shared/connector/result.ts";
import type { Download } from "../../shared/export/download_token.ts";
import { localInstant } from "../../shared/iso_day.ts";

export interface Addresses {
  /** The page that connects a bill to its provider. */
  connectUrl: string;
  /** The page that changes an organization's plan. */
  plansUrl: (organizationId?: string) => string;
  /** The page that invites and removes people. */
  membersUrl: (organizationId: string) => string;
  /** The page that exports the books, with a file for a tax adviser. */
  exportsUrl: (organizationId: string) => string;
  /** The page where a person decides whether an app may write. */
  accessUrl: (grantId: string) => string;
  /** The page where the owner of an organization can cancel its deletion. */
  deletionUrl: (organizationId: string) => string;
  /** The page of a proposal. */
  proposalUrl: (proposalId: string) => string;
  /** The page that accepts an import's file. */
  uploadUrl: (importId: string) => string;
  /** The page of a document. */
  documentUrl: (documentId: string) => string;
  /** The URL of a file of expenses and its expiry. */
  fileUrl: (download: Download) => Promise<{ csv_url: string; expires_at: string }>;
}

/**
 * Adds URLs to the results that refer to pages: `connect_url` for a bill without a provider, `csv_url` for a file too
 * long for an answer, `upload.url` for an import that needs its file, `url` for a document, `upgrade_url` for a
 * refusal because of the plan. Also the pages of pending proposals, members, plan and export.
 */
export async function withAddresses(
  envelope: Envelope,
  { connectUrl, plansUrl, membersUrl, exportsUrl, proposalUrl, uploadUrl, documentUrl, fileUrl }: Addresses,
): Promise<Envelope> {
  const { context, data, error } = envelope;
  if (error?.code === "feature_not_in_plan") {
    const upgradeUrl = plansUrl(context?.organization?.id);
    return { ...envelope, error: { ...error, details: { ...error.details, upgrade_url: upgradeUrl } } };
  }
  if (error?.details?.proposal_id) {
    const url = proposalUrl(error.details.proposal_id as string);
    return { ...envelope, error: { ...error, details: { ...error.details, url } } };
  }
  if (data?.file) {
    const { user_id: userId, filter } = data.file as { user_id: string; filter: Download["filter"] };
    const { csv_url, expires_at } = await fileUrl({ userId, organizationId: context!.organization!.id, filter });
    return { ...envelope, data: { csv_url, expires_at: localInstant(expires_at, context!.timezone) } };
  }
  if (data?.upload) {
    const { import_id, expires_at } = data.upload as { import_id: string; expires_at: string };
    const until = localInstant(expires_at, context?.timezone);
    return { ...envelope, data: { upload: { import_id, url: uploadUrl(import_id), expires_at: until } } };
  }
  const withUrl = (document: Record<string, unknown>) => ({ ...document, url: documentUrl(document.id as string) });
  if (data?.document) {
    return { ...envelope, data: { ...data, document: withUrl(data.document as Record<string, unknown>) } };
  }
  if (data?.documents) {
    return { ...envelope, data: { ...data, documents: (data.documents as Record<string, unknown>[]).map(withUrl) } };
  }
  const organizationId = context?.organization?.id;
  if (organizationId && (data?.members || data?.plan || data?.csv)) {
    const pages = {
      ...(data.members ? { members_url: membersUrl(organizationId) } : {}),
      ...(data.plan ? { plan_url: plansUrl(organizationId) } : {}),
      ...(data.csv ? { export_url: exportsUrl(organizationId) } : {}),
    };
    return { ...envelope, data: { ...data, ...pages } };
  }
  if (!data?.connect) return envelope;
  const { connect, ...rest } = data;
  return {
    ...envelope,
    data: { ...rest, connect_url: `${connectUrl}?${new URLSearchParams(connect as Record<string, string>)}` },
  };
}
