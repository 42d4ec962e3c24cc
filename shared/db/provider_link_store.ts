/** Connects bills to providers and manages the links: one call per page view or change. */
import * as z from "zod/mini";
import { either, outcome } from "../outcome.ts";
import type { Envelope } from "../credentials/envelope.ts";
import { OrganizationState } from "../organization_state.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";
import { Limited, type Quota } from "./quota.ts";

/** The bill to connect. */
export const ConnectableBill = z.object({
  bill: z.string(),
  organization: z.string(),
  organization_id: z.string(),
  /** The person who may connect it. */
  owner_email: z.string(),
  /** For tabs; absent in the previous version's database. */
  state: z.optional(OrganizationState),
});

/** Why a person currently cannot connect a bill. */
export const ConnectionRefusal = either(
  outcome(["unknown_bill"]),
  outcome(["not_owner", "ended", "not_variable", "feature_not_in_plan"], ConnectableBill.shape),
);
export type ConnectionRefusal = z.infer<typeof ConnectionRefusal>;

export const OpenConnection = z.extend(ConnectableBill, {
  outcome: z.literal("open"),
  /** The existing link, if any. */
  link: z.nullable(z.object({
    provider_key: z.string(),
    account_label: z.string(),
    status: z.enum(["pending", "active", "needs_reauth", "paused"]),
  })),
  /** The link for which the credential must be encrypted. */
  link_id: z.string(),
});
export type OpenConnection = z.infer<typeof OpenConnection>;

type Asked = { userId: string; billId: string; at: Date };
export type LinkAction = "pause" | "resume" | "remove";
export type ProviderLinkStore = ReturnType<typeof createProviderLinkStore>;

export const ANSWERS = {
  open_connection: either(OpenConnection, ConnectionRefusal, Limited),
  connect_provider: either(
    z.extend(ConnectableBill, { outcome: z.literal("connected") }),
    outcome(["moved"]),
    ConnectionRefusal,
  ),
  change_provider_link: outcome(["changed", "ended", "paused_by_plan", "not_owner", "unknown_link"]),
};

/** Every method throws what `Database.call` throws. */
export function createProviderLinkStore(database: Database) {
  const ask = asking(database, ANSWERS);
  return {
    /** @param asked.quotas drawn for trying a credential; empty for a mere view */
    openConnection: (asked: Asked & { providerKey: string | null; quotas: readonly Quota[] }) =>
      ask("open_connection", {
        user_id: asked.userId,
        bill_id: asked.billId,
        provider_key: asked.providerKey,
        quotas: asked.quotas,
        at: asked.at,
      }),

    /**
     * `moved`: somebody else has connected the bill in the meantime. Open it again and encrypt the credential for the
     * new link.
     */
    connectProvider: (
      asked: Asked & {
        provider: { key: string; name: string };
        linkId: string;
        accountLabel: string;
        envelope: Envelope;
      },
    ) =>
      ask("connect_provider", {
        user_id: asked.userId,
        bill_id: asked.billId,
        provider_key: asked.provider.key,
        provider_name: asked.provider.name,
        link_id: asked.linkId,
        account_label: asked.accountLabel,
        envelope: asked.envelope,
        at: asked.at,
      }),

    changeLink: ({ userId, linkId, action, at }: { userId: string; linkId: string; action: LinkAction; at: Date }) =>
      ask("change_provider_link", { user_id: userId, link_id: linkId, action, at }),
  };
}
