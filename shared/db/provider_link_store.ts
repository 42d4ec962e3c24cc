/** Connecting bills to their providers, and what a person does with a link afterwards: one call a page view or change. */
import type { Envelope } from "../credentials/envelope.ts";
import type { Database } from "./client.ts";
import type { Limited, Quota } from "./quota.ts";

/** The bill that a connection is about. */
export interface ConnectableBill {
  bill: string;
  organization: string;
  organization_id: string;
  /** Who may connect it. */
  owner_email: string;
}

/** Why a person cannot connect a bill, as of now. */
export type ConnectionRefusal =
  | { outcome: "unknown_bill" }
  | ConnectableBill & { outcome: "not_owner" | "ended" | "not_variable" | "feature_not_in_plan" };

export interface OpenConnection extends ConnectableBill {
  outcome: "open";
  /** How the bill is connected already. */
  link: {
    provider_key: string;
    account_label: string;
    status: "pending" | "active" | "needs_reauth" | "paused";
  } | null;
  /** Whose credential it is going to be: what it must be sealed for. */
  link_id: string;
}

type Asked = { userId: string; billId: string; at: Date };
export type LinkAction = "pause" | "resume" | "remove";
export type ProviderLinkStore = ReturnType<typeof createProviderLinkStore>;

/** Every method throws what `Database.call` throws. */
export function createProviderLinkStore(database: Database) {
  return {
    /** @param asked.quotas what a try of a credential draws on; none to look only. */
    openConnection: (asked: Asked & { providerKey: string | null; quotas: readonly Quota[] }) =>
      database.call<OpenConnection | ConnectionRefusal | Limited>("open_connection", {
        user_id: asked.userId,
        bill_id: asked.billId,
        provider_key: asked.providerKey,
        quotas: asked.quotas,
        at: asked.at,
      }),

    /** `moved`: somebody else has connected the bill since; open it again and seal for what it says then. */
    connectProvider: (
      asked: Asked & {
        provider: { key: string; name: string };
        linkId: string;
        accountLabel: string;
        envelope: Envelope;
      },
    ) =>
      database.call<ConnectableBill & { outcome: "connected" } | { outcome: "moved" } | ConnectionRefusal>(
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
      database.call<{ outcome: "changed" | "ended" | "paused_by_plan" | "not_owner" | "unknown_link" }>(
        "change_provider_link",
        { user_id: userId, link_id: linkId, action, at },
      ),
  };
}
