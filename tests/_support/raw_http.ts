/** HTTP/1.1 over a bare socket, for requests that `fetch` can't send. */

export interface RawAnswer {
  status: number;
  headers: Headers;
  body: string;
}

const DEADLINE_MS = 20_000;

/**
 * @param url http, on loopback.
 * @param request.target in the request line; defaults to the URL's path and query.
 * @throws {Error} when the connection is not closed in time.
 */
export async function askRaw(
  url: string,
  { method, target, headers = {} }: { method: string; target?: string; headers?: Record<string, string> },
): Promise<RawAnswer> {
  const { hostname, port, host, pathname, search } = new URL(url);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const lines = Object.entries({ host, connection: "close", ...headers }).map(([name, value]) => `${name}: ${value}`);
  const request = [`${method} ${target ?? pathname + search} HTTP/1.1`, ...lines, "", ""].join("\r\n");
  const deadline = setTimeout(() => connection.close(), DEADLINE_MS);
  try {
    await connection.write(new TextEncoder().encode(request));
    const text = await new Response(connection.readable).text();
    const [head = "", ...body] = text.split("\r\n\r\n");
    const [first = "", ...fields] = head.split("\r\n");
    const answered = new Headers();
    for (const field of fields) {
      answered.append(field.slice(0, field.indexOf(":")), field.slice(field.indexOf(":") + 1));
    }
    return { status: Number(first.split(" ")[1]), headers: answered, body: body.join("\r\n\r\n") };
  } finally {
    clearTimeout(deadline);
  }
}

/**
 * Opens connections whose request never ends, because it announces a body but sends none.
 * @returns a function that closes them.
 */
export async function holdOpen(
  url: string,
  { connections, headers }: { connections: number; headers: Record<string, string> },
): Promise<() => void> {
  const { hostname, port, host, pathname } = new URL(url);
  const lines = Object.entries({ host, "content-length": "9", ...headers }).map(([name, value]) => `${name}: ${value}`);
  const head = new TextEncoder().encode([`POST ${pathname} HTTP/1.1`, ...lines, "", "a"].join("\r\n"));
  const open = await Promise.all(Array.from({ length: connections }, async () => {
    const connection = await Deno.connect({ hostname, port: Number(port) });
    await connection.write(head);
    return connection;
  }));
  return () => open.forEach((connection) => connection.close());
}
