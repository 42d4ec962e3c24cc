/**
 * Bill providers on loopback: the embedded stack's fixture behind a real server, and a second server that must never be
 * called.
 */
import { createProvidersFixture } from "../../local/fixtures/providers/app.ts";
import { createGuardedFetch, type GuardedFetch, type Network } from "../../shared/net/guarded_fetch.ts";
import { createProviderGet } from "../../shared/providers/get.ts";
import type { Credential, Month, Provider, Statement } from "../../shared/providers/provider.ts";
import { ProviderError } from "../../shared/providers/provider_error.ts";

export interface Providers {
  /** Base URL of the fixture; each provider is below it, under its key. */
  url: string;
  bases: Record<string, string>;
  /** Reaches the fixture under any public name, and otherwise validates URLs as in production. */
  guardedFetch: GuardedFetch;
  /** Fetches a month; returns a provider failure and throws any other error. */
  ask(provider: Provider, question: Question): Promise<Statement | ProviderError>;
  /** Received requests: method, path and query, and the authorization. */
  requests: string[];
  /** The number of requests that reached the server that must get none. */
  strays(): number;
  close(): Promise<void>;
}

export interface Question {
  month: Month;
  credential: Credential;
  signal?: AbortSignal;
}

const PUBLIC = "93.184.216.34";

/** @param now the providers' clock. */
export function serveProviders(now: Date, keys: Iterable<string>): Providers {
  let strays = 0;
  const loopback = { hostname: "127.0.0.1", port: 0, onListen() {} };
  const canary = Deno.serve(loopback, () => new Response(String(++strays)));
  const fixture = createProvidersFixture({
    clock: () => now,
    elsewhere: `http://127.0.0.1:${canary.addr.port}`,
    slowMs: 30,
  });
  const requests: string[] = [];
  const server = Deno.serve({ ...loopback, onError: () => new Response(null, { status: 500 }) }, (request) => {
    const { pathname, search } = new URL(request.url);
    requests.push(`${request.method} ${pathname}${search}`);
    return fixture.fetch(request);
  });
  const url = `http://127.0.0.1:${server.addr.port}`;
  const bases = Object.fromEntries([...keys].map((key) => [key, `${url}/${key}`]));
  const guardedFetch = createGuardedFetch({
    network: networkTo(server.addr.port),
    fetch: () => Promise.reject(new Error("unexpected fetch")),
    refusedHosts: [],
  });

  return {
    url,
    bases,
    guardedFetch,
    requests,
    strays: () => strays,
    async ask(provider, { month, credential, signal = AbortSignal.timeout(5000) }) {
      const get = createProviderGet({ provider, bases, fetch, guardedFetch, clock: () => now, signal });
      try {
        return await provider.fetchMonth({ month, credential, get });
      } catch (thrown) {
        if (thrown instanceof ProviderError) return thrown;
        throw thrown;
      }
    },
    async close() {
      // Does not wait for hanging responses.
      await Promise.all([
        canary.shutdown(),
        Promise.race([server.shutdown(), new Promise((done) => setTimeout(done, 50))]),
      ]);
    },
  };
}

/** A public name with a valid certificate that resolves to loopback. */
const networkTo = (port: number): Network => ({
  resolve: (_name, type) => Promise.resolve(type === "A" ? [PUBLIC] : []),
  connect: () => Deno.connect({ hostname: "127.0.0.1", port }),
  startTls: (connection) => Promise.resolve(connection),
});
