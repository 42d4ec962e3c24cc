/**
 * Fetches a URL that somebody else chose, without becoming their way into networks that only we can reach (SSRF). The name
 * is resolved once, every address it has must be public, and the connection goes to one of those very addresses: a name
 * that resolves to another one a moment later gains nothing. It follows no redirect, keeps no cookie, sends no credential
 * that it was not given, and ends at its size limit and its deadline.
 */
import { before, close, closeAt } from "./deadline.ts";
import { judgeUrl } from "./guarded_url.ts";
import { type HttpResponse, readResponse } from "./http_response.ts";
import { isPublicAddress } from "./public_address.ts";
import { type FetchRefusal, FetchRefused } from "./refusal.ts";

/** Names, connections and TLS, as the runtime has them (deno_network.ts). */
export interface Network {
  /** The addresses of an absolute name; none when it has none of this kind. */
  resolve(name: string, type: "A" | "AAAA"): Promise<string[]>;
  connect(address: string, port: number): Promise<Connection>;
  /** TLS over a connection, with the server's certificate checked against `name`; the connection is its own from then on. */
  startTls(connection: Connection, name: string): Promise<Connection>;
}

/** As `Deno.Conn`. */
export interface Connection {
  read(into: Uint8Array): Promise<number | null>;
  write(bytes: Uint8Array): Promise<number>;
  close(): void;
}

export interface GuardedFetchDeps {
  network: Network;
  /** For platforms that allow no raw TCP. */
  fetch: typeof fetch;
  /** Hosts that may not be asked, each with everything below it. */
  refusedHosts: readonly string[];
}

export interface GuardedRequest {
  url: string;
  /** Besides `Host`, `Accept-Encoding` and `Connection`, which are ours to say. */
  headers?: Readonly<Record<string, string>>;
  /** Of the answer's body. */
  maxBytes: number;
  /** For all of it: name, connection, TLS, the last byte of the body. 3 s when absent. */
  deadlineMs?: number;
}

/** Whatever status it has; a redirect comes back as one. */
export type GuardedAnswer = { ok: true } & HttpResponse | { ok: false; reason: FetchRefusal };

/** GETs a URL. Never rejects: what goes wrong is a reason. */
export type GuardedFetch = (request: GuardedRequest) => Promise<GuardedAnswer>;

const DEADLINE_MS = 3_000;

export function createGuardedFetch(deps: GuardedFetchDeps): GuardedFetch {
  return async (request) => {
    const judged = judgeUrl(request.url, deps);
    if (!judged.ok) return judged;
    const deadline = AbortSignal.timeout(request.deadlineMs ?? DEADLINE_MS);
    try {
      const addresses = await before(deadline, resolvePublic(judged.url.hostname, deps.network));
      const connection = await before(deadline, connectFirst(addresses, { ...deps, deadline }));
      const response = connection
        ? await askOver(connection, judged.url, { request, network: deps.network, deadline })
        : await askByFetch(judged.url, { request, fetch: deps.fetch, deadline });
      return { ok: true, ...response };
    } catch (thrown) {
      return { ok: false, reason: thrown instanceof FetchRefused ? thrown.reason : "unreachable" };
    }
  };
}

/** Every address of the name, if all of them are public: a name with one foot in a private network is refused. */
async function resolvePublic(name: string, network: Network): Promise<string[]> {
  const addresses = await Promise.all([network.resolve(name, "A"), network.resolve(name, "AAAA")]).then(
    (answers) => answers.flat(),
    (cause) => {
      throw new FetchRefused("unresolvable", { cause });
    },
  );
  if (addresses.length === 0) throw new FetchRefused("unresolvable");
  if (!addresses.every(isPublicAddress)) throw new FetchRefused("address_not_public");
  return addresses;
}

/** A connection to the first address that takes one; undefined where the platform lets nobody connect. */
async function connectFirst(
  addresses: readonly string[],
  { network, deadline }: { network: Network; deadline: AbortSignal },
): Promise<Connection | undefined> {
  for (const address of addresses) {
    try {
      const connection = await network.connect(address, 443);
      closeAt(deadline, connection);
      return connection;
    } catch (thrown) {
      if (isRefusedByPlatform(thrown)) return undefined;
      if (deadline.aborted) break;
    }
  }
  throw new FetchRefused("unreachable");
}

/** Not what the operating system says of one address ("address family not supported"), which ends in its own error number. */
const isRefusedByPlatform = (thrown: unknown) =>
  thrown instanceof Error &&
  (/^(PermissionDenied|NotCapable|NotSupported)$/.test(thrown.name) ||
    /not (supported|implemented)(?!.*os error)/i.test(thrown.message));

async function askOver(
  connection: Connection,
  url: URL,
  { request, network, deadline }: { request: GuardedRequest; network: Network; deadline: AbortSignal },
): Promise<HttpResponse> {
  const securing = network.startTls(connection, url.hostname).then((secured) => {
    closeAt(deadline, secured);
    return secured;
  }, (cause) => {
    close(connection);
    throw new FetchRefused("tls_failed", { cause });
  });
  const secured = await before(deadline, securing);
  try {
    return await before(deadline, exchange(secured, url, request));
  } finally {
    close(secured);
  }
}

async function exchange(connection: Connection, url: URL, request: GuardedRequest): Promise<HttpResponse> {
  const headers = requestHeaders(request);
  headers.set("connection", "close");
  // Both were written by parsers that let no line break through: the URL's and Headers' own.
  const lines = [`GET ${url.pathname}${url.search} HTTP/1.1`, `host: ${url.hostname}`];
  for (const [name, value] of headers) lines.push(`${name}: ${value}`);
  let unsent = new TextEncoder().encode(`${lines.join("\r\n")}\r\n\r\n`);
  while (unsent.length > 0) unsent = unsent.subarray(await connection.write(unsent));

  const buffer = new Uint8Array(4096);
  return await readResponse(async () => {
    // Without TLS's goodbye, so that an answer that was cut off is not taken for a whole one.
    const length = await connection.read(buffer).catch((cause) => {
      throw new FetchRefused("cut_short", { cause });
    });
    return length === null ? null : buffer.slice(0, length);
  }, request);
}

/**
 * Where there is no raw TCP, the runtime resolves the name once more by itself. What is left to somebody who answers the
 * two questions differently is a host in a private network that shows a valid certificate for their name.
 */
async function askByFetch(
  url: URL,
  { request, fetch, deadline }: { request: GuardedRequest; fetch: GuardedFetchDeps["fetch"]; deadline: AbortSignal },
): Promise<HttpResponse> {
  const asking = fetch(url, { headers: requestHeaders(request), redirect: "manual", signal: deadline });
  const { status, headers, body } = await before(deadline, asking);
  if (!/^(identity)?$/i.test(headers.get("content-encoding") ?? "")) throw new FetchRefused("encoded");
  return { status, headers, body: await before(deadline, readWithin(body, request.maxBytes)) };
}

async function readWithin(body: ReadableStream<Uint8Array> | null, maxBytes: number): Promise<Uint8Array> {
  const bytes = new Uint8Array(maxBytes);
  let length = 0;
  for await (const part of body ?? []) {
    // Leaving the loop cancels the stream.
    if (length + part.length > maxBytes) throw new FetchRefused("too_large");
    bytes.set(part, length);
    length += part.length;
  }
  return bytes.subarray(0, length);
}

/** @throws {TypeError} for a header that cannot be sent. */
function requestHeaders({ headers }: GuardedRequest): Headers {
  const sent = new Headers(headers);
  sent.delete("host");
  // A compressed body would be small on the wire and any size after.
  sent.set("accept-encoding", "identity");
  return sent;
}
