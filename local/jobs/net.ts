/**
 * Sends the requests in `net.http_request_queue` like pg_net: after commit, once, with the response or failure recorded
 * in `net._http_response`.
 */
import { describeError, type Log } from "../../shared/log.ts";
import type { Row, SqlDatabase } from "../database/sql.ts";

interface QueuedRequest extends Row {
  id: number;
  method: string;
  url: string;
  headers: Record<string, string> | null;
  timeout_milliseconds: number;
}

export interface NetWorker {
  stop(): Promise<void>;
}

const BATCH = 20;

/** @param addressOf maps a URL to the actual destination of its request */
export async function startNet(
  database: SqlDatabase,
  { log, addressOf = (url) => url }: { log: Log; addressOf?: (url: string) => string },
): Promise<NetWorker> {
  const inFlight = new Set<Promise<void>>();
  let draining = Promise.resolve();
  let stopped = false;

  async function drain(): Promise<void> {
    while (!stopped) {
      const requests = await database.query<QueuedRequest>(
        `delete from net.http_request_queue where id in
           (select id from net.http_request_queue order by id limit ${BATCH} for update skip locked)
         returning id, method, url, headers, timeout_milliseconds`,
      );
      // Not awaited, because a response may itself need the database, and one slow server must not delay the others.
      for (const request of requests) track(answer(database, { ...request, url: addressOf(request.url) }));
      if (requests.length < BATCH) return;
    }
  }

  function track(work: Promise<void>): void {
    const tracked = work.catch((thrown) => log.error("queued request", { error: describeError(thrown) }))
      .finally(() => inFlight.delete(tracked));
    inFlight.add(tracked);
  }

  const wake = () => {
    draining = draining.then(drain).catch((thrown) => log.error("queued request", { error: describeError(thrown) }));
  };
  await database.listen("net_request", wake);
  wake();
  return {
    async stop() {
      stopped = true;
      await draining;
      await Promise.all(inFlight);
    },
  };
}

async function answer(database: SqlDatabase, request: QueuedRequest): Promise<void> {
  const response = { id: request.id, created: new Date().toISOString(), ...await send(request) };
  await database.query(
    "insert into net._http_response select * from jsonb_populate_record(null::net._http_response, $1::text::jsonb)",
    [JSON.stringify(response)],
  );
}

/** The columns of the response or failure. */
async function send({ url, method, headers, timeout_milliseconds: ms }: QueuedRequest): Promise<Row> {
  try {
    const response = await fetch(url, { method, headers: headers ?? {}, signal: AbortSignal.timeout(ms) });
    return {
      status_code: response.status,
      content_type: response.headers.get("content-type"),
      headers: Object.fromEntries(response.headers),
      content: await response.text(),
      timed_out: false,
    };
  } catch (thrown) {
    const timed_out = thrown instanceof DOMException && thrown.name === "TimeoutError";
    return { timed_out, error_msg: timed_out ? `Timeout of ${ms} ms reached` : describeError(thrown) };
  }
}
