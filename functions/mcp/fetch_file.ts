/** Downloads a file that a host passes to a tool by a temporary URL, as ChatGPT does (`openai/fileParams`). */
import type { FetchedFile } from "../../shared/connector/tool.ts";
import type { ConnectorStore } from "../../shared/db/connector_store.ts";
import { createIdentityStore } from "../../shared/db/identity_store.ts";
import { withinLimits } from "../../shared/db/quota.ts";
import type { Deps } from "../../shared/deps.ts";
import { MAX_DOCUMENT_BYTES } from "../../shared/documents/read_document.ts";
import { outsidePlace } from "../../shared/http/place.ts";
import { limitOf } from "../../shared/http/quotas.ts";
import { keyedHash } from "../../shared/signed_token.ts";
import type { Connector } from "./connector.ts";

/** Clients give up after a minute or less. */
const DEADLINE_MS = 20_000;
const LIMIT = "import_upload_person";

type FetchingDeps = Pick<Deps, "config" | "database" | "clock" | "log" | "guardedFetch">;

export function createFetchFile(
  { config, database, clock, log, guardedFetch }: FetchingDeps,
  store: Pick<ConnectorStore, "authenticate">,
): Connector["fetchFile"] {
  /** Counts like an upload, but by grant, because the hosts' servers share few IP addresses. */
  async function count(tokenHash: string): Promise<void> {
    const limit = limitOf(config, LIMIT);
    if (!limit) return;
    const verdict = await store.authenticate({ tokenHash, limits: undefined });
    const subject = verdict.outcome === "ok" && verdict.grant_id ? verdict.grant_id : tokenHash;
    withinLimits(
      await createIdentityStore(database).claimAttempt({
        keyHash: await keyedHash(config.codeSecrets, LIMIT, subject),
        atMost: limit.at_most,
        secondsApart: 0,
        quotas: [],
        at: clock(),
      }),
    );
  }

  return async (url, tokenHash) => {
    const host = URL.canParse(url) ? new URL(url).hostname : "";
    // Otherwise a model that follows a document's instructions could send the books to any host, as part of a URL.
    if (!config.fileHosts.some((known) => host === known || host.endsWith(`.${known}`))) {
      log.info("file_host_refused", { host: host.slice(0, 100) });
      return refuse("invalid_argument.file_address");
    }
    await count(tokenHash);
    const answer = await outsidePlace(() =>
      guardedFetch({ url, maxBytes: MAX_DOCUMENT_BYTES, deadlineMs: DEADLINE_MS })
    );
    if (answer.ok && answer.status === 200) return { bytes: answer.body };
    if (!answer.ok && answer.reason === "too_large") {
      const most_mb = MAX_DOCUMENT_BYTES / 1024 / 1024;
      return refuse("invalid_argument.document_refused", { reason: "invalid_argument.document_too_large", most_mb });
    }
    log.info("file_not_fetched", { reason: answer.ok ? String(answer.status) : answer.reason });
    return refuse("invalid_argument.file_not_fetched");
  };
}

const refuse = (code: string, params?: Record<string, unknown>): FetchedFile => ({
  refusal: { code, ...(params && { params }), field: "file" },
});
