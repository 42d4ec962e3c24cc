/** Connecting bills to providers and managing the links: one call per page view or change. */
import type { Envelope } from "../credentials/envelope.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";
import type { Limited, Quota } from "./quota.ts";

/** The bill to connect. */
export interface ConnectableBill {
  bill: string;
  organization: string;
  organization_id: string;
  /** Who may connect it. */
  owner_email: string;
}

/** Why a person currently cannot connect a bill. */
export type ConnectionRefusal =
  | { outcome: "unknown_bill" }
  | ConnectableBill & { outcome: "not_owner" | "ended" | "not_variable" | "feature_not_in_plan" };

export interface OpenConnection extends ConnectableBill {
  outcome: "open";
  /** The existing link, if any. */
  link: {
    provider_key: string;
    account_label: string;
    status: "pending" | "active" | "needs_reauth" | "paused";
  } | null;
  /** The link that the credential must be sealed for. */
  link_id: string;
}

type Asked = { userId: string; billId: string; at: Date };
export type LinkAction = "pause" | "resume" | "remove";
export type ProviderLinkStore = ReturnType<typeof createProviderLinkStore>;

/** Every method throws what `Database.call` throws. */
export function createProviderLinkStore(database: Database) {
  const ask = asking(database);
  return {
    /** @param asked.quotas drawn for trying a credential; empty when only looking. */
    openConnection: (asked: Asked & { providerKey: string | null; quotas: readonly Quota[] }) =>
      ask<OpenConnection | ConnectionRefusal | Limited>("open_connection", {
        user_id: asked.userId,
        bill_id: asked.billId,
        provider_key: asked.providerKey,
        quotas: asked.quotas,
        at: asked.at,
      }),

    /** `moved`: somebody else has connected the bill meanwhile. Open it again and seal for the new link. */
    connectProvider: (
      asked: Asked & {
        provider: { key: string; name: string };
        linkId: string;
        accountLabel: string;
        envelope: Envelope;
      },
    ) =>
      ask<ConnectableBill & { outcome: "connected" } | { outcome: "moved" } | ConnectionRefusal>(
        "connect_provider",
        {
          user_id: asked.userId,
          bill_id: asked.billId,
          provider_key: asked.provider.key,
          provider_name: asked.provider.name,
          link_id: asked.linkId,
          account_label: asked.accountLabel,
          envelope: asked.envelope,
          at: asked.at,
        },
      ),

    changeLink: ({ userId, linkId, action, at }: { userId: string; linkId: string; action: LinkAction; at: Date }) =>
      ask<{ outcome: "changed" | "ended" | "paused_by_plan" | "not_owner" | "unknown_link" }>(
        "change_provider_link",
        { user_id: userId, link_id: linkId, action, at },
      ),
  };
}
