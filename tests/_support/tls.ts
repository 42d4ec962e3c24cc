/** A private certificate authority, and a loopback server with one of its certificates and scripted answers. */
import forge from "node-forge";

export interface Issuer {
  /** PEM of the root certificate to trust. */
  certificate: string;
  /** A certificate for a name, and its key; PEM. */
  issue(name: string): { cert: string; key: string };
}

export function createIssuer(): Issuer {
  const keys = forge.pki.rsa.generateKeyPair(2048);
  const subject = [{ name: "commonName", value: "Test issuer" }];
  const own = newCertificate({ subject, publicKey: keys.publicKey, issuer: subject, issuerKey: keys.privateKey }, [
    { name: "basicConstraints", cA: true, critical: true },
    { name: "keyUsage", keyCertSign: true, critical: true },
  ]);
  return {
    certificate: own,
    issue(name) {
      const { publicKey, privateKey } = forge.pki.rsa.generateKeyPair(2048);
      const cert = newCertificate(
        { subject: [{ name: "commonName", value: name }], publicKey, issuer: subject, issuerKey: keys.privateKey },
        [{ name: "basicConstraints", cA: false }, { name: "subjectAltName", altNames: [{ type: 2, value: name }] }],
      );
      return { cert, key: forge.pki.privateKeyToPem(privateKey) };
    },
  };
}

// deno-lint-ignore no-explicit-any -- the library has no types
type Untyped = any;

function newCertificate(
  { subject, publicKey, issuer, issuerKey }: Record<"subject" | "publicKey" | "issuer" | "issuerKey", Untyped>,
  extensions: Untyped[],
): string {
  const certificate = forge.pki.createCertificate();
  certificate.publicKey = publicKey;
  certificate.serialNumber = "01" + forge.util.bytesToHex(forge.random.getBytesSync(15));
  certificate.validity.notBefore = new Date(Date.now() - 3600_000);
  certificate.validity.notAfter = new Date(Date.now() + 3600_000);
  certificate.setSubject(subject);
  certificate.setIssuer(issuer);
  certificate.setExtensions(extensions);
  certificate.sign(issuerKey, forge.md.sha256.create());
  return forge.pki.certificateToPem(certificate);
}

export interface TlsServer {
  port: number;
  /** The head of each request. */
  requests: string[];
  /** Accepted connections, including failed ones. */
  connections(): number;
  close(): Promise<void>;
}

/** @param answer writes any bytes after each request; the connection closes when it returns. */
export function serveTls(
  certificate: { cert: string; key: string },
  answer: (connection: Deno.TlsConn) => Promise<void>,
): TlsServer {
  const listener = Deno.listenTls({ hostname: "127.0.0.1", port: 0, ...certificate });
  const requests: string[] = [];
  const open = new Set<Promise<void>>();
  let connections = 0;

  const converse = async (connection: Deno.TlsConn) => {
    try {
      let head = "";
      const buffer = new Uint8Array(1024);
      while (!head.includes("\r\n\r\n")) {
        const length = await connection.read(buffer);
        if (length === null) return;
        head += new TextDecoder().decode(buffer.subarray(0, length));
      }
      requests.push(head);
      await answer(connection);
      await connection.closeWrite();
    } catch {
      // The peer rejected the certificate or closed the connection.
    } finally {
      close(connection);
    }
  };
  const accepting = (async () => {
    for await (const connection of listener) {
      connections += 1;
      const conversation = converse(connection).finally(() => open.delete(conversation));
      open.add(conversation);
    }
  })();
  return {
    port: listener.addr.port,
    requests,
    connections: () => connections,
    async close() {
      listener.close();
      await accepting;
      await Promise.all(open);
    },
  };
}

function close(connection: Deno.TlsConn): void {
  try {
    connection.close();
  } catch {
    // The scripted answer closed the connection.
  }
}
