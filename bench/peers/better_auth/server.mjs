/**
 * better-auth with its MCP plugin on PostgreSQL, for Node. A tool call verifies its JWT access token by key; with
 * CHECK=introspect, it also asks whether the token is still active, as our connector does. The tool adds two numbers.
 * Requires PORT and DATABASE_URL; writes its port to standard output.
 */
import { createMcpProtectedRequestHandler, mcp, requireMcpAuth } from "@better-auth/mcp";
import { oauthProviderAuthServerMetadata } from "@better-auth/oauth-provider";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js";
import { betterAuth } from "better-auth";
import { getMigrations } from "better-auth/db/migration";
import { toNodeHandler } from "better-auth/node";
import { jwt } from "better-auth/plugins";
import { createServer } from "node:http";
import process from "node:process";
import pg from "pg";
import * as z from "zod";

const PASSWORD = "correct horse battery";
const port = Number(process.env.PORT);
const base = `http://127.0.0.1:${port}`;
const auth = betterAuth({
  baseURL: base,
  secret: "only-for-benchmarks-only-for-benchmarks",
  database: new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 }),
  emailAndPassword: { enabled: true },
  rateLimit: { enabled: false },
  telemetry: { enabled: false },
  logger: { level: "error" },
  trustedOrigins: [base],
  plugins: [
    jwt(),
    mcp({
      loginPage: "/login",
      consentPage: "/consent",
      resource: `${base}/mcp`,
      scopes: ["openid", "profile", "email", "offline_access"],
      allowDynamicClientRegistration: true,
      allowUnauthenticatedClientRegistration: true,
      refreshTokenReuseInterval: 0,
    }),
  ],
});
const { runMigrations } = await getMigrations(auth.options);
await runMigrations();

const SHAPE = { a: z.number(), b: z.number() };
async function callTool(request) {
  const server = new McpServer({ name: "peer", version: "1.0.0" });
  server.registerTool("add", { description: "Adds", inputSchema: SHAPE }, ({ a, b }) => ({
    content: [{ type: "text", text: String(a + b) }],
  }));
  const transport = new WebStandardStreamableHTTPServerTransport({
    sessionIdGenerator: undefined,
    enableJsonResponse: true,
  });
  await server.connect(transport);
  return await transport.handleRequest(request);
}

/** A client that may introspect tokens. */
async function introspecting() {
  const { headers } = await auth.api.signUpEmail({
    body: { email: `server${Date.now()}@example.com`, password: PASSWORD, name: "Server" },
    returnHeaders: true,
  });
  const cookie = headers.getSetCookie().map((one) => one.split(";")[0]).join("; ");
  const { client_id, client_secret } = await auth.api.adminCreateOAuthClient({
    headers: new Headers({ cookie }),
    body: {
      client_name: "Server",
      redirect_uris: ["http://127.0.0.1:9/server"],
      application_type: "native",
      token_endpoint_auth_method: "client_secret_post",
      grant_types: ["authorization_code"],
      response_types: ["code"],
    },
  });
  return createMcpProtectedRequestHandler({
    issuer: `${base}/api/auth`,
    audience: `${base}/mcp`,
    jwksUrl: `${base}/api/auth/jwks`,
    remoteVerify: {
      introspectUrl: `${base}/api/auth/oauth2/introspect`,
      clientId: client_id,
      clientSecret: client_secret,
      force: true,
    },
  }, callTool);
}

const tools = toNodeHandler(
  process.env.CHECK === "introspect"
    ? await introspecting()
    : requireMcpAuth(auth, callTool, { resource: `${base}/mcp` }),
);
const metadata = toNodeHandler(oauthProviderAuthServerMetadata(auth));
const others = toNodeHandler(auth);
createServer((request, response) => {
  const path = request.url.split("?")[0];
  if (path === "/mcp") return tools(request, response);
  if (path.startsWith("/.well-known/oauth-authorization-server")) return metadata(request, response);
  return others(request, response);
}).listen(port, "127.0.0.1", () => process.stdout.write(`${port}\n`));
