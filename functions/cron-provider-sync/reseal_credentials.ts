/**
 * Re-encrypts credentials with the current key, for links of any status. After one run, the operator can drop the old
 * key. A credential that no key can decrypt stays.
 */
import { keyIdOf, openCredential, sealCredential } from "../../shared/credentials/envelope.ts";
import type { CredentialStore, StoredCredential } from "../../shared/db/credential_store.ts";
import type { Deps } from "../../shared/deps.ts";

const AT_ONCE = 20;

interface Resealing extends Pick<Deps, "clock" | "log"> {
  store: CredentialStore;
  /** `config.credentialsKeys`: the first one seals. */
  keys: readonly string[];
}

/** @returns the number of resealed credentials. @throws as the database calls do. */
export async function resealCredentials(
  { store, keys, clock, log }: Resealing,
  remainingMs: () => number,
): Promise<number> {
  const [current] = keys;
  if (!current) return 0;
  const keyId = await keyIdOf(current);
  const reseal = async ({ linkId, envelope: replaced }: StoredCredential) => {
    const credential = await openCredential(keys, linkId, replaced).catch(() => null);
    if (!credential) {
      log.error("credential_not_resealed", { reason: linkId });
      return 0;
    }
    const envelope = await sealCredential(keys, linkId, credential);
    const { outcome } = await store.resealCredential({ linkId, replaced, envelope, at: clock() });
    return outcome === "resealed" ? 1 : 0;
  };
  let resealed = 0;
  let after = "";
  while (remainingMs() > 0) {
    const stale = await store.findStaleCredentials({ keyId, after, atMost: AT_ONCE });
    if (stale.length === 0) break;
    for (const count of await Promise.all(stale.map(reseal))) resealed += count;
    after = stale.at(-1)!.linkId;
  }
  return resealed;
}
