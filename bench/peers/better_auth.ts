/** better-auth as a peer: its packages, its server, and its codes. Source: bench/peers/better_auth/. */
import { createHash, randomBytes } from "node:crypto";
import type { Cluster } from "../../tests/_support/cluster.ts";
import { postgresDatabase } from "../../local/database/postgres.ts";
import { freePort } from "../../tests/_support/free_port.ts";
import type { CodeMaker, TokenEndpoint } from "../hops/loads.ts";
import { start, type Started } from "../measure/processes.ts";
import { Connection, requestBytes } from "../measure/raw_http.ts";

export const VERSION = "1.7.5";
const FOLDER = new URL("better_auth/", import.meta.url);
const AUTHORIZE = "/api/auth/oauth2/authorize";
export const REGISTER = "/api/auth/oauth2/register";
const TOKEN = "/api/auth/oauth2/token";
const REDIRECT_URI = "http://127.0.0.1:9/callback";
/** Fields that better-auth requires in a registration beyond RFC 7591. */
export const NATIVE = { application_type: "native" };

export interface Peer {
  server: Started;
  tokens: TokenEndpoint;
}

/** Installs its packages once, next to its source. No other part of the project needs them. */
export async function install(): Promise<void> {
  if (await Deno.stat(new URL("node_modules/better-auth", FOLDER)).catch(() => undefined)) return;
  const { success, stderr } = await new Deno.Command("npm", {
    args: ["ci", "--no-audit", "--no-fund", "--legacy-peer-deps"],
    cwd: FOLDER,
    stdin: "null",
  }).output();
  if (!success) throw new Error(`npm ci failed for better-auth:\n${new TextDecoder().decode(stderr)}`);
}

/**
 * Starts a server with its own database. @param introspects whether a tool call checks that its token is still active
 */
export async function startBetterAuth(cluster: Cluster, { introspects }: { introspects: boolean }): Promise<Peer> {
  const name = introspects ? "better_auth_introspect" : "better_auth";
  const admin = postgresDatabase(cluster.urlOf("supabase_admin", "postgres"), { max: 1 });
  await admin.exec(`create database ${name}`);
  await admin.close();
  const server = await start("node", ["server.mjs"], {
    cwd: FOLDER.pathname,
    env: {
      PORT: String(freePort()),
      DATABASE_URL: cluster.urlOf("supabase_admin", name),
      NODE_ENV: "production",
      ...(introspects && { CHECK: "introspect" }),
    },
  });
  const clientId = await register(server.port);
  const resource = `http://127.0.0.1:${server.port}/mcp`;
  const codes = await codesOf(server.port, { clientId, resource });
  return { server, tokens: { path: TOKEN, clientId, redirectUri: REDIRECT_URI, codes, fields: { resource } } };
}

async function register(port: number): Promise<string> {
  const connection = new Connection(port);
  const { status, body } = await connection.send(requestBytes({
    path: REGISTER,
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      client_name: "Benchmark",
      redirect_uris: [REDIRECT_URI],
      grant_types: ["authorization_code", "refresh_token"],
      response_types: ["code"],
      token_endpoint_auth_method: "none",
      ...NATIVE,
    }),
  }));
  connection.close();
  if (status > 201) throw new Error(`better-auth registers no client: ${status} ${body}`);
  return JSON.parse(body).client_id;
}

/** Signs a person up and gets codes as their browser would, through the authorization page and consent. */
async function codesOf(port: number, asked: { clientId: string; resource: string }): Promise<CodeMaker> {
  const connection = new Connection(port);
  const origin = `http://127.0.0.1:${port}`;
  const json = { "content-type": "application/json", origin };
  const { head } = await connection.send(requestBytes({
    path: "/api/auth/sign-up/email",
    headers: json,
    body: JSON.stringify({
      email: `person${Date.now()}@example.com`,
      password: "correct horse battery",
      name: "Person",
    }),
  }));
  const cookie = [...head.matchAll(/^set-cookie: ([^;\r]+)/gim)].map(([, one]) => one).join("; ");

  const one = async () => {
    const verifier = randomBytes(32).toString("base64url");
    const query = new URLSearchParams({
      response_type: "code",
      client_id: asked.clientId,
      redirect_uri: REDIRECT_URI,
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      code_challenge_method: "S256",
      state: randomBytes(8).toString("hex"),
      scope: "openid offline_access",
      resource: asked.resource,
    });
    const page = await connection.send(
      requestBytes({ method: "GET", path: `${AUTHORIZE}?${query}`, headers: { cookie, accept: "text/html" } }),
    );
    let location = /^location: (.+)\r$/im.exec(page.head)?.[1] ?? "";
    if (location.includes("/consent?")) {
      const decided = await connection.send(requestBytes({
        path: "/api/auth/oauth2/consent",
        headers: { ...json, cookie },
        body: JSON.stringify({ accept: true, oauth_query: location.slice(location.indexOf("?") + 1) }),
      }));
      const answer = JSON.parse(decided.body);
      location = answer.redirect_uri ?? answer.url ?? answer.uri ?? "";
    }
    const code = URL.canParse(location) && new URL(location).searchParams.get("code");
    if (!code) throw new Error(`better-auth issues no code: ${page.status} ${location} ${page.body.slice(0, 200)}`);
    return { code, verifier };
  };
  return async (count) => {
    const codes = [];
    for (let made = 0; made < count; made++) codes.push(await one());
    return codes;
  };
}
