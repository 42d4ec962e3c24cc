/** The guide's Caddy, which gets its certificate from another Caddy that acts as an ACME server. */
import { freePort } from "../_support/free_port.ts";
import { whenInterrupted } from "../_support/interrupt.ts";
import { waitFor } from "../_support/wait_for.ts";

export interface Acme {
  /** PEM of the root certificate to trust, and its file. */
  root: string;
  rootPath: string;
  /** Lines for a Caddyfile's global options and for a site's block. */
  options: string;
  site: string;
  close(): Promise<void>;
}

const OPTIONS = "{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n\tdefault_bind 127.0.0.1\n}\n";

export async function startAcme(): Promise<Acme> {
  const folder = await Deno.makeTempDir({ prefix: "expense-acme-" });
  const port = freePort();
  await Deno.writeTextFile(
    `${folder}/Caddyfile`,
    `${OPTIONS}https://127.0.0.1:${port} {\n\ttls internal\n\tacme_server\n}\n`,
  );
  const end = startCaddy(folder);
  const root = `${folder}/caddy/pki/authorities/local/root.crt`;
  const pem = await waitFor(() => Deno.readTextFile(root).then((text) => text || undefined, () => undefined));
  return {
    root: pem,
    rootPath: root,
    options: OPTIONS,
    site: `tls {
		issuer acme {
			dir https://127.0.0.1:${port}/acme/local/directory
			trusted_roots ${root}
		}
	}`,
    async close() {
      await end();
      await Deno.remove(folder, { recursive: true });
    },
  };
}

/** @param folder with its Caddyfile and data. @returns a function that ends it. */
export function startCaddy(folder: string): () => Promise<void> {
  const caddy = new Deno.Command("caddy", {
    args: ["run", "--config", `${folder}/Caddyfile`, "--adapter", "caddyfile"],
    env: { XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdin: "null",
    stdout: "null",
    stderr: "null",
  }).spawn();
  const end = async () => {
    forget();
    caddy.kill("SIGTERM");
    await caddy.status;
  };
  const forget = whenInterrupted(end);
  return end;
}
