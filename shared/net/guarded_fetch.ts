/**
 * Fetches a URL that somebody else chose, safe against SSRF. It resolves the name once, requires all its addresses to
 * be public, and connects to one of them, so DNS rebinding has no effect. It follows no redirects, keeps no cookies,
 * sends only the given credentials, and enforces a size limit and a deadline.
 */
import { before, close, closeAt } from "./deadline.ts";
import { judgeUrl } from "./guarded_url.ts";
import { type HttpResponse, readResponse } from "./http_response.ts";
import { isPublicAddress } from "./public_address.ts";
import { type FetchRefusal, FetchRefused } from "./refusal.ts";

/** DNS, TCP and TLS as the runtime provides them (deno_network.ts). */
export interface Network {
  /** The addresses of an absolute name; empty when it has none of this type. */
  resolve(name: string, type: "A" | "AAAA"): Promise<string[]>;
  connect(address: string, port: number): Promise<Connection>;
  /** TLS over a connection, verifying the server's certificate for `name`; takes over the connection. */
  startTls(connection: Connection, name: string): Promise<Connection>;
}

/** Same as `Deno.Conn`. */
export interface Connection {
  read(into: Uint8Array): Promise<number | null>;
  write(bytes: Uint8Array): Promise<number>;
  close(): void;
}

export interface GuardedFetchDeps {
  network: Network;
  /** The fallback on platforms without raw TCP. */
  fetch: typeof fetch;
  /** Hosts that must never be contacted, including their subdomains. */
  refusedHosts: readonly string[];
}

export interface GuardedRequest {
  url: string;
  /** Sent in addition to our own `Host`, `Accept-Encoding` and `Connection`. */
  headers?: Readonly<Record<string, string>>;
  /** Sent by POST; without a body the request is a GET. */
  body?: string;
  /** Limit of the response body. */
  maxBytes: number;
  /** The total for DNS, connection, TLS and the whole body; 3 s if absent. */
  deadlineMs?: number;
}

/** A response of any status, redirects included. */
export type GuardedAnswer = { ok: true } & HttpResponse | { ok: false; reason: FetchRefusal };

/** GETs a URL, or POSTs to it. Never rejects: a failure is returned as a reason. */
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
        ? await requestOver(connection, judged.url, { request, network: deps.network, deadline })
        : await fetchWithoutSockets(judged.url, { request, fetch: deps.fetch, deadline });
      return { ok: true, ...response };
    } catch (thrown) {
      return { ok: false, reason: thrown instanceof FetchRefused ? thrown.reason : "unreachable" };
    }
  };
}

/** All addresses of the name. Refuses unless every one is public. */
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

/** Connects to the first address that accepts; undefined where the platform allows no raw connections. */
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

/**
 * Whether the platform forbids connecting. Errors about one address ("address family not supported") don't count; they
 * end with an OS error number.
 */
const isRefusedByPlatform = (thrown: unknown) =>
  thrown instanceof Error &&
  (/^(PermissionDenied|NotCapable|NotSupported)$/.test(thrown.name) ||
    /not (supported|implemented)(?!.*os error)/i.test(thrown.message));

async function requestOver(
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
  // Both come from parsers that reject line breaks: URL and Headers.
  const body = new TextEncoder().encode(request.body ?? "");
  const isPost = request.body !== undefined;
  if (isPost) headers.set("content-length", String(body.length));
  const lines = [`${isPost ? "POST" : "GET"} ${url.pathname}${url.search} HTTP/1.1`, `host: ${url.hostname}`];
  for (const [name, value] of headers) lines.push(`${name}: ${value}`);
  const head = new TextEncoder().encode(`${lines.join("\r\n")}\r\n\r\n`);
  let unsent = new Uint8Array([...head, ...body]);
  while (unsent.length > 0) unsent = unsent.subarray(await connection.write(unsent));

  const buffer = new Uint8Array(4096);
  return await readResponse(async () => {
    // A missing TLS close_notify is an error, because a truncated response must not pass as a complete one.
    const length = await connection.read(buffer).catch((cause) => {
      throw new FetchRefused("cut_short", { cause });
    });
    return length === null ? null : buffer.slice(0, length);
  }, request);
}

/**
 * Without raw TCP the runtime resolves the name again by itself. An attacker who answers the two lookups differently
 * can only reach private hosts that present a valid certificate for the attacker's name.
 */
async function fetchWithoutSockets(
  url: URL,
  { request, fetch, deadline }: { request: GuardedRequest; fetch: GuardedFetchDeps["fetch"]; deadline: AbortSignal },
): Promise<HttpResponse> {
  const asking = fetch(url, {
    headers: requestHeaders(request),
    redirect: "manual",
    signal: deadline,
    ...(request.body !== undefined && { method: "POST", body: request.body }),
  });
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

/** @throws {TypeError} for an invalid header. */
function requestHeaders({ headers }: GuardedRequest): Headers {
  const sent = new Headers(headers);
  sent.delete("host");
  // A compressed body could expand to any size.
  sent.set("accept-encoding", "identity");
  return sent;
}
