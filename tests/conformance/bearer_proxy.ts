/**
 * Adds a bearer token to every request to the connector, for programs that cannot send one. All other data passes
 * through unchanged: the suite checks how the server handles hosts, origins and headers.
 */

/** @param target the connector's URL @param token the access token to send */
export function startBearerProxy(target: string, token: string): { url: string; close(): Promise<void> } {
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, async (request) => {
    const headers = new Headers(request.headers);
    headers.set("authorization", `Bearer ${token}`);
    const { method } = request;
    const body = ["GET", "HEAD"].includes(method) ? undefined : await request.arrayBuffer();
    return await fetch(target, { method, headers, body });
  });
  return { url: `http://127.0.0.1:${server.addr.port}/`, close: () => server.shutdown() };
}
