/**
 * Reads and validates clients' metadata documents. Concurrent reads of a document share one fetch, and a failed fetch
 * is not retried for a moment; both apply per process. This module does not cache successes.
 */
import type { Clock } from "../../shared/clock.ts";
import type { GuardedFetch } from "../../shared/net/guarded_fetch.ts";
import type { FetchRefusal } from "../../shared/net/refusal.ts";
import {
  type ClientDocument,
  type DocumentRefusal,
  freshUntil,
  judgeDocument,
} from "../../shared/oauth/client_metadata_document.ts";
import { MAX_DOCUMENT_BYTES } from "../../shared/oauth/limits.ts";

export type ReadDocument =
  | { ok: true; document: ClientDocument; freshUntil: Date }
  /** `unavailable`: the fetch failed, so nothing is known about the document's content. */
  | { ok: false; reason: FetchRefusal | DocumentRefusal; unavailable: boolean };

export type DocumentReader = (clientId: string) => Promise<ReadDocument>;

/** Long enough for impatient reloads, short enough for a developer who is fixing the document. */
const FAILURE_CACHE_MS = 30_000;
/** Anybody can cause failures for as many URLs as the limits allow, so the cache keeps only the latest. */
const MAX_FAILURES = 1000;

/** Failures of the network or of the other server, as opposed to an invalid document or URL. */
const UNAVAILABLE: ReadonlySet<FetchRefusal> = new Set([
  "unresolvable",
  "unreachable",
  "tls_failed",
  "timed_out",
  "malformed",
  "cut_short",
]);

export function createDocumentReader(
  { guardedFetch, clock }: { guardedFetch: GuardedFetch; clock: Clock },
): DocumentReader {
  const underWay = new Map<string, Promise<ReadDocument>>();
  const failures = new Map<string, { read: ReadDocument; until: number }>();

  return (clientId) => {
    const failure = failures.get(clientId);
    if (failure && clock().getTime() < failure.until) return Promise.resolve(failure.read);
    const reading = underWay.get(clientId) ?? fetchDocument(clientId).finally(() => underWay.delete(clientId));
    underWay.set(clientId, reading);
    return reading;
  };

  async function fetchDocument(clientId: string): Promise<ReadDocument> {
    const answer = await guardedFetch({
      url: clientId,
      headers: { accept: "application/json", "user-agent": "expense-connector" },
      maxBytes: MAX_DOCUMENT_BYTES,
    });
    if (!answer.ok) return fail(clientId, { reason: answer.reason, unavailable: UNAVAILABLE.has(answer.reason) });
    const judged = judgeDocument(clientId, answer);
    if (!judged.ok) {
      const unavailable = answer.status >= 500 || answer.status === 429;
      return fail(clientId, { reason: judged.reason, unavailable });
    }
    return { ok: true, document: judged.document, freshUntil: freshUntil(answer.headers, clock()) };
  }

  function fail(clientId: string, why: { reason: FetchRefusal | DocumentRefusal; unavailable: boolean }): ReadDocument {
    const read: ReadDocument = { ok: false, ...why };
    failures.delete(clientId);
    failures.set(clientId, { read, until: clock().getTime() + FAILURE_CACHE_MS });
    if (failures.size > MAX_FAILURES) failures.delete(failures.keys().next().value!);
    return read;
  }
}
