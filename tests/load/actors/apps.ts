/** Apps' requests besides tool calls: refresh, registration, discovery. */
import type { Client } from "../model/client.ts";
import type { Traffic } from "../model/traffic.ts";
import { organizationId, REDIRECT_URI } from "../world/seed.ts";

export const refresh = async (client: Client): Promise<void> => void await client.refresh();

export async function getContext(client: Client): Promise<void> {
  const envelope = await client.ok("get_context");
  const expected = organizationId(client.person.organization);
  if (envelope?.ok && envelope.context.organization.id !== expected) {
    client.problem(`get_context answered for ${envelope.context.organization.id}`);
  }
}

/** Dynamic client registration (RFC 7591). */
export async function register(traffic: Traffic): Promise<void> {
  const name = `App ${crypto.randomUUID().slice(0, 8)}`;
  const reply = await traffic.send({
    kind: "register",
    slug: "oauth",
    path: "/api/oauth/register",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ client_name: name, redirect_uris: [REDIRECT_URI], token_endpoint_auth_method: "none" }),
  });
  if (!reply) return;
  const told = JSON.parse(reply.text);
  if (reply.status !== 201 || told.client_name !== name || !told.client_id) {
    traffic.problem(`a registration was answered ${reply.status} ${reply.text.slice(0, 200)}`);
  }
}
