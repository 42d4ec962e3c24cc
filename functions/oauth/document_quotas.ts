/**
 * What fetching a client's metadata document draws on, and where a new one is kept. Strangers can make us fetch what they like, so each
 * gets a part of what is there for all; and what they can make us fetch takes nothing from the documents that people connect with.
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

/** A request that names a client by the URL of its document, which has been judged. */
interface DocumentRequest {
  c: AppContext;
  clientId: string;
}

/** `knownQuotas` are those of a client that somebody has connected. */
export async function documentQuotas(
  config: LimitConfig,
  { c, clientId }: DocumentRequest,
): Promise<{ documentQuotas: Quota[]; knownQuotas: Quota[] }> {
  if (isPublishedDocument(clientId)) {
    // Nobody's address counts: read once it serves everybody for minutes, so that there is nothing to use up.
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

/** Where the document's client is kept until somebody authorizes it: one that everybody knows counts against nobody. */
export async function documentRoom(
  config: LimitConfig,
  { c, clientId }: DocumentRequest,
): Promise<ClientRoom | null> {
  const room = await clientRoom(config, c);
  return room && isPublishedDocument(clientId) ? { ...room, caller: null } : room;
}
