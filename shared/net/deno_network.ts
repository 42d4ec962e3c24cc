/** The network as Deno has it: what guarded_fetch.ts is given everywhere but in tests. The only file of this folder that reaches outside. */
import type { Connection, Network } from "./guarded_fetch.ts";

/** @param options.caCerts issuers (PEM) to trust besides the well-known ones. */
export function createDenoNetwork({ caCerts }: { caCerts?: string[] } = {}): Network {
  return {
    async resolve(name, type) {
      try {
        // The final dot keeps the resolver from trying the name under the search domains of this machine.
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
        // The certificate is judged here; without this, at the first byte.
        await secured.handshake();
      } catch (thrown) {
        secured.close();
        throw thrown;
      }
      return secured;
    },
  };
}
