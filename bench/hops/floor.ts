/**
 * The floor of every operation: the hops of the service without its logic (Deno, postgrest-js, the stand-in, one
 * statement). Tools go through the SDK's handler, webhooks through WebCrypto. Requires SUPABASE_URL.
 */
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server";
import { PostgrestClient } from "@supabase/postgrest-js";
import { createHash, randomBytes } from "node:crypto";
import { Buffer } from "node:buffer";
import * as z from "zod";
import { WEBHOOK_SECRET } from "../secrets.ts";

const database = new PostgrestClient(`${Deno.env.get("SUPABASE_URL")}/rest/v1`, { headers: { apikey: "sb_secret_x" } });
async function call(name: string, args: Record<string, unknown>) {
  const { data, error } = await database.rpc(name, args);
  if (error) throw new Error(error.message);
  return data;
}

const hash = (text: string) => createHash("sha256").update(text).digest("hex");
const secret = () => randomBytes(32).toString("base64url");
const refused = () => Response.json({ error: "invalid_grant" }, { status: 400 });

const NO_ARGUMENTS = z.object({});
const handler = createMcpHandler(({ authInfo }) => {
  const server = new McpServer({ name: "floor", version: "1.0.0" });
  server.registerTool("get_context", { description: "Who is calling", inputSchema: NO_ARGUMENTS }, () => ({
    content: [{ type: "text", text: JSON.stringify(authInfo!.extra) }],
  }));
  return server;
});

async function callTool(request: Request): Promise<Response> {
  const token = request.headers.get("authorization")?.slice("Bearer ".length) ?? "";
  const person = await call("floor_call", { token_hash: hash(token) });
  if (!person) return new Response(null, { status: 401, headers: { "www-authenticate": "Bearer" } });
  return await handler.fetch(request, { authInfo: { token, clientId: "floor", scopes: [], extra: person } });
}

async function register(request: Request): Promise<Response> {
  const sent = await request.json();
  const { client_id } = await call("floor_register", { name: sent.client_name, redirect_uris: sent.redirect_uris });
  return Response.json({ ...sent, client_id }, { status: 201 });
}

async function token(request: Request): Promise<Response> {
  const form = new URLSearchParams(await request.text());
  const [access, refresh] = [secret(), secret()];
  const hashes = { access_hash: hash(access), refresh_hash: hash(refresh) };
  const issued = form.get("grant_type") === "refresh_token"
    ? await call("floor_refresh", { token_hash: hash(form.get("refresh_token")!), ...hashes })
    : await call("floor_exchange", {
      code_hash: hash(form.get("code")!),
      challenge: createHash("sha256").update(form.get("code_verifier")!).digest("base64url"),
      ...hashes,
    });
  if (!issued) return refused();
  return Response.json({ access_token: access, token_type: "Bearer", refresh_token: refresh, ...issued });
}

const key = await crypto.subtle.importKey(
  "raw",
  new TextEncoder().encode(WEBHOOK_SECRET),
  { name: "HMAC", hash: "SHA-256" },
  false,
  ["verify"],
);
async function webhook(request: Request): Promise<Response> {
  const body = await request.arrayBuffer();
  const signature = Buffer.from(request.headers.get("x-payment-signature") ?? "", "hex");
  if (!await crypto.subtle.verify("HMAC", key, signature, body)) return new Response(null, { status: 401 });
  const id = Buffer.from(await crypto.subtle.digest("SHA-256", body)).toString("hex");
  return Response.json(await call("floor_event", { id, payload: JSON.parse(new TextDecoder().decode(body)) }));
}

const ENDPOINTS: Record<string, (request: Request) => Promise<Response>> = {
  "/api/mcp": callTool,
  "/api/oauth/register": register,
  "/api/oauth/token": token,
  "/api/payment/webhook": webhook,
};

Deno.serve(async (request) =>
  await ENDPOINTS[new URL(request.url).pathname]?.(request) ?? new Response(null, { status: 404 })
);
