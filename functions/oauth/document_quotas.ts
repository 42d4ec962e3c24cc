/**
 * Quotas for fetching and storing a client's metadata document. Anybody can trigger a fetch, so each caller gets a
 * share of the total. Documents of connected clients have separate quotas.
 */
import type { ClientRoom, Quota } from "../../shared/db/quota.ts";
import type { AppContext } from "../../shared/http/app.ts";
import {
  callerQuotas,
  clientRoom,
  type LimitConfig,
  type LimitName,
  quotasFor,
  shareQuotas,
} from "../../shared/http/quotas.ts";
import { isMakersHost, isPublishedDocument } from "../../shared/oauth/known_makers.ts";

/** A request that names a client by a validated document URL. */
interface DocumentRequest {
  c: AppContext;
  clientId: string;
}

/** `knownQuotas` apply to a client that a person has connected. */
export async function documentQuotas(
  config: LimitConfig,
  { c, clientId }: DocumentRequest,
): Promise<{ documentQuotas: Quota[]; knownQuotas: Quota[] }> {
  if (isPublishedDocument(clientId)) {
    // Not counted by caller, because one fetch serves everybody for minutes.
    const own = await quotasFor(config, [["client_document_published", clientId]]);
    return { documentQuotas: own, knownQuotas: own };
  }
  const { origin, hostname } = new URL(clientId);
  const drawOn = async (pool: LimitName, subject: string, narrower: readonly Quota[] = []) => {
    const [shared] = await quotasFor(config, [[pool, subject]]);
    if (!shared) return [];
    return [...await callerQuotas(config, "client_document_ip", c, shared), ...narrower, shared];
  };
  const day = await shareQuotas(config, "client_document_day", c);
  const isMakers = isMakersHost(hostname);
  return {
    documentQuotas: isMakers
      ? await drawOn("client_document_maker", origin, day)
      : await drawOn("client_document_all", "", [
        ...day,
        ...await quotasFor(config, [["client_document_origin", origin]]),
      ]),
    knownQuotas: isMakers
      ? await drawOn("client_document_maker", origin)
      : await drawOn("client_document_connected", ""),
  };
}

/** Limits on storing the document's client until a person authorizes it; well-known clients are exempt. */
export async function documentRoom(
  config: LimitConfig,
  { c, clientId }: DocumentRequest,
): Promise<ClientRoom | null> {
  const room = await clientRoom(config, c);
  return room && isPublishedDocument(clientId) ? { ...room, caller: null } : room;
}
