/**
 * Finds the client of a request, and the person's organizations. The database stores registered clients and a copy of
 * each metadata document. This module fetches stale copies again, within the limits.
 */
import type { OpenedConsent, OpenedDocumentConsent, StoredClient } from "../../shared/db/oauth_store.ts";
import type { AppContext } from "../../shared/http/app.ts";
import { outsidePlace } from "../../shared/http/place.ts";
import { callerQuotas, tooMany } from "../../shared/http/quotas.ts";
import { isDocumentUrl } from "../../shared/oauth/client_id.ts";
import { judgeClientUrl } from "../../shared/oauth/client_metadata_document.ts";
import { documentQuotas, documentRoom } from "./document_quotas.ts";
import type { PageRefusal } from "./page_refusal.ts";
import type { AuthorizationServer } from "./server.ts";

export type OpenedClient =
  | { ok: true; opened: OpenedConsent & { client: StoredClient } }
  | { ok: false; reason: PageRefusal };

/** The client and the person to look up. */
export interface ClientLookup {
  clientId: string;
  /** Null without a session. */
  userId: string | null;
  at: Date;
}

/**
 * Makes one database call, or two when a document had to be fetched.
 * @throws {AppError} `rate_limited` when the caller exceeds the page limit, or when the limits forbid a required
 * fetch.
 */
export async function openClient(
  c: AppContext,
  server: AuthorizationServer,
  lookup: ClientLookup,
): Promise<OpenedClient> {
  const quotas = await callerQuotas(server.config, "authorize", c);
  if (!isDocumentUrl(lookup.clientId)) return known(await server.store.openConsent({ ...lookup, quotas }));
  const judged = judgeClientUrl(lookup.clientId, server);
  if (!judged.ok) {
    logDocument(c, server, { ...lookup, outcome: "refused", reason: judged.reason });
    return { ok: false, reason: "client_url_not_allowed" };
  }
  const opened = await server.store.openDocumentConsent({
    ...lookup,
    quotas,
    ...await documentQuotas(server.config, { c, clientId: lookup.clientId }),
  });
  switch (opened.document) {
    case "fresh":
      return known(opened);
    case "limited":
      if (opened.serves_stale) return known(opened);
      throw tooMany(opened.retry_after, ({ manyLookups }) => manyLookups);
    case "due":
      return await readAndOpen(c, server, { lookup, opened });
  }
}

async function readAndOpen(
  c: AppContext,
  server: AuthorizationServer,
  { lookup, opened }: { lookup: ClientLookup; opened: OpenedDocumentConsent },
): Promise<OpenedClient> {
  const read = await outsidePlace(() => server.readDocument(lookup.clientId));
  if (read.ok) {
    logDocument(c, server, { ...lookup, outcome: "read" });
    return known(
      await server.store.storeClientDocument({
        clientId: lookup.clientId,
        clientName: read.document.client_name,
        redirectUris: read.document.redirect_uris,
        freshUntil: read.freshUntil,
        userId: lookup.userId,
        room: await documentRoom(server.config, { c, clientId: lookup.clientId }),
        at: server.clock(),
      }),
    );
  }
  // An outage of a client's server must not affect its existing users. New users need fresh metadata.
  const isServed = read.unavailable && opened.serves_stale;
  logDocument(c, server, { ...lookup, outcome: isServed ? "served_stale" : "refused", reason: read.reason });
  if (isServed) return known(opened);
  return { ok: false, reason: read.unavailable ? "client_document_unavailable" : "client_document_invalid" };
}

const known = (opened: OpenedConsent): OpenedClient =>
  opened.client ? { ok: true, opened: { ...opened, client: opened.client } } : { ok: false, reason: "unknown_client" };

function logDocument(
  c: AppContext,
  { log }: Pick<AuthorizationServer, "log">,
  { clientId, outcome, reason }: { clientId: string; outcome: string; reason?: string },
): void {
  const why = reason === undefined ? {} : { reason };
  log.info("client_document", { request_id: c.get("requestId"), client_id: clientId, outcome, ...why });
}
