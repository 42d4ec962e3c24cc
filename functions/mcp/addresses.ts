/**
 * Addresses in an answer. The database knows no address of ours: where an answer needs one it says what it is about, and the absolute URL
 * is made here, from configuration alone.
 */
import type { Envelope } from "../../shared/connector/result.ts";

export interface Addresses {
  /** The page that connects a bill to its provider. */
  connectUrl: string;
  /** Where a person changes the plan of an organization. */
  plansUrl: (organizationId?: string) => string;
}

/** The envelope with `connect_url` where a bill is to be connected, and `upgrade_url` where the plan is in the way. */
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
