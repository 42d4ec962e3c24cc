/** Deno's network functions for guarded_fetch.ts; tests pass their own. No other file in this folder does I/O. */
import type { Connection, Network } from "./guarded_fetch.ts";

/** @param options.caCerts issuers (PEM) to trust besides the well-known ones. */
export function createDenoNetwork({ caCerts }: { caCerts?: string[] } = {}): Network {
  return {
    async resolve(name, type) {
      try {
        // The trailing dot prevents the resolver from trying this machine's search domains.
        return await Deno.resolveDns(`${name}.`, type);
      } catch (thrown) {
        if (thrown instanceof Deno.errors.NotFound) return [];
        throw thrown;
      }
    },
    connect: (address, port) => Deno.connect({ hostname: address, port }),
    async startTls(connection: Connection, name: string) {
      const secured = await Deno.startTls(connection as Deno.TcpConn, {
        hostname: name,
        alpnProtocols: ["http/1.1"],
        ...(caCerts && { caCerts }),
      });
      try {
        // Verifies the certificate now; otherwise the first byte would trigger the check.
        await secured.handshake();
      } catch (thrown) {
        secured.close();
        throw thrown;
      }
      return secured;
    },
  };
}
