/** Where the envelopes of provider credentials are kept (shared/credentials). Nothing here can open one. */
import type { Envelope } from "../credentials/envelope.ts";
import type { Database } from "./client.ts";

export type CredentialStore = ReturnType<typeof createCredentialStore>;

/** Every method throws what `Database.call` throws. */
export function createCredentialStore(database: Database) {
  return {
    /** By link id; a link that has none, or has ended, is missing. */
    readCredentials: async (linkIds: readonly string[]): Promise<ReadonlyMap<string, Envelope>> => {
      const rows = await database.call<{ link_id: string; envelope: Envelope }[]>("read_provider_credentials", {
        link_ids: linkIds,
      });
      return new Map(rows.map(({ link_id, envelope }) => [link_id, envelope]));
    },

    /** The same credential under the current key; `changed` when the one that was read is no longer there. */
    resealCredential: (
      { linkId, replaced, envelope, at }: { linkId: string; replaced: Envelope; envelope: Envelope; at: Date },
    ) =>
      database.call<{ outcome: "resealed" | "changed" }>("reseal_provider_credential", {
        link_id: linkId,
        replaced,
        envelope,
        at,
      }),
  };
}
