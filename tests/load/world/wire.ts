/** A TCP proxy in front of PostgreSQL that can cut connections at any byte. */

export interface Wire {
  port: number;
  /** Cuts every connection at once, or each with a given probability, without a close notice. */
  cut(chance?: number): number;
  close(): void;
}

// deno-lint-ignore require-await -- opened like the other parts
export async function openWire(target: number): Promise<Wire> {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const open = new Set<() => void>();
  (async () => {
    for await (const client of listener) void join(client);
  })().catch(() => {});

  async function join(client: Deno.TcpConn): Promise<void> {
    const server = await Deno.connect({ hostname: "127.0.0.1", port: target }).catch(() => undefined);
    if (!server) return client.close();
    client.setNoDelay(true);
    server.setNoDelay(true);
    const end = () => {
      open.delete(end);
      for (const one of [client, server]) {
        try {
          one.close();
        } catch {
          // The connection has already ended.
        }
      }
    };
    open.add(end);
    for (const [from, to] of [[client, server], [server, client]] as const) {
      pass(from, to).catch(() => {}).finally(end);
    }
  }
  return {
    port: listener.addr.port,
    cut(chance = 1) {
      const chosen = [...open].filter(() => Math.random() < chance);
      for (const end of chosen) end();
      return chosen.length;
    },
    close() {
      listener.close();
      for (const end of [...open]) end();
    },
  };
}

async function pass(from: Deno.TcpConn, to: Deno.TcpConn): Promise<void> {
  const bytes = new Uint8Array(32 * 1024);
  for (let read = await from.read(bytes); read !== null; read = await from.read(bytes)) {
    for (let written = 0; written < read;) written += await to.write(bytes.subarray(written, read));
  }
}
