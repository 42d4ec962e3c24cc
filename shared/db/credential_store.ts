/** Stores the envelopes of provider credentials (shared/credentials). This module cannot open them. */
import * as z from "zod/mini";
import { outcome } from "../outcome.ts";
import { Envelope } from "../credentials/envelope.ts";
import { asking } from "./answer.ts";
import type { Database } from "./client.ts";

export type CredentialStore = ReturnType<typeof createCredentialStore>;

export interface StoredCredential {
  linkId: string;
  envelope: Envelope;
}

const Sealed = z.object({ link_id: z.string(), envelope: Envelope });

export const ANSWERS = {
  read_provider_credentials: z.array(Sealed),
  find_stale_credentials: z.array(Sealed),
  reseal_provider_credential: outcome(["resealed", "changed"]),
};

/** Every method throws what `Database.call` throws. */
export function createCredentialStore(database: Database) {
  const ask = asking(database, ANSWERS);
  return {
    /** Credentials by link id. Omits links without a credential, and ended links. */
    readCredentials: async (linkIds: readonly string[]): Promise<ReadonlyMap<string, Envelope>> => {
      const rows = await ask("read_provider_credentials", { link_ids: linkIds });
      return new Map(rows.map(({ link_id, envelope }) => [link_id, envelope]));
    },

    /** Credentials encrypted with any key but this one, by link id, starting after `after`. */
    findStaleCredentials: async (
      { keyId, after, atMost }: { keyId: string; after: string; atMost: number },
    ): Promise<StoredCredential[]> => {
      const rows = await ask("find_stale_credentials", { key_id: keyId, after, at_most: atMost });
      return rows.map(({ link_id: linkId, envelope }) => ({ linkId, envelope }));
    },

    /**
     * Stores the same credential under the current key; `changed` when another envelope has replaced it in the
     * meantime.
     */
    resealCredential: (
      { linkId, replaced, envelope, at }: { linkId: string; replaced: Envelope; envelope: Envelope; at: Date },
    ) => ask("reseal_provider_credential", { link_id: linkId, replaced, envelope, at }),
  };
}
