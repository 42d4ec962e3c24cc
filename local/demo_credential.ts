/**
 * The credential of the demo's connected bill. supabase/seed.sql cannot contain it, since this stack's key must
 * encrypt it. It is stored as the connect page would store it, and again after a change of the key.
 */
import { openCredential, sealCredential } from "../shared/credentials/envelope.ts";
import type { Database } from "../shared/db/client.ts";
import { createProviderLinkStore } from "../shared/db/provider_link_store.ts";
import { createCredentialStore } from "../shared/db/credential_store.ts";
import { digitalocean } from "../shared/providers/digitalocean.ts";
import { digitaloceanFixture } from "./fixtures/providers/digitalocean.ts";

/** The link's id in the seed. */
const DEMO = {
  userId: "00000000-0000-4000-8000-00000000de01",
  billId: "bill_demo00000009",
  linkId: "lnk_demo00000001",
};

/** Does nothing if the link has a readable credential, was removed, or was replaced. */
export async function storeDemoCredential(
  database: Database,
  { keys, at }: { keys: readonly string[]; at: Date },
): Promise<void> {
  const providerLinks = createProviderLinkStore(database);
  const { userId, billId, linkId } = DEMO;
  const opened = await providerLinks.openConnection({ userId, billId, providerKey: digitalocean.key, quotas: [], at });
  if (opened.outcome !== "open" || opened.link_id !== linkId) return;
  const envelope = (await createCredentialStore(database).readCredentials([linkId])).get(linkId);
  if (envelope && await openCredential(keys, linkId, envelope).then(() => true, () => false)) return;
  const credential = digitaloceanFixture.credential("");
  await providerLinks.connectProvider({
    userId,
    billId,
    provider: digitalocean,
    linkId,
    accountLabel: digitalocean.label(credential),
    envelope: await sealCredential(keys, linkId, credential),
    at,
  });
}
