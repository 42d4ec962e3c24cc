/**
 * Adds absolute URLs to results. The database does not know our addresses; it says what a URL is about, and the URL is
 * built here from configuration.
 */
import type { Envelope } from "../../shared/connector/result.ts";

export interface Addresses {
  /** The page that connects a bill to its provider. */
  connectUrl: string;
  /** Where to change an organization's plan. */
  plansUrl: (organizationId?: string) => string;
}

/**
 * The envelope with `connect_url` where a bill has to be connected, and `upgrade_url` where the plan is insufficient.
 */
export function withAddresses(envelope: Envelope, { connectUrl, plansUrl }: Addresses): Envelope {
  const { context, data, error } = envelope;
  if (error?.code === "feature_not_in_plan") {
    const upgradeUrl = plansUrl(context?.organization?.id);
    return { ...envelope, error: { ...error, details: { ...error.details, upgrade_url: upgradeUrl } } };
  }
  if (!data?.connect) return envelope;
  const { connect, ...rest } = data;
  return {
    ...envelope,
    data: { ...rest, connect_url: `${connectUrl}?${new URLSearchParams(connect as Record<string, string>)}` },
  };
}
